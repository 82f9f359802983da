// SPDX-License-Identifier: Apache-2.0
// What growth costs. One thread fills a map from empty, one key at a time. The program prints how full the map was, and
// how many bytes an entry took, just before each growth. It also prints the mean over the whole population, and how
// long inserts took.
//   bench_growth [keys] [move_bins] [bins_per_link]
#include <cubby/map.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;

// Resident bytes of this process, from the kernel.
double resident() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  long all = 0;
  long here = 0;
  if (file == nullptr || std::fscanf(file, "%ld %ld", &all, &here) != 2) std::abort();
  std::fclose(file);
  return static_cast<double>(here) * 4096;
}

std::uint64_t number(int count, char** words, int at, std::uint64_t otherwise) {
  return count > at ? std::strtoull(words[at], nullptr, 10) : otherwise;
}

struct memory_log {
  double base = 0;
  double sum = 0;
  std::uint64_t looks = 0;
  std::uint64_t growths = 0;
  cubby::table_stats before{};
  double bytes_before = 0;

  void look(const cubby::table_stats& now, std::uint64_t keys) {
    const double bytes = resident() - base;
    sum += bytes / static_cast<double>(keys);
    ++looks;
    if (now.growths != growths && before.size != 0) {
      std::printf("growth at %9zu keys: %4.1f %% of the slots in use, %4.1f resident bytes an entry\n", before.size,
                  100.0 * static_cast<double>(before.size) / static_cast<double>(before.capacity),
                  bytes_before / static_cast<double>(before.size));
    }
    growths = now.growths;
    if (now.migrating) return;
    before = now;
    bytes_before = bytes;
  }
};

} // namespace

int main(int count, char** words) {
  const std::uint64_t keys = number(count, words, 1, 50'000'000);
  cubby::dlht::options chosen;
  chosen.move_bins = number(count, words, 2, chosen.move_bins);
  chosen.bins_per_link = static_cast<std::uint32_t>(number(count, words, 3, chosen.bins_per_link));
  std::vector<std::uint32_t> times(keys, 1);
  cubby::map<std::uint64_t, std::uint64_t> map(chosen);
  auto handle = map.handle();
  memory_log log;
  log.base = resident();
  for (std::uint64_t key = 0; key < keys; ++key) {
    const auto begin = clock_type::now();
    handle.insert(key, key);
    times[key] = static_cast<std::uint32_t>((clock_type::now() - begin).count());
    if (key >= 1'000'000 && key % 65536 == 0) log.look(map.stats(), key);
  }
  std::sort(times.begin(), times.end());
  const auto at = [&](double part) { return times[static_cast<std::size_t>(part * static_cast<double>(keys - 1))]; };
  std::printf("insert, ns: p50 %u, p99 %u, p99.9 %u, p99.99 %u, longest %u\n", at(0.5), at(0.99), at(0.999), at(0.9999),
              times.back());
  if (log.looks != 0) {
    std::printf("mean resident bytes an entry from 1 M keys on: %.1f\n", log.sum / static_cast<double>(log.looks));
  }
  return map.size() == keys ? 0 : 1;
}
