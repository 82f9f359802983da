// SPDX-License-Identifier: Apache-2.0
// Events that arrive while their table grows: a service that cannot take a stall. `seph` grows by small splits, with a thread of its own for the
// rest; `dlht` moves all entries to a larger array. For each the program prints inserts in 10 ms: the mean, and the fewest.
#include <cubby/dlht.hpp>
#include <cubby/map.hpp>
#include <cubby/seph.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::uint64_t threads = 2;
constexpr std::uint64_t events_of_a_thread = 250'000;

struct event {
  std::uint64_t when = 0;
  std::uint64_t who = 0;
};

/// Inserts of one thread in each 10 ms.
using windows = std::vector<std::uint64_t>;

template <class Table> windows take_events(Table& events, std::uint64_t first, steady_clock::time_point start) {
  windows seen;
  for (std::uint64_t id = first; id < first + events_of_a_thread; ++id) {
    events.insert(id, event{id * 2, id % 1000});
    const auto window = static_cast<std::size_t>((steady_clock::now() - start) / milliseconds(10));
    if (seen.size() <= window) seen.resize(window + 1);
    ++seen[window];
  }
  return seen;
}

/// The windows in which all threads were at work, but for the first and the last.
windows sum_of(const std::vector<windows>& all) {
  std::size_t last = all[0].size();
  for (const windows& one : all) last = std::min(last, one.size());
  windows sum;
  for (std::size_t i = 1; i + 1 < last; ++i) {
    sum.push_back(0);
    for (const windows& one : all) sum.back() += one[i];
  }
  return sum;
}

/// Whether the table has all events at the end.
template <class Table> bool run(const char* name) {
  typename Table::options_type o;
  o.growth = cubby::growth_policy::background;
  Table events(o);
  std::vector<windows> seen(threads);
  std::vector<std::thread> all;
  const auto start = steady_clock::now();
  for (std::uint64_t t = 0; t < threads; ++t)
    all.emplace_back([&, t] { seen[t] = take_events(events, t * events_of_a_thread, start); });
  for (std::thread& one : all) one.join();

  const windows sum = sum_of(seen);
  std::uint64_t total = 0;
  for (const std::uint64_t one : sum) total += one;
  if (sum.empty()) std::printf("%s: too fast to tell\n", name);
  else
    std::printf("%s: %llu inserts in 10 ms, the fewest %llu; it has grown %llu times\n", name,
                static_cast<unsigned long long>(total / sum.size()),
                static_cast<unsigned long long>(*std::min_element(sum.begin(), sum.end())),
                static_cast<unsigned long long>(events.stats().growths));

  std::uint64_t right = 0;
  for (std::uint64_t id = 0; id < threads * events_of_a_thread; ++id)
    events.visit(id, [&](const event& e) { right += e.when == id * 2 ? 1 : 0; });
  return right == threads * events_of_a_thread && events.size() == right;
}

} // namespace

int main() {
  const bool even = run<cubby::map<std::uint64_t, event, cubby::seph>>("seph");
  const bool other = run<cubby::map<std::uint64_t, event, cubby::dlht>>("dlht");
  return even && other ? 0 : 1;
}
