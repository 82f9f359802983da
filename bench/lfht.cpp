// SPDX-License-Identifier: Apache-2.0
// The relativistic map beside liburcu's cds_lfht, each through its public API. It measures lookups of random keys that
// are there, at rest and, if asked, while a further thread doubles and halves the table without pause. Keys and values
// of 8 bytes, the same hash, nodes in cells of 32 bytes in huge pages (`malloc`: as operator new has them), turns in
// every round.
//   bench_lfht [entries] [threads] [seconds] [rounds] [resize] [malloc]
#include <urcu/urcu-qsbr.h>

#include <urcu/rculfhash.h>

#include <array>
#include <cstdio>
#include <memory>

#include <cubby/hash.hpp>
#include <cubby/relativistic.hpp>

#include "cells.hpp"
#include "numbers.hpp"
#include "rounds.hpp"

namespace {

constexpr std::size_t batch = 32;

struct plan {
  std::uint64_t entries = 50'000'000;
  unsigned threads = 2;
  double seconds = 2;
  unsigned rounds = 5;
  bool resizing = false;
};

/// Under quiescent-state RCU, the flavour with the cheapest reads; one bucket for each entry, rounded up, as the map has.
class lfht {
public:
  struct entry {
    cds_lfht_node node;
    std::uint64_t key;
    std::uint64_t value;
  };
  static_assert(sizeof(entry) == bench::cell_bytes);

  lfht(std::uint64_t entries, unsigned threads) : buckets_(std::bit_ceil(entries)) {
    table_ = _cds_lfht_new(buckets_, buckets_, buckets_ * 2, 0, &cds_lfht_mm_mmap, &urcu_qsbr_flavor, nullptr);
    if (table_ == nullptr) std::abort();
    std::vector<std::thread> fillers;
    for (unsigned t = 0; t < threads; ++t) {
      fillers.emplace_back([this, entries, threads, t] { fill(entries * t / threads, entries * (t + 1) / threads); });
    }
    for (std::thread& t : fillers) t.join();
  }

  class reader {
  public:
    explicit reader(lfht& t) : table_(t.table_) { urcu_qsbr_register_thread(); }
    reader(const reader&) = delete;
    reader& operator=(const reader&) = delete;
    ~reader() { urcu_qsbr_unregister_thread(); }

    /// It has no batches: one by one, with a quiescent state at the end.
    std::size_t find_batch(std::span<const std::uint64_t> keys, std::span<std::uint64_t> values,
                           std::span<bool> found) {
      std::size_t hits = 0;
      for (std::size_t i = 0; i < keys.size(); ++i) {
        cds_lfht_iter at;
        cds_lfht_lookup(table_, cubby::mix(keys[i]), same, &keys[i], &at);
        const cds_lfht_node* const node = cds_lfht_iter_get_node(&at);
        found[i] = node != nullptr;
        if (node == nullptr) continue;
        values[i] = reinterpret_cast<const entry*>(node)->value;
        ++hits;
      }
      urcu_qsbr_quiescent_state();
      return hits;
    }

  private:
    cds_lfht* table_;
  };

  void resize(bool larger) {
    urcu_qsbr_register_thread();
    cds_lfht_resize(table_, larger ? buckets_ * 2 : buckets_);
    urcu_qsbr_unregister_thread();
  }

private:
  static int same(cds_lfht_node* node, const void* key) {
    return reinterpret_cast<const entry*>(node)->key == *static_cast<const std::uint64_t*>(key);
  }
  void fill(std::uint64_t from, std::uint64_t to) {
    urcu_qsbr_register_thread();
    for (std::uint64_t i = from; i < to; ++i) {
      auto* const fresh = new entry{{}, i, i};
      if (cds_lfht_add_unique(table_, cubby::mix(i), same, &i, &fresh->node) != &fresh->node) std::abort();
      if (i % 64 == 0) urcu_qsbr_quiescent_state();
    }
    urcu_qsbr_unregister_thread();
  }

  std::uint64_t buckets_;
  cds_lfht* table_ = nullptr; // lives as long as the program: cds_lfht_destroy wants every entry removed first
};

struct figures {
  bench::rounds at_rest, resizing, resizes;
};

/// One turn of one table; millions of finds a second.
template <class Table> double turn(const plan& p, Table& table, bool resizing, double& resizes) {
  std::atomic<std::uint64_t> found{0};
  std::uint64_t times = 0;
  const double seconds = bench::beside(
      p.threads,
      [&](unsigned number, bench::course& way) {
        typename Table::reader reader(table);
        bench::random_numbers random(number + 1, p.entries);
        std::array<std::uint64_t, batch> keys{};
        std::array<std::uint64_t, batch> values{};
        std::array<bool, batch> hits{};
        std::uint64_t sum = 0;
        for (way.start(); !way.over(); sum += batch) {
          for (std::uint64_t& key : keys) key = random.next();
          if (reader.find_batch(keys, values, hits) != batch || values != keys) std::abort();
        }
        found += sum;
      },
      [&] {
        if (resizing) times = bench::repeat(p.seconds, [&, i = 0]() mutable { table.resize(i++ % 2 == 0); });
        else bench::rest(p.seconds);
      });
  if (times % 2 != 0) table.resize(false);
  resizes = static_cast<double>(times) / seconds;
  return static_cast<double>(found) / seconds * 1e-6;
}

template <class Table> void take_turns(const plan& p, Table& table, figures& f) {
  double resizes = 0;
  f.at_rest.add(turn(p, table, false, resizes));
  if (!p.resizing) return;
  f.resizing.add(turn(p, table, true, resizes));
  f.resizes.add(resizes);
}

template <class Table> std::unique_ptr<Table> filled(const plan& p, const char* name) {
  const bench::resident before = bench::resident_now();
  auto made = std::make_unique<Table>(p.entries, p.threads);
  const bench::resident now = bench::resident_now();
  const auto bytes = static_cast<double>(now.bytes - before.bytes);
  std::printf("%-14s %6.1f resident bytes an entry, %3.0f %% of them in huge pages\n", name,
              bytes / static_cast<double>(p.entries),
              100 * static_cast<double>(now.huge_bytes - before.huge_bytes) / bytes);
  return made;
}

void print(const plan& p, const char* name, const figures& f) {
  std::printf("%-14s %10.2f %5.0f%%", name, f.at_rest.median(), f.at_rest.spread());
  if (p.resizing) std::printf(" %10.2f %5.0f%% %10.2f", f.resizing.median(), f.resizing.spread(), f.resizes.median());
  std::printf("\n");
}

} // namespace

int main(int count, char** words) {
  plan p;
  p.entries = bench::number(count, words, 1, p.entries);
  p.threads = static_cast<unsigned>(bench::number(count, words, 2, p.threads));
  p.seconds = count > 3 ? std::strtod(words[3], nullptr) : p.seconds;
  p.rounds = static_cast<unsigned>(bench::number(count, words, 4, p.rounds));
  p.resizing = bench::says(count, words, "resize");
  if (p.entries == 0 || p.entries >> 32 != 0 || p.threads == 0 || p.rounds == 0 || !(p.seconds > 0)) return 2;
  if (bench::says(count, words, "malloc")) bench::use_malloc();
  const auto space = filled<bench::numbers<cubby::relativistic>>(p, "relativistic");
  const auto rival = filled<lfht>(p, "cds_lfht");
  figures ours;
  figures theirs;
  for (unsigned round = 0; round < p.rounds; ++round) {
    take_turns(p, *space, ours);
    take_turns(p, *rival, theirs);
  }
  std::printf("\n%zu entries, %u threads, Mops/s\n%-14s %10s %6s%s\n", static_cast<std::size_t>(p.entries), p.threads,
              "", "at rest", "+-", p.resizing ? "   resizing     +-  resizes/s" : "");
  print(p, "relativistic", ours);
  print(p, "cds_lfht", theirs);
  std::printf("%-14s %10.2f", "ratio", ours.at_rest.median() / theirs.at_rest.median());
  if (p.resizing) std::printf(" %17.2f", ours.resizing.median() / theirs.resizing.median());
  std::printf("\n");
  return 0;
}
