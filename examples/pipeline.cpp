// SPDX-License-Identifier: Apache-2.0
// Requests that are answered later, in any order, each with its caller's tag. Events are counted by their key. Then every key
// is looked up; the tag is its index in a list. Then keys come and go: requests of one key that are pending together may overtake each
// other, so an erase is submitted when its insert has been answered. No call waits for memory.
#include <cubby/dramhit.hpp>
#include <cubby/map.hpp>
#include <cubby/pipeline.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <span>
#include <vector>

namespace {

using counts = cubby::map<std::uint64_t, std::uint64_t, cubby::dramhit>;

constexpr std::uint64_t keys = 20000;
constexpr std::uint64_t events_of_each = 3;

/// Answers come to a function ...
void count_events(counts& all) {
  auto here = all.handle();
  auto pending = here.pipeline([](const counts::reply_type& r) {
    if (r.result != cubby::outcome::done) std::puts("no space for a key");
  });
  for (std::uint64_t n = 0; n < keys * events_of_each; ++n) pending.insert_or_add(n % keys, 1, n);
  pending.drain();
}

/// ... or into the caller's own space, as many as fit.
std::vector<std::uint64_t> look_up(counts& all, const std::vector<counts::request_type>& asked) {
  std::vector<std::uint64_t> found(asked.size(), 0);
  std::array<counts::reply_type, 64> replies;
  auto here = all.handle();
  auto pending = here.pipeline();
  const auto keep = [&](std::size_t answered) {
    for (std::size_t i = 0; i < answered; ++i) found[replies[i].tag] = replies[i].value.value_or(0);
  };
  for (std::span<const counts::request_type> rest = asked; !rest.empty();) {
    const auto [taken, answered] = pending.submit(rest, replies);
    keep(answered);
    rest = rest.subspan(taken);
  }
  while (pending.pending() != 0) keep(pending.drain(replies));
  return found;
}

/// Inserts each key, and erases it when `most` younger ones are there; how many erases have met their entry.
std::uint64_t pass_through(counts& all, std::uint64_t first, std::uint64_t last, std::size_t most) {
  std::deque<std::uint64_t> inserted; // their inserts have been answered
  std::uint64_t erased = 0;
  constexpr std::uint64_t erase_bit = std::uint64_t{1} << 63; // of a tag; the rest is the key
  auto here = all.handle();
  auto pending = here.pipeline([&](const counts::reply_type& r) {
    if ((r.tag & erase_bit) == 0) inserted.push_back(r.tag);
    else if (r.result == cubby::outcome::done) ++erased;
  });
  const auto erase_down_to = [&](std::size_t left) {
    for (; inserted.size() > left; inserted.pop_front()) {
      const std::uint64_t oldest = inserted.front();
      pending.erase(oldest, oldest | erase_bit);
    }
  };
  for (std::uint64_t k = first; k < last; ++k) {
    pending.insert(k, 1, k);
    erase_down_to(most);
  }
  pending.drain(); // the last inserts are answered
  erase_down_to(0);
  pending.drain();
  return erased;
}

} // namespace

int main() {
  counts all;
  count_events(all);
  std::vector<counts::request_type> asked;
  for (std::uint64_t k = 0; k < 2 * keys; ++k) asked.push_back({cubby::verb::find, k, 0, asked.size()});
  std::uint64_t there = 0;
  std::uint64_t sum = 0;
  for (const std::uint64_t n : look_up(all, asked)) {
    there += n != 0 ? 1 : 0;
    sum += n;
  }
  std::printf("%llu of %zu keys were there, with %llu events\n", static_cast<unsigned long long>(there), asked.size(),
              static_cast<unsigned long long>(sum));
  const std::uint64_t gone = pass_through(all, keys, 4 * keys, 100);
  std::printf("%llu keys came and went, and %zu are left\n", static_cast<unsigned long long>(gone), all.size());
  return there == keys && sum == keys * events_of_each && gone == 3 * keys && all.size() == keys ? 0 : 1;
}
