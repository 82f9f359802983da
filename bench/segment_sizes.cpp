// SPDX-License-Identifier: Apache-2.0
// How full a `seph` table is while it grows, by the size of its segments, and what fuller tables cost. One thread inserts words. The share of the slots
// in use is noted whenever a hundredth more of the entries is there, from 100,000 entries on. Then the same keys are looked up.
//   bench_segment_sizes [entries [rounds]]
#include <cubby/map.hpp>
#include <cubby/seph.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "clock.hpp"
#include "histogram.hpp"
#include "rounds.hpp"

namespace {

using word = std::uint64_t;
using map = cubby::map<word, word, cubby::seph>;
constexpr unsigned least_bits = 4;
constexpr unsigned most_bits = 9;
constexpr word noted_from = 100'000;

struct figures {
  bench::rounds least, mean, most, insert, p999, find, splits;
};

void must(bool done) {
  if (!done) std::abort();
}

/// The share of its slots that a growing table uses: at its least, in the mean, and at its most, in percent.
class shares {
public:
  void note(double percent) {
    least_ = std::min(least_, percent);
    most_ = std::max(most_, percent);
    sum_ += percent;
    ++count_;
  }
  void add_to(figures& out) const {
    out.least.add(least_);
    out.mean.add(sum_ / static_cast<double>(count_));
    out.most.add(most_);
  }

private:
  double least_ = 100, most_ = 0, sum_ = 0;
  word count_ = 0;
};

word key_of(word number, word round) { return cubby::mix(number + (round << 40)); }

void take_turn(unsigned bits, word entries, word round, figures& out) {
  map m(cubby::seph::options{{}, {.segment_bits = bits}});
  shares used;
  bench::histogram times;
  double next = static_cast<double>(noted_from);
  double seconds = 0;
  for (word i = 0; i < entries; ++i) {
    const word before = bench::ticks_before();
    must(static_cast<bool>(m.insert(key_of(i, round), i)));
    const word took = bench::ticks_after() - before;
    times.add(took);
    seconds += static_cast<double>(took) * bench::nanoseconds_per_tick() * 1e-9;
    if (static_cast<double>(i + 1) < next) continue;
    used.note(100 * static_cast<double>(m.size()) / static_cast<double>(m.capacity()));
    next *= 1.01;
  }
  used.add_to(out);
  const auto count = static_cast<double>(entries);
  out.insert.add(count / seconds * 1e-6);
  out.p999.add(static_cast<double>(times.at_share(0.999)) * bench::nanoseconds_per_tick() * 1e-3);
  out.splits.add(static_cast<double>(m.stats().moved) / count);
  const double begin = bench::seconds_now();
  for (word i = 0; i < entries; ++i) must(m.contains(key_of(i * 7 % entries, round)));
  out.find.add(count / (bench::seconds_now() - begin) * 1e-6);
}

} // namespace

int main(int count, char** words) {
  const word entries = bench::number(count, words, 1, 4'000'000);
  const word rounds = bench::number(count, words, 2, 3);
  if (entries < 2 * noted_from || entries % 7 == 0 || rounds == 0) {
    std::fprintf(stderr, "usage: bench_segment_sizes [entries, 200,000 or more and no multiple of 7 [rounds]]\n");
    return 2;
  }
  figures all[most_bits + 1];
  for (word round = 0; round < rounds; ++round)
    for (unsigned bits = least_bits; bits <= most_bits; ++bits) take_turn(bits, entries, round, all[bits]);
  std::printf("%llu words, one thread, medians of %llu rounds; percent of the slots in use while it grows; Mops/s, "
              "those of inserts with two looks at "
              "the clock\nsegment_bits   least    mean    most  insert   p99.9 us    find  moves an insert\n",
              static_cast<unsigned long long>(entries), static_cast<unsigned long long>(rounds));
  for (unsigned bits = least_bits; bits <= most_bits; ++bits) {
    const figures& f = all[bits];
    std::printf("%12u %7.1f %7.1f %7.1f %7.2f %10.1f %7.2f %16.2f\n", bits, f.least.median(), f.mean.median(),
                f.most.median(), f.insert.median(), f.p999.median(), f.find.median(), f.splits.median());
  }
  return 0;
}
