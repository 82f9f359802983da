// SPDX-License-Identifier: Apache-2.0
// What it takes to fill a table of so many slots nearly full. `iceberg` is asked one key a call and in batches, with a bound, and without
// one but with a mark at which it would grow. libcuckoo has space for all slots and no bound. None of them grows. Same hash, 8-byte keys and
// values, huge pages; the ways take turns in every round. `fresh`: a new table, with the time to make it; its pages are touched for the first
// time. `again`: the same table, emptied by `clear`, which is not timed; so its pages are there.
//   bench_fills [slots] [percent] [threads] [rounds]
#include <cstdio>
#include <cstdlib>
#include <span>

#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>
#include <libcuckoo/cuckoohash_map.hh>

#include "arena.hpp"
#include "clock.hpp"
#include "keys.hpp"
#include "rounds.hpp"

namespace {

using word = std::uint64_t;
constexpr std::size_t in_call = 32;

struct plan {
  word slots = word{1} << 26;
  word percent = 95;
  unsigned threads = 2;
  word rounds = 3;
  [[nodiscard]] word entries() const { return slots * percent / 100; }
};

word key_of(word number) { return cubby::mix(number); }
void must(bool done) {
  if (!done) std::abort();
}

/// A bound of 965 entries in 1000 slots, for which `fixed` tables are made.
cubby::iceberg::options with_bound(const plan& p) {
  return {{.capacity = p.slots / 1000 * 965, .growth = cubby::growth_policy::fixed}, {}};
}
cubby::iceberg::options with_mark(const plan& p) { return {{.capacity = p.slots / 100 * 97}, {.grow_at = 97}}; }

template <cubby::iceberg::options (*Options)(const plan&)> class iceberg_table {
public:
  using map = cubby::map<word, word, cubby::iceberg, bench::key_hash<word>>;
  explicit iceberg_table(const plan& p) : map_(Options(p)) {}
  void insert(word first, word last) {
    auto h = map_.handle();
    for (word i = first; i < last; ++i) must(h.insert(key_of(i), i));
  }
  [[nodiscard]] bool has(word number) const { return map_.find(key_of(number)) == number; }
  void clear() { map_.clear(); }
  [[nodiscard]] word size() const { return map_.size(); }
  [[nodiscard]] word slots() const { return map_.capacity(); }

protected:
  map map_;
};

template <cubby::iceberg::options (*Options)(const plan&)> class iceberg_in_batches : public iceberg_table<Options> {
public:
  using iceberg_table<Options>::iceberg_table;
  void insert(word first, word last) {
    auto h = this->map_.handle();
    word keys[in_call], values[in_call];
    cubby::outcome results[in_call];
    for (word i = first; i < last; i += in_call) {
      const std::size_t n = last - i < in_call ? last - i : in_call;
      for (std::size_t k = 0; k < n; ++k) keys[k] = key_of(values[k] = i + k);
      must(h.insert_batch(std::span(keys).first(n), std::span(values).first(n), results) == n);
    }
  }
};

class cuckoo_table {
public:
  explicit cuckoo_table(const plan& p) : map_(p.slots) {}
  ~cuckoo_table() = default;
  cuckoo_table(const cuckoo_table&) = delete;
  cuckoo_table& operator=(const cuckoo_table&) = delete;
  void insert(word first, word last) {
    for (word i = first; i < last; ++i) must(map_.insert(key_of(i), i));
  }
  [[nodiscard]] bool has(word number) const {
    word value = 0;
    return map_.find(key_of(number), value) && value == number;
  }
  void clear() { map_.clear(); }
  [[nodiscard]] word size() const { return map_.size(); }
  [[nodiscard]] word slots() const { return map_.capacity(); }

private:
  static constexpr auto arena_index = static_cast<std::size_t>(bench::engine_id::cuckoo);
  libcuckoo::cuckoohash_map<word, word, bench::key_hash<word>, std::equal_to<word>,
                            bench::arena_allocator<std::pair<const word, word>, arena_index>>
      map_;
};

/// The parts of a fill, in percent of the slots.
constexpr word bounds[] = {0, 50, 85, 100};
constexpr std::size_t parts = std::size(bounds) - 1;

struct fill_figures {
  bench::rounds all, part[parts];
  void print(const char* way, const char* pages) const {
    std::printf("%-33s %-6s %8.2f %4.0f%%", way, pages, all.median(), all.spread());
    for (const bench::rounds& r : part) std::printf(" %8.2f %4.0f%%", r.median(), r.spread());
    std::printf("\n");
  }
};

struct way_figures {
  const char* name;
  fill_figures fresh{}, again{};
  double bytes = 0, huge = 0, slots = 0;
};

/// Fills an empty table, part after part; `making`: seconds that it took to make it.
template <class Table> void fill(const plan& p, Table& table, double making, fill_figures& out) {
  double seconds = making;
  for (std::size_t i = 0; i < parts; ++i) {
    const word from = std::min(p.entries(), p.slots * bounds[i] / 100);
    const word to = std::min(p.entries(), p.slots * bounds[i + 1] / 100);
    const double part = bench::together(p.threads, [&](unsigned t) {
      table.insert(from + (to - from) * t / p.threads, from + (to - from) * (t + 1) / p.threads);
    });
    seconds += part;
    out.part[i].add(static_cast<double>(to - from) / part * 1e-6);
  }
  out.all.add(static_cast<double>(p.entries()) / seconds * 1e-6);
  must(table.size() == p.entries());
  for (word i = 0; i < p.entries(); i += 97) must(table.has(i));
  must(!table.has(p.entries()));
}

template <class Table> void take_turn(const plan& p, way_figures& out) {
  const bench::resident before = bench::resident_now();
  const double begin = bench::seconds_now();
  Table table(p);
  const double made = bench::seconds_now() - begin;
  out.slots = static_cast<double>(table.slots());
  fill(p, table, made, out.fresh);
  const bench::resident now = bench::resident_now();
  out.bytes = static_cast<double>(now.bytes - before.bytes) / static_cast<double>(p.entries());
  out.huge =
      100 * static_cast<double>(now.huge_bytes - before.huge_bytes) / static_cast<double>(now.bytes - before.bytes);
  table.clear();
  must(table.size() == 0);
  fill(p, table, 0, out.again);
  must(static_cast<double>(table.slots()) == out.slots); // it has not grown
}

} // namespace

int main(int count, char** words) {
  plan p;
  p.slots = bench::number(count, words, 1, p.slots);
  p.percent = bench::number(count, words, 2, p.percent);
  p.threads = static_cast<unsigned>(bench::number(count, words, 3, p.threads));
  p.rounds = bench::number(count, words, 4, p.rounds);
  if (p.slots < 65536 || p.percent <= 85 || p.percent > 96 || p.threads == 0 || p.rounds == 0) {
    std::fprintf(stderr, "bench_fills: give 65536 slots or more, 86 to 96 percent, a thread and a round\n");
    return 2;
  }
  way_figures cuckoo{"libcuckoo"}, single{"iceberg, one key a call"}, batch{"iceberg, batches of 32"};
  way_figures free_single{"iceberg, no bound, one key a call"}, free_batch{"iceberg, no bound, batches of 32"};
  for (word round = 0; round < p.rounds; ++round) {
    take_turn<cuckoo_table>(p, cuckoo);
    take_turn<iceberg_table<with_bound>>(p, single);
    take_turn<iceberg_in_batches<with_bound>>(p, batch);
    take_turn<iceberg_table<with_mark>>(p, free_single);
    take_turn<iceberg_in_batches<with_mark>>(p, free_batch);
  }
  std::printf(
      "%zu entries, %u threads, million inserts a second, median of %zu rounds\n%-33s %-6s %8s %5s %14s %14s %14s\n",
      static_cast<std::size_t>(p.entries()), p.threads, static_cast<std::size_t>(p.rounds), "", "pages", "all", "+-",
      "to 50 %", "to 85 %", "to the end");
  const way_figures* const ways[] = {&cuckoo, &single, &batch, &free_single, &free_batch};
  for (const way_figures* w : ways) w->fresh.print(w->name, "fresh");
  for (const way_figures* w : ways) w->again.print(w->name, "again");
  for (const way_figures* w : ways) {
    std::printf("%-33s x libcuckoo: fresh %.2f, again %.2f, again to the end %.2f; %.0f slots, %.1f bytes/entry, %.0f "
                "%% huge\n",
                w->name, w->fresh.all.median() / cuckoo.fresh.all.median(),
                w->again.all.median() / cuckoo.again.all.median(),
                w->again.part[parts - 1].median() / cuckoo.again.part[parts - 1].median(), w->slots, w->bytes, w->huge);
  }
  return 0;
}
