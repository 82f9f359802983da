// SPDX-License-Identifier: Apache-2.0
// What sorted chains cost and what they save, and heads that grow in place (sections 4.2 and 4.3 of the relativistic paper), beside
// unsorted chains. Same nodes, same hash, turns in every round; medians.
//   bench_chain_orders [entries] [milliseconds] [rounds]
#include "chain_orders.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

namespace {

namespace relativistic = bench::relativistic;

using clock_type = std::chrono::steady_clock;

struct plan {
  std::uint64_t entries = 65536;
  unsigned milliseconds = 300;
  unsigned rounds = 5;
};

double seconds_since(clock_type::time_point begin) {
  return std::chrono::duration<double>(clock_type::now() - begin).count();
}

double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

std::uint64_t next_random(std::uint64_t& state) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return state >> 32;
}

template <class Table> std::unique_ptr<Table> filled(std::uint64_t buckets, std::uint64_t entries) {
  auto made = std::make_unique<Table>(buckets);
  cubby::detail::thread_record& mine = *cubby::detail::registry::local();
  const cubby::detail::thread_pin inside(mine);
  for (std::uint64_t i = 0; i < entries; ++i) made->insert(i);
  return made;
}

/// Nanoseconds of a lookup of random keys from `first` on, of which `expected` are there.
template <class Find> double time_of_finds(const plan& p, std::uint64_t first, bool expected, Find find) {
  cubby::detail::thread_record& mine = *cubby::detail::registry::local();
  std::uint64_t state = first + 1;
  std::uint64_t wrong = 0;
  std::uint64_t count = 0;
  const auto begin = clock_type::now();
  const auto end = begin + std::chrono::milliseconds(p.milliseconds / 4);
  do {
    for (unsigned i = 0; i < 1024; ++i) {
      const cubby::detail::thread_pin inside(mine);
      wrong += find(first + next_random(state) % p.entries) != expected ? 1 : 0;
    }
    count += 1024;
  } while (clock_type::now() < end);
  const double seconds = seconds_since(begin);
  if (wrong != 0) std::abort();
  return seconds * 1e9 / static_cast<double>(count);
}

/// What is measured of one kind of chain at one load, in nanoseconds.
struct at_rest {
  std::vector<double> insert, hit, miss;
};

template <class Table, class Find> void measure_rest(const plan& p, std::uint64_t load, at_rest& out, Find find) {
  const std::uint64_t buckets = std::bit_ceil(p.entries / load);
  const auto begin = clock_type::now();
  const auto table = filled<Table>(buckets, p.entries);
  out.insert.push_back(seconds_since(begin) * 1e9 / static_cast<double>(p.entries));
  out.hit.push_back(time_of_finds(p, 0, true, [&](std::uint64_t key) { return find(*table, key); }));
  out.miss.push_back(time_of_finds(p, p.entries, false, [&](std::uint64_t key) { return find(*table, key); }));
}

void report_rest(const plan& p) {
  std::printf("At rest, ns an operation, one thread, %zu entries\n%-28s %8s %8s %8s %8s\n",
              static_cast<std::size_t>(p.entries), "chains", "a bucket", "insert", "hit", "miss");
  for (const std::uint64_t load : {1u, 2u, 4u}) {
    at_rest unsorted, sorted, early;
    const auto plain = [](const auto& table, std::uint64_t key) { return table.find(key); };
    for (unsigned round = 0; round < p.rounds; ++round) {
      measure_rest<bench::unsorted_table>(p, load, unsorted, plain);
      measure_rest<bench::sorted_table>(p, load, sorted, plain);
      measure_rest<bench::sorted_table>(p, load, early, [](const bench::sorted_table& table, std::uint64_t key) {
        return table.find_or_end_early(key);
      });
    }
    const auto line = [load](const char* name, const at_rest& r) {
      std::printf("%-28s %8zu %8.1f %8.1f %8.1f\n", name, static_cast<std::size_t>(load), median(r.insert),
                  median(r.hit), median(r.miss));
    };
    line("unsorted", unsorted);
    line("sorted, followed to the end", sorted);
    line("sorted, misses end early", early);
  }
}

/// What is measured of one way to resize. The first growth is that of chains as inserts have left them; after a shrink the
/// nodes of one bucket lie side by side for once in unsorted chains, too.
struct resizing {
  std::vector<double> mops, milliseconds, waits, first_milliseconds, first_waits, peak_kib;
};

/// One reader looks up keys that are there while the caller resizes between two sizes without pause.
template <class Table> void measure_resizing(const plan& p, std::uint64_t factor, resizing& out) {
  const std::uint64_t large = std::bit_ceil(p.entries);
  const auto table = filled<Table>(large / factor, p.entries);
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> found{0};
  std::thread reader([&] {
    cubby::detail::thread_record& mine = *cubby::detail::registry::local();
    std::uint64_t state = 1;
    std::uint64_t hits = 0;
    std::uint64_t count = 0;
    while (!stop.load(std::memory_order_relaxed)) { // a request to end; the join orders the rest
      for (unsigned i = 0; i < 256; ++i) {
        const cubby::detail::thread_pin inside(mine);
        hits += table->find(next_random(state) % p.entries) ? 1 : 0;
      }
      count += 256;
    }
    if (hits != count) std::abort(); // a lookup missed a key that is there
    found = hits;
  });
  const auto begin = clock_type::now();
  const auto end = begin + std::chrono::milliseconds(p.milliseconds);
  const bench::resize_costs& costs = table->costs();
  table->resize(large);
  out.first_milliseconds.push_back(seconds_since(begin) * 1e3);
  out.first_waits.push_back(static_cast<double>(costs.waits));
  do {
    table->resize(large / factor);
    table->resize(large);
  } while (clock_type::now() < end);
  const double seconds = seconds_since(begin);
  stop = true;
  reader.join();
  out.mops.push_back(static_cast<double>(found) / seconds * 1e-6);
  out.milliseconds.push_back(seconds * 1e3 / static_cast<double>(costs.resizes));
  out.waits.push_back(static_cast<double>(costs.waits) / static_cast<double>(costs.resizes));
  out.peak_kib.push_back(static_cast<double>(costs.peak_bytes) / 1024);
}

void report_resizing(const plan& p) {
  std::printf("Growing to one entry a bucket and shrinking by a factor without pause, one reader, %zu entries\n"
              "%-20s %7s %8s %10s %9s %12s %12s %12s\n",
              static_cast<std::size_t>(p.entries), "chains", "factor", "Mops/s", "ms/resize", "waits", "ms, first",
              "waits, first", "KiB at peak");
  for (const std::uint64_t factor : {2u, 8u, 64u}) {
    resizing unsorted, sorted, in_place;
    for (unsigned round = 0; round < p.rounds; ++round) {
      measure_resizing<bench::unsorted_table>(p, factor, unsorted);
      measure_resizing<bench::sorted_table>(p, factor, sorted);
      measure_resizing<bench::in_place_table>(p, factor, in_place);
    }
    const auto line = [factor](const char* name, const resizing& r) {
      std::printf("%-20s %7zu %8.2f %10.3f %9.1f %12.3f %12.0f %12.0f\n", name, static_cast<std::size_t>(factor),
                  median(r.mops), median(r.milliseconds), median(r.waits), median(r.first_milliseconds),
                  median(r.first_waits), median(r.peak_kib));
    };
    line("unsorted", unsorted);
    line("sorted", sorted);
    line("sorted, in place", in_place);
  }
}

std::uint64_t number(int count, char** words, int at, std::uint64_t otherwise) {
  return count > at ? std::strtoull(words[at], nullptr, 10) : otherwise;
}

} // namespace

int main(int count, char** words) {
  plan p;
  p.entries = number(count, words, 1, p.entries);
  p.milliseconds = static_cast<unsigned>(number(count, words, 2, p.milliseconds));
  p.rounds = static_cast<unsigned>(number(count, words, 3, p.rounds));
  if (p.entries < relativistic::stripe_count * relativistic::most_siblings || p.rounds == 0) return 2;
  report_rest(p);
  report_resizing(p);
}
