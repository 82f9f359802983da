// SPDX-License-Identifier: Apache-2.0
// How many prefetches a processor takes at a time. Some lines of a large region are asked for, one right behind the other. A microsecond
// later each of them is read, and each read waits for the one before. A prefetch that was dropped shows as a read that waits for memory.
//   bench_prefetches [MiB [rounds]]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cubby/map.hpp>

#include "rounds.hpp"

namespace {

using word = std::uint64_t;
using clock_type = std::chrono::steady_clock;
constexpr std::size_t most = 64;
constexpr unsigned groups_of_a_round = 20000;

struct lines {
  explicit lines(std::size_t bytes) : memory(cubby::detail::memory::allocate(bytes)), count(bytes / 64) {
    if (memory.address == nullptr || count == 0) {
      std::fputs("bench_prefetches: no memory for that many MiB; ask for 1 or more that the machine has\n", stderr);
      std::exit(2);
    }
    for (std::size_t at = 0; at < bytes; at += 4096) *reinterpret_cast<word*>(memory.address + at) = 0;
  }
  ~lines() { cubby::detail::memory::release(memory); }
  lines(const lines&) = delete;
  lines& operator=(const lines&) = delete;
  [[nodiscard]] const word* at_random(word& number) const {
    number += 0x9e3779b97f4a7c15;
    const word line = cubby::detail::cpu::multiply(cubby::mix(number), count).high;
    return reinterpret_cast<const word*>(memory.address) + line * 8;
  }
  cubby::detail::memory::region memory;
  std::uint64_t count;
};

double ns_between(clock_type::time_point begin, clock_type::time_point end) {
  return std::chrono::duration<double, std::nano>(end - begin).count();
}
/// Reads one line after the other: where the next one is read depends on what the last one has, which is 0. In ns.
double read_all(const word* const* asked, std::size_t count, word& last) {
  const auto begin = clock_type::now();
  word seen = last;
  for (std::size_t i = 0; i < count; ++i) seen = asked[i][seen];
  last = seen;
  asm volatile("" : : "r"(seen) : "memory");
  return ns_between(begin, clock_type::now());
}
/// ns of a read, of groups of so many lines. `ask`: whether they are prefetched.
double ns_of_a_read(const lines& in, std::size_t group, bool ask, word& number) {
  const word* asked[most];
  word last = 0;
  double sum = 0;
  for (unsigned n = 0; n < groups_of_a_round; ++n) {
    for (std::size_t i = 0; i < group; ++i) {
      asked[i] = in.at_random(number);
      if (ask) cubby::detail::prefetch_line(asked[i]);
    }
    for (const auto begin = clock_type::now(); ns_between(begin, clock_type::now()) < 1000;) {
    }
    sum += read_all(asked, group, last) - read_all(asked, 0, last); // without the clock
  }
  return sum / static_cast<double>(group) / groups_of_a_round;
}

} // namespace

int main(int count, char** words) {
  const word mebibytes = bench::number(count, words, 1, 800);
  const lines in(mebibytes << 20);
  const word turns = bench::number(count, words, 2, 5);
  const std::vector<std::size_t> groups{4, 8, 16, 20, 24, 28, 32, 48, 64};
  std::vector<bench::rounds> reads(groups.size());
  bench::rounds without;
  word number = 1;
  for (word turn = 0; turn < turns; ++turn) {
    without.add(ns_of_a_read(in, 16, false, number));
    for (std::size_t i = 0; i < groups.size(); ++i) reads[i].add(ns_of_a_read(in, groups[i], true, number));
  }
  double least = reads[0].median();
  for (const bench::rounds& one : reads) least = std::min(least, one.median());
  std::printf("%llu MiB, one thread, medians of %llu rounds; reads a microsecond after their prefetches\n",
              static_cast<unsigned long long>(mebibytes), static_cast<unsigned long long>(turns));
  std::printf("prefetches together   ns a read    +-   %% not there\n");
  for (std::size_t i = 0; i < groups.size(); ++i)
    std::printf("%19zu %11.1f %4.0f%% %12.1f\n", groups[i], reads[i].median(), reads[i].spread(),
                100 * (reads[i].median() - least) / (without.median() - least));
  std::printf("%19s %11.1f %4.0f%%\n", "none", without.median(), without.spread());
}
