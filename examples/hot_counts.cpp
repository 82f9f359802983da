// SPDX-License-Identifier: Apache-2.0
// Many threads count the same few hot keys. Each thread owns a share of the map's partitions and sends the counts of other
// partitions to their owners. So a counter's cache line stays in one core. Answers are not needed until all have flushed.
#include <cubby/delegated_map.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

namespace {

using counts = cubby::delegated_map<std::uint32_t, std::uint64_t>;

constexpr std::size_t threads = 4;
constexpr std::uint32_t events = 200000; // of each thread

/// Half of all events are one of four, the others are spread.
std::uint32_t event(std::uint32_t n) {
  const std::uint32_t mixed = n * 2654435761U;
  return mixed % 2 == 0 ? mixed >> 30 : mixed >> 16;
}

void count(counts& all, std::size_t me) {
  auto h = all.handle();
  for (std::size_t part = me; part < h.partitions(); part += threads) h.own(part);
  for (std::uint32_t n = 0; n < events; ++n) {
    if (h.insert_or_add(event(n), 1) == cubby::outcome::full) return; // only of a `fixed` map
  }
  if (!h.flush()) std::puts("no memory for all of it");
} // others go on: a thread that waits for this thread's partitions serves them itself

} // namespace

int main() {
  counts all;
  std::vector<std::thread> running;
  for (std::size_t i = 0; i < threads; ++i) running.emplace_back(count, std::ref(all), i);
  for (auto& t : running) t.join();
  std::uint64_t sum = 0;
  all.visit_all([&](std::uint32_t, std::uint64_t n) { sum += n; });
  std::printf("%zu kinds of events; number 0 came %llu times\n", all.size(),
              static_cast<unsigned long long>(all.find(0).value_or(0)));
  return sum == std::uint64_t{threads} * events ? 0 : 1;
}
