// SPDX-License-Identifier: Apache-2.0
// Writes to a table that is rebuilt again and again. Each thread inserts a key and erases its oldest one, so that the dead
// crowd the array while the number of entries stays. How long a rebuild lasts, and what writes do at rest and meanwhile,
// by who moves the entries (`growth`), and how many lines each write moves (`move_bins`). Threads are bound to cores; the
// ways take turns in every round. Windows of 0.1 s, over all threads, show how even the rate is.
//   bench_rebuilds [entries] [threads] [milliseconds] [rounds] [lines a write moves] [one] [full]
// [lines a write moves]: measures that table alone; 0: all. `one`: one call after the other, as most callers make them; otherwise the
// lines of 32 pairs are prefetched. `full`: the measure begins with a table that is three quarters full, so it includes the growth.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>

#include <cubby/dramhit.hpp>
#include <cubby/map.hpp>

#include "clock.hpp"
#include "histogram.hpp"
#include "rounds.hpp"

namespace {

namespace dramhit = cubby::detail::engines::dramhit;
using codec = cubby::detail::codec<std::uint64_t, std::uint64_t, cubby::hash<std::uint64_t>, std::allocator<std::byte>>;
using table = dramhit::table<codec>;
using cubby::detail::arrays::first_array, cubby::detail::arrays::next_array;

struct plan {
  std::uint64_t entries = 1'000'000;
  unsigned threads = 2;
  double seconds = 2;
  unsigned rounds = 3;
  std::uint64_t lines = 0; // of the one table that is measured, or 0
  bool one_by_one = false;
  bool from_full = false;
};
constexpr std::uint64_t pairs_at_a_time = 32; // whose lines are asked for ahead; one of them is timed by itself
constexpr double window = 0.1;

/// What one thread, or all of them, did in one of the table's two states.
struct tally {
  bench::histogram ticks;
  double seconds = 0;
  double longest = 0; // of as many writes as are made at a time
  std::uint64_t writes = 0;
  void merge(const tally& other) {
    ticks.merge(other.ticks);
    seconds += other.seconds;
    longest = std::max(longest, other.longest);
    writes += other.writes;
  }
};
struct outcome {
  tally at_rest, moving;
  std::uint64_t rebuilds = 0;
  double slowest = 0; // of the windows, as a share of their mean
  double slow = 0;    // percent of them below a third of the mean
  void note(const std::vector<double>& rates) {
    const double mean = std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size());
    slowest = *std::min_element(rates.begin(), rates.end()) / mean;
    const auto below = std::count_if(rates.begin(), rates.end(), [mean](double r) { return r < mean / 3; });
    slow = 100 * static_cast<double>(below) / static_cast<double>(rates.size());
  }
};
/// What one thread has written so far; read by the thread that looks at windows.
struct alignas(64) progress {
  std::atomic<std::uint64_t> writes{0};
};

void must(bool done) {
  if (!done) std::abort();
}
std::uint64_t rebuilds_of(const table& t) {
  return t.rebuilds.load(cubby::detail::sync::relaxed); // relaxed: a statistic
}
std::uint64_t growths_of(const table& t) {
  return t.growths.load(cubby::detail::sync::relaxed); // relaxed: a statistic
}
/// Looks now and then until nothing moves, so that a turn has whole rebuilds alone.
void wait_for_rest(const table& t) {
  for (;; bench::rest(1e-4)) {
    const cubby::detail::thread_pin inside(*cubby::detail::registry::local());
    if (next_array(*first_array(t)) == nullptr) return;
  }
}

/// One thread's keys, of which it keeps so many alive.
class churn {
public:
  churn(table& t, unsigned number, const plan& p, progress& so_far)
      : so_far_(so_far), one_by_one_(p.one_by_one), from_full_(p.from_full), table_(t),
        thread_record_(*cubby::detail::registry::local()), first_(number), step_(p.threads),
        live_(p.entries / p.threads) {
    const cubby::detail::thread_pin inside(thread_record_);
    for (; next_ < live_; ++next_) insert();
  }

  void run(bench::course& way, outcome& out) {
    // The first move is a growth, because so full a table is crowded by the living; the measure begins behind it, at rest.
    while (!from_full_ && (growths_of(table_) == 0 || is_moving())) (void)write_some();
    way.start();
    for (double from = bench::seconds_now(); !way.over();) {
      const cubby::detail::thread_pin inside(thread_record_);
      const auto* const before = first_array(table_);
      const times timed = write_some();
      const bool moved = first_array(table_) != before || next_array(*before) != nullptr;
      const double to = bench::seconds_now();
      tally& into = moved ? out.moving : out.at_rest;
      into.ticks.add(timed.insert);
      into.ticks.add(timed.erase);
      into.seconds += to - from;
      into.longest = std::max(into.longest, to - from);
      into.writes += pairs_at_a_time * 2;
      so_far_.writes.store(so_far_.writes.load(std::memory_order_relaxed) + pairs_at_a_time * 2,
                           std::memory_order_relaxed);
      from = to;
    }
  }

private:
  [[nodiscard]] bool is_moving() const {
    const cubby::detail::thread_pin inside(thread_record_);
    return next_array(*first_array(table_)) != nullptr;
  }
  struct times {
    std::uint64_t insert, erase;
  };
  /// Pairs of an insert and an erase; the ticks of one in the middle.
  times write_some() {
    const cubby::detail::thread_pin inside(thread_record_);
    for (std::uint64_t i = next_; i < next_ + pairs_at_a_time && !one_by_one_; ++i) {
      dramhit::prefetch_home(table_, probe_of(i));
      dramhit::prefetch_home(table_, probe_of(i - live_));
    }
    times out{};
    for (std::uint64_t i = 0; i < pairs_at_a_time; ++i, ++next_) {
      const bool timed = i == pairs_at_a_time / 2;
      const std::uint64_t begin = timed ? bench::ticks_before() : 0;
      insert();
      const std::uint64_t middle = timed ? bench::ticks_after() : 0;
      erase();
      if (timed) out = {middle - begin, bench::ticks_after() - middle};
    }
    return out;
  }
  [[nodiscard]] cubby::detail::word_probe probe_of(std::uint64_t i) const {
    return table_.policy.probe_of(i * step_ + first_ + dramhit::reserved_words);
  }
  void insert() { must(dramhit::insert(table_, thread_record_, probe_of(next_), next_) == cubby::outcome::inserted); }
  void erase() {
    const auto always = [](std::uint64_t) { return cubby::detail::decision{cubby::action::erase, 0}; };
    must(dramhit::mutate(table_, thread_record_, probe_of(next_ - live_), always).found);
  }

  progress& so_far_;
  bool one_by_one_;
  bool from_full_;
  table& table_;
  cubby::detail::thread_record& thread_record_;
  std::uint64_t first_;
  std::uint64_t step_;
  std::uint64_t live_;
  std::uint64_t next_ = 0;
};

/// Looks at what all threads have written, a window at a time, until the time is over; in writes a second.
std::vector<double> watch(const std::vector<progress>& all, double seconds) {
  const auto written = [&all] {
    std::uint64_t sum = 0;
    for (const progress& one : all) sum += one.writes.load(std::memory_order_relaxed);
    return sum;
  };
  std::vector<double> out;
  double from = bench::seconds_now();
  std::uint64_t before = written();
  for (const double end = from + seconds; from < end;) {
    bench::rest(window);
    const double to = bench::seconds_now();
    const std::uint64_t after = written();
    out.push_back(static_cast<double>(after - before) / (to - from));
    from = to;
    before = after;
  }
  return out;
}

/// A new table whose entries move as `chosen` has it.
outcome turn(const plan& p, cubby::dramhit::options chosen) {
  chosen.capacity = p.entries;
  table t(chosen, codec({}, {}, 0));
  must(dramhit::open(t));
  std::vector<std::unique_ptr<outcome>> all(p.threads);
  std::vector<progress> written(p.threads);
  std::vector<double> windows;
  std::uint64_t before = 0;
  (void)bench::beside(
      p.threads,
      [&](unsigned number, bench::course& way) {
        all[number] = std::make_unique<outcome>();
        churn mine(t, number, p, written[number]);
        mine.run(way, *all[number]);
      },
      [&] {
        before = rebuilds_of(t);
        windows = watch(written, p.seconds);
        wait_for_rest(t);
      });
  outcome sum = *all[0];
  for (std::size_t i = 1; i < all.size(); ++i) {
    sum.at_rest.merge(all[i]->at_rest);
    sum.moving.merge(all[i]->moving);
  }
  sum.rebuilds = rebuilds_of(t) - before;
  sum.note(windows);
  dramhit::close(t);
  return sum;
}

/// Figures of one state, one a round.
struct figures {
  bench::rounds mops, p50, p99, p999, longest;
  void add(const tally& t, unsigned threads) {
    const auto at = [&](double share) {
      return static_cast<double>(t.ticks.at_share(share)) * bench::nanoseconds_per_tick();
    };
    mops.add(t.seconds > 0 ? static_cast<double>(t.writes) * threads / t.seconds * 1e-6 : 0);
    p50.add(at(0.5));
    p99.add(at(0.99));
    p999.add(at(0.999));
    longest.add(t.longest * 1e6);
  }
  void print(const char* state) const {
    std::printf("  %-8s %10.2f %5.0f%% %8.0f %8.0f %8.0f %11.0f\n", state, mops.median(), mops.spread(), p50.median(),
                p99.median(), p999.median(), longest.median());
  }
};

struct measured_table {
  measured_table(const char* called, cubby::growth_policy growth, std::size_t share) : name(called) {
    chosen.growth = growth;
    chosen.move_bins = share;
  }
  const char* name;
  cubby::dramhit::options chosen;
  figures at_rest, moving;
  bench::rounds whole, lasting, part, slowest, slow;

  void add(const outcome& o, unsigned threads) {
    at_rest.add(o.at_rest, threads);
    moving.add(o.moving, threads);
    const double seconds = o.at_rest.seconds + o.moving.seconds;
    whole.add(static_cast<double>(o.at_rest.writes + o.moving.writes) * threads / seconds * 1e-6);
    part.add(o.moving.seconds / seconds * 100);
    slowest.add(o.slowest);
    slow.add(o.slow);
    if (o.rebuilds != 0) lasting.add(o.moving.seconds / threads / static_cast<double>(o.rebuilds) * 1e3);
  }
  void print() const {
    std::printf("%s: %.2f Mwrites/s in all (+-%.0f%%); a rebuild lasts %.0f ms, %.0f %% of the time\n", name,
                whole.median(), whole.spread(), lasting.median(), part.median());
    std::printf("  slowest window %.2f of the mean; %.0f %% of the windows below a third of it\n", slowest.median(),
                slow.median());
    at_rest.print("at rest");
    moving.print("moving");
  }
};

} // namespace

int main(int count, char** words) {
  plan p;
  p.entries = bench::number(count, words, 1, p.entries);
  p.threads = static_cast<unsigned>(bench::number(count, words, 2, p.threads));
  p.seconds = static_cast<double>(bench::number(count, words, 3, 2000)) * 1e-3;
  p.rounds = static_cast<unsigned>(bench::number(count, words, 4, p.rounds));
  p.lines = bench::number(count, words, 5, 0);
  p.one_by_one = bench::says(count, words, "one");
  p.from_full = bench::says(count, words, "full");
  if (p.threads == 0 || p.rounds == 0 || p.entries / p.threads < pairs_at_a_time || !(p.seconds > 0)) return 2;
  using growth = cubby::growth_policy;
  measured_table measured_tables[] = {{"incremental, 2 lines a write", growth::incremental, 2},
                                      {"incremental, 1 line", growth::incremental, 1},
                                      {"incremental, 8 lines", growth::incremental, 8},
                                      {"background", growth::background, 0},
                                      {"cooperative", growth::cooperative, 0}};
  for (unsigned round = 0; round < p.rounds; ++round)
    for (measured_table& s : measured_tables)
      if (p.lines == 0 || s.chosen.move_bins == p.lines) s.add(turn(p, s.chosen), p.threads);
  std::printf("%u threads, %zu entries; nanoseconds of a write and two looks at the clock; longest: microseconds of 64 "
              "writes\n  %-8s %10s %6s %8s %8s %8s %11s\n",
              p.threads, static_cast<std::size_t>(p.entries), "", "Mwrites/s", "+-", "p50", "p99", "p99.9", "longest");
  for (const measured_table& s : measured_tables)
    if (p.lines == 0 || s.chosen.move_bins == p.lines) s.print();
  return 0;
}
