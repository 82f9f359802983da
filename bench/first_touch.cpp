// SPDX-License-Identifier: Apache-2.0
// What the machine charges for fresh memory: the time of the first write to each huge page of a mapping, which bounds
// from below the longest insert of any table that grows.
//   bench_first_touch [gigabytes]
#include <cubby/map.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int count, char** words) {
  const std::size_t gigabytes = count > 1 ? std::strtoull(words[1], nullptr, 10) : 4;
  const cubby::detail::memory::region pages = cubby::detail::memory::allocate(gigabytes << 30);
  if (pages.bytes == 0) {
    std::fprintf(stderr, "bench_first_touch: no memory for %zu GB; ask for less\n", gigabytes);
    return 2;
  }
  std::vector<double> times;
  for (std::size_t at = 0; at < pages.bytes; at += cubby::detail::memory::huge_page) {
    const auto begin = std::chrono::steady_clock::now();
    *reinterpret_cast<volatile char*>(pages.address + at) = 1;
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  std::printf("first write to a huge page, ms: median %.3f, p99 %.3f, longest %.3f\n", times[times.size() / 2],
              times[times.size() * 99 / 100], times.back());
  return 0;
}
