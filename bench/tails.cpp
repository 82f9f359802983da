// SPDX-License-Identifier: Apache-2.0
// The time of single lookups at rest, in the smaller and in the larger table, beside a thread that computes and touches no
// table, and beside one that resizes without pause. Readers and that thread are bound to cores in turn. With as many
// readers as cores it shares the first reader's core. What the tail then shows beside the computing thread is the
// scheduler. Maps are resized through their public API, the rivals by hand; turns in every round.
//   bench_tails [readers] [milliseconds] [rounds] [entries]
#include <bit>
#include <cstdio>
#include <memory>

#include <cubby/relativistic.hpp>

#include "clock.hpp"
#include "histogram.hpp"
#include "numbers.hpp"
#include "resizes.hpp"
#include "rounds.hpp"

namespace {

struct plan {
  unsigned readers = 1;
  double seconds = 0.5;
  unsigned rounds = 5;
  std::uint64_t entries = 65536;
};

template <class Table> class chained {
public:
  chained(std::uint64_t entries, unsigned) : buckets_(std::bit_ceil(entries)), table_(buckets_, entries) {}
  struct reader : bench::filled<Table>::reader {
    explicit reader(chained& t) : bench::filled<Table>::reader(t.table_) {}
  };
  void resize(bool larger) { table_.resize(larger ? buckets_ * 2 : buckets_); }

private:
  std::uint64_t buckets_;
  bench::filled<Table> table_;
};

enum class company { none, computing, resizing };

/// What a thread does for so long that needs a core and nothing else.
void compute(double seconds) {
  std::uint64_t state = 1;
  bench::repeat(seconds, [&state] {
    for (int i = 0; i < 1000; ++i) state = cubby::mix(state);
  });
  if (state == 0) std::abort(); // the value is used
}

/// One turn: every lookup of every reader; how often the table was resized goes to `times`.
template <class Table> bench::histogram turn(const plan& p, Table& table, company with, std::uint64_t& times) {
  std::vector<std::unique_ptr<bench::histogram>> all(p.readers);
  for (auto& one : all) one = std::make_unique<bench::histogram>();
  bench::beside(
      p.readers,
      [&](unsigned number, bench::course& way) {
        typename Table::reader reader(table);
        bench::random_numbers random(number + 1, p.entries);
        bench::histogram& mine = *all[number];
        for (way.start(); !way.over();) {
          const std::uint64_t key = random.next();
          std::uint64_t value = ~key;
          const std::uint64_t begin = bench::ticks_before();
          const bool found = reader.find(key, value);
          mine.add(bench::ticks_after() - begin);
          if (!found || value != key) std::abort();
        }
      },
      [&] {
        if (with == company::none) bench::rest(p.seconds);
        else if (with == company::computing) compute(p.seconds);
        else times = bench::repeat(p.seconds, [&, i = 0]() mutable { table.resize(i++ % 2 == 0); });
      });
  for (std::size_t r = 1; r < all.size(); ++r) all[0]->merge(*all[r]);
  return *all[0];
}

/// Percentiles in nanoseconds, one figure a round.
struct percentiles {
  bench::rounds p50, p99, p999, p9999, longest;
  void add(const bench::histogram& h) {
    const double tick = bench::nanoseconds_per_tick();
    const auto at = [&](double share) { return static_cast<double>(h.at_share(share)) * tick; };
    p50.add(at(0.5));
    p99.add(at(0.99));
    p999.add(at(0.999));
    p9999.add(at(0.9999));
    longest.add(static_cast<double>(h.longest()) * tick);
  }
  void print(const char* state) const {
    std::printf("  %-22s %7.0f %7.0f %8.0f %9.0f %4.0f%% %12.0f\n", state, p50.median(), p99.median(), p999.median(),
                p9999.median(), p9999.spread(), longest.median());
  }
};

struct measured_table {
  explicit measured_table(const char* called) : name(called) {}
  const char* name;
  percentiles smaller, larger, computing, resized;
  bench::rounds resizes;

  void print() const {
    std::printf("%s, %.0f resizes/s\n", name, resizes.median());
    smaller.print("at rest");
    larger.print("at rest, twice as large");
    computing.print("beside computing");
    resized.print("resized");
    const double at_rest = std::max(smaller.p9999.median(), larger.p9999.median());
    std::printf("  p99.99 resized over at rest %.2f, over beside computing %.2f\n", resized.p9999.median() / at_rest,
                resized.p9999.median() / computing.p9999.median());
  }
};

template <class Table> void take_turns(const plan& p, measured_table& s) {
  Table table(p.entries, 1);
  std::uint64_t times = 0;
  s.smaller.add(turn(p, table, company::none, times));
  s.computing.add(turn(p, table, company::computing, times));
  s.resized.add(turn(p, table, company::resizing, times));
  s.resizes.add(static_cast<double>(times) / p.seconds);
  table.resize(true);
  s.larger.add(turn(p, table, company::none, times));
}

} // namespace

int main(int count, char** words) {
  plan p;
  p.readers = static_cast<unsigned>(bench::number(count, words, 1, p.readers));
  p.seconds = static_cast<double>(bench::number(count, words, 2, 500)) * 1e-3;
  p.rounds = static_cast<unsigned>(bench::number(count, words, 3, p.rounds));
  p.entries = bench::number(count, words, 4, p.entries);
  if (p.readers == 0 || p.rounds == 0 || p.entries < 64 || p.entries >> 32 != 0 || !(p.seconds > 0)) return 2;
  measured_table measured_tables[] = {measured_table("relativistic"), measured_table("dlht"), measured_table("ddds"),
                                      measured_table("rwlock")};
  for (unsigned round = 0; round < p.rounds; ++round) {
    take_turns<bench::numbers<cubby::relativistic>>(p, measured_tables[0]);
    take_turns<bench::numbers<cubby::dlht>>(p, measured_tables[1]);
    take_turns<chained<bench::ddds_table>>(p, measured_tables[2]);
    take_turns<chained<bench::rwlock_table>>(p, measured_tables[3]);
  }
  std::printf(
      "%u readers, %zu entries; nanoseconds of a lookup and two looks at the clock\n%-24s %7s %7s %8s %9s %5s %12s\n",
      p.readers, static_cast<std::size_t>(p.entries), "", "p50", "p99", "p99.9", "p99.99", "+-", "longest");
  for (const measured_table& s : measured_tables) s.print();
  return 0;
}
