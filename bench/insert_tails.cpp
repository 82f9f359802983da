// SPDX-License-Identifier: Apache-2.0
// The slowest inserts while a table grows by itself: of `iceberg`, beside the same inserts into a table that was made for them, of `seph`, and of
// `dlht`. Beside them, what the machine does to any program: the first touch of each huge page of as much memory, and the longest time
// between two looks at the clock. All by the same number of threads, each bound to a core, in turns. `window`: the inserts in the worst
// 10 ms over the mean. `p99.99 of interrupts`: of a program that only looks at the clock, as if it had made
// as many looks in the time of these inserts.
//   bench_insert_tails [entries] [threads] [rounds]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <vector>

#include <malloc.h>

#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>
#include <cubby/seph.hpp>

#include "clock.hpp"
#include "histogram.hpp"
#include "rounds.hpp"

namespace {

using word = std::uint64_t;
using cubby::growth_policy;
template <class Engine> using map = cubby::map<word, word, Engine>;

struct plan {
  word entries = 50'000'000;
  unsigned threads = 2;
  word rounds = 3;
};

word key_of(word number) { return cubby::mix(number); }
void must(bool done) {
  if (!done) std::abort();
}

/// One histogram a thread.
class histograms {
public:
  explicit histograms(unsigned threads) {
    for (unsigned t = 0; t < threads; ++t) all_.push_back(std::make_unique<bench::histogram>());
  }
  bench::histogram& operator[](unsigned thread) { return *all_[thread]; }
  const bench::histogram& sum() {
    for (std::size_t t = 1; t < all_.size(); ++t) all_[0]->merge(*all_[t]);
    all_.resize(1);
    return *all_[0];
  }

private:
  std::vector<std::unique_ptr<bench::histogram>> all_;
};

/// How many inserts ended in each 10 ms, of one thread or of all.
class windows {
public:
  void add(double seconds) {
    const auto at = static_cast<std::size_t>(seconds * 100);
    if (at >= counts_.size()) counts_.resize(at + 1);
    ++counts_[at];
  }
  void merge(const windows& other) {
    if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size());
    for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
  }
  /// The worst window over the mean, without the first and the last one.
  double worst() const {
    if (counts_.size() < 3) return 1;
    const auto first = counts_.begin() + 1;
    const auto last = counts_.end() - 1;
    const double sum = static_cast<double>(std::accumulate(first, last, word{0}));
    return static_cast<double>(*std::min_element(first, last)) * static_cast<double>(last - first) / sum;
  }

private:
  std::vector<word> counts_;
};

/// What one way did, one figure a round; times in nanoseconds.
struct figures {
  bench::rounds mops, p50, p99, p999, p9999, longest, window, interrupts;
  double longest_of_all = 0;
  double seconds_inside = 0; // inserts of the last round, of each thread
  /// One in 10,000 of the inserts of the last round is interrupted for as long as that, if `looks` are what a thread sees in `seconds`.
  void add_interrupts(const bench::histogram& looks, double seconds, word entries) {
    const double longer = static_cast<double>(entries) * 1e-4 * seconds / seconds_inside;
    const double share = 1 - longer / static_cast<double>(looks.total());
    interrupts.add(static_cast<double>(looks.at_share(share)) * bench::nanoseconds_per_tick());
  }
  void add(const bench::histogram& h, double seconds) {
    const auto at = [&](double share) {
      return static_cast<double>(h.at_share(share)) * bench::nanoseconds_per_tick();
    };
    mops.add(static_cast<double>(h.total()) / seconds * 1e-6);
    p50.add(at(0.5));
    p99.add(at(0.99));
    p999.add(at(0.999));
    p9999.add(at(0.9999));
    longest.add(at(1));
    longest_of_all = std::max(longest_of_all, static_cast<double>(h.longest()) * bench::nanoseconds_per_tick());
  }
  void print(const char* name) const {
    std::printf("%-24s %7.2f %4.0f%% %7.0f %8.0f %9.0f %10.0f %4.0f%% %10.2f %10.2f", name, mops.median(),
                mops.spread(), p50.median(), p99.median(), p999.median(), p9999.median(), p9999.spread(),
                longest.median() * 1e-6, longest_of_all * 1e-6);
    if (window.count() == 0) std::printf("\n");
    else std::printf(" %7.2f\n", window.median());
  }
};

/// All inserts into one table. Returns the bytes of the table at the end. First glibc joins the freed records of the table before: else it
/// would do so within an insert, at the first request of 1 KiB, and stop that thread for a second.
template <class Engine> std::size_t insert_all(const plan& p, cubby::options o, figures& out) {
  ::malloc_trim(0);
  map<Engine> m(o);
  histograms times(p.threads);
  std::vector<windows> counts(p.threads);
  std::vector<word> inside(p.threads);
  const double tick = bench::nanoseconds_per_tick() * 1e-9; // measured by its first call
  const double begin = bench::seconds_now();
  const double seconds = bench::together(p.threads, [&](unsigned t) {
    auto h = m.handle();
    bench::histogram& mine = times[t];
    const double ahead = bench::seconds_now() - begin;
    const word start = bench::ticks_after();
    for (word i = p.entries * t / p.threads; i < p.entries * (t + 1) / p.threads; ++i) {
      const word before = bench::ticks_before();
      const bool done = h.insert(key_of(i), i);
      const word after = bench::ticks_after();
      mine.add(after - before);
      inside[t] += after - before;
      counts[t].add(ahead + static_cast<double>(after - start) * tick);
      must(done);
    }
  });
  out.add(times.sum(), seconds);
  out.seconds_inside = static_cast<double>(std::accumulate(inside.begin(), inside.end(), word{0})) * tick / p.threads;
  for (unsigned t = 1; t < p.threads; ++t) counts[0].merge(counts[t]);
  out.window.add(counts[0].worst());
  const auto end = m.stats();
  must(end.size == p.entries && (end.growths != 0) == (o.capacity == 0));
  for (word i = 0; i < p.entries; i += 97) must(m.find(key_of(i)) == i);
  return end.bytes;
}

/// The first write to each huge page of a mapping.
void touch(const plan& p, std::size_t bytes, figures& out) {
  namespace memory = cubby::detail::memory;
  memory::region pages = memory::allocate(bytes);
  must(pages.address != nullptr);
  histograms times(p.threads);
  const double seconds = bench::together(p.threads, [&](unsigned t) {
    for (std::size_t at = t * memory::huge_page; at < pages.bytes; at += p.threads * memory::huge_page) {
      const word before = bench::ticks_before();
      *reinterpret_cast<volatile char*>(pages.address + at) = 1;
      times[t].add(bench::ticks_after() - before);
    }
  });
  out.add(times.sum(), seconds);
  memory::release(pages);
}

/// Looks at the clock without pause.
void look(const plan& p, double seconds, figures& out, const std::vector<figures*>& others) {
  histograms times(p.threads);
  (void)bench::together(p.threads, [&](unsigned t) {
    const double end = bench::seconds_now() + seconds;
    for (word before = bench::ticks_before(); bench::seconds_now() < end;) {
      const word now = bench::ticks_after();
      times[t].add(now - before);
      before = now;
    }
  });
  out.add(times.sum(), seconds);
  for (figures* const one : others) one->add_interrupts(times.sum(), seconds, p.entries);
}

struct all_figures {
  figures looked, touched, with_space, grown, in_background, seph, seph_in_background, dlht;

  void take_turns(const plan& p) {
    const std::size_t bytes =
        insert_all<cubby::iceberg>(p, {.capacity = 0, .growth = growth_policy::incremental}, grown);
    touch(p, bytes, touched);
    insert_all<cubby::iceberg>(p, {.capacity = p.entries, .growth = growth_policy::incremental}, with_space);
    touch(p, bytes, touched);
    insert_all<cubby::iceberg>(p, {.capacity = 0, .growth = growth_policy::background}, in_background);
    insert_all<cubby::seph>(p, {.capacity = 0, .growth = growth_policy::incremental}, seph);
    insert_all<cubby::seph>(p, {.capacity = 0, .growth = growth_policy::background}, seph_in_background);
    insert_all<cubby::dlht>(p, {.capacity = 0, .growth = growth_policy::incremental}, dlht);
    look(p, 3, looked, {&with_space, &grown, &in_background, &seph, &seph_in_background, &dlht});
  }
  void print() const {
    looked.print("two looks at the clock");
    touched.print("first touch of a page");
    with_space.print("iceberg, space for all");
    grown.print("iceberg, it grows");
    in_background.print("the same, background");
    seph.print("seph, it grows");
    seph_in_background.print("the same, background");
    dlht.print("dlht, it grows");
    const auto compare = [this](const char* name, const figures& f) {
      std::printf("%s: p99.99 over that with space %.2f; longest of all over the longest first touch of all %.2f; "
                  "p99.99 of interrupts %.0f\n",
                  name, f.p9999.median() / with_space.p9999.median(), f.longest_of_all / touched.longest_of_all,
                  f.interrupts.median());
    };
    compare("iceberg grows", grown);
    compare("background", in_background);
    compare("space for all", with_space);
    compare("seph grows", seph);
    compare("background", seph_in_background);
    compare("dlht grows", dlht);
  }
};

} // namespace

int main(int count, char** words) {
  plan p;
  p.entries = bench::number(count, words, 1, p.entries);
  p.threads = static_cast<unsigned>(bench::number(count, words, 2, p.threads));
  p.rounds = bench::number(count, words, 3, p.rounds);
  if (p.entries < 100'000 || p.threads == 0 || p.rounds == 0) {
    std::fprintf(stderr, "bench_insert_tails: give 100000 entries or more, a thread and a round\n");
    return 2;
  }
  all_figures all;
  for (word round = 0; round < p.rounds; ++round) all.take_turns(p);
  std::printf("%zu entries, %u threads, medians of %zu rounds; nanoseconds with two looks at the clock; longest: ms\n"
              "%-24s %7s %5s %7s %8s %9s %10s %5s %10s %10s %7s\n",
              static_cast<std::size_t>(p.entries), p.threads, static_cast<std::size_t>(p.rounds), "", "Mops/s", "+-",
              "p50", "p99", "p99.9", "p99.99", "+-", "longest", "of all", "window");
  all.print();
  return 0;
}
