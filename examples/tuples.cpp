// SPDX-License-Identifier: Apache-2.0
// Keys of two words and values of three words that lie in the table itself, without a record: the traffic between senders and receivers.
// Several threads count packets; each sees and changes whole values.
#include <cubby/dramhit_tuples.hpp>
#include <cubby/map.hpp>

#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

// 16 bytes without padding: equal keys have equal bytes, so the default hash and comparison will do.
struct flow {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint16_t from_port = 0;
  std::uint16_t to_port = 0;
  std::uint32_t protocol = 0;
};
struct traffic {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  std::uint64_t largest = 0;
};

constexpr std::uint32_t flows = 1000;
constexpr unsigned rounds = 20;

flow flow_of(std::uint32_t n) { return {n, n + 1, 443, static_cast<std::uint16_t>(n), 6}; }

} // namespace

int main() {
  cubby::map<flow, traffic, cubby::dramhit_tuples> seen;
  static_assert(decltype(seen)::mode == cubby::storage_mode::tuples);

  // Four threads see the same packets. The function may run again when another thread was faster, so it only computes.
  auto work = [&seen] {
    auto h = seen.handle();
    for (unsigned round = 1; round <= rounds; ++round) {
      for (std::uint32_t n = 0; n < flows; ++n) {
        const std::uint64_t size = 40 + n % 7 + round;
        const auto more = [size](const traffic& t) {
          return traffic{t.packets + 1, t.bytes + size, size > t.largest ? size : t.largest};
        };
        h.insert_or_update(flow_of(n), more, traffic{1, size, size});
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) threads.emplace_back(work);
  for (auto& t : threads) t.join();

  std::uint64_t packets = 0;
  seen.visit_all([&](const flow&, const traffic& t) { packets += t.packets; });
  const auto one = seen.find(flow_of(8));
  std::printf("%zu flows, %llu packets\n", seen.size(), static_cast<unsigned long long>(packets));
  const std::uint64_t expected = 4 * rounds * (40 + 8 % 7) + 4 * (rounds * (rounds + 1) / 2);
  return seen.size() == flows && packets == 4ull * rounds * flows && one && one->packets == 4 * rounds &&
                 one->bytes == expected && one->largest == 40 + 8 % 7 + rounds
             ? 0
             : 1;
}
