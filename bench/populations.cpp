// SPDX-License-Identifier: Apache-2.0
// What it takes to fill a map, from empty and into space that was asked for. It is filled by one key a call, by `insert_batch`,
// by `insert_range` and by `execute`, and by one key a call under each policy of growth. All ways take turns in every round.
// Under `timed`, how long a single insert took. Each table's pages are returned to the system before the next one begins, so that
// all but the first find pages that the system has at hand.
//   bench_populations [keys] [threads] [rounds]
#include <cubby/map.hpp>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "clock.hpp"
#include "histogram.hpp"
#include "rounds.hpp"

namespace {

using cubby::growth_policy;
using map = cubby::map<std::uint64_t, std::uint64_t>;
constexpr std::size_t in_call = 32;

/// Inserts the keys from `first` to before `last`, each once.
using insert_keys = std::function<void(map::handle_type&, std::uint64_t first, std::uint64_t last)>;

std::uint64_t key_of(std::uint64_t number) { return cubby::mix(number); }
void must(bool done) {
  if (!done) std::abort();
}

void one_by_one(map::handle_type& h, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t i = first; i < last; ++i) must(h.insert(key_of(i), i));
}

void in_batches(map::handle_type& h, std::uint64_t first, std::uint64_t last) {
  std::uint64_t keys[in_call], values[in_call];
  cubby::outcome results[in_call];
  for (std::uint64_t i = first; i < last; i += in_call) {
    const std::size_t n = last - i < in_call ? last - i : in_call;
    for (std::size_t k = 0; k < n; ++k) keys[k] = key_of(values[k] = i + k);
    must(h.insert_batch(std::span(keys).first(n), std::span(values).first(n), results) == n);
  }
}

/// The pairs of a range of numbers, made when they are read.
struct numbered_pairs {
  struct pair {
    std::uint64_t first, second;
  };
  struct iterator {
    using value_type = pair;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::forward_iterator_tag;
    std::uint64_t number = 0;
    pair operator*() const { return {key_of(number), number}; }
    iterator& operator++() { return ++number, *this; }
    iterator operator++(int) { return {number++}; }
    difference_type operator-(const iterator& other) const {
      return static_cast<difference_type>(number - other.number);
    }
    bool operator==(const iterator&) const = default;
  };
  std::uint64_t from, to;
  [[nodiscard]] iterator begin() const { return {from}; }
  [[nodiscard]] iterator end() const { return {to}; }
};
void as_range(map::handle_type& h, std::uint64_t first, std::uint64_t last) {
  must(h.insert_range(numbered_pairs{first, last}) == last - first);
}

void by_execute(map::handle_type& h, std::uint64_t first, std::uint64_t last) {
  map::request_type requests[in_call];
  map::reply_type replies[in_call];
  for (std::uint64_t i = first; i < last; i += in_call) {
    const std::size_t n = last - i < in_call ? last - i : in_call;
    for (std::size_t k = 0; k < n; ++k) requests[k] = {cubby::verb::insert, key_of(i + k), i + k};
    must(h.execute(std::span<const map::request_type>(requests, n), std::span(replies).first(n)) == n);
  }
}

struct plan {
  std::uint64_t keys = 20'000'000;
  unsigned threads = 2;
  std::uint64_t rounds = 3;
};

/// Millions of inserts a second, of all threads, of a new table made for `space` entries.
double mops_of(const plan& p, std::uint64_t space, growth_policy growth, const insert_keys& insert) {
  map m(cubby::options{.capacity = space, .growth = growth});
  std::vector<std::thread> threads;
  const double begin = bench::seconds_now();
  for (unsigned t = 0; t < p.threads; ++t)
    threads.emplace_back([&, t] {
      auto h = m.handle();
      insert(h, p.keys * t / p.threads, p.keys * (t + 1) / p.threads);
    });
  for (std::thread& t : threads) t.join();
  const double seconds = bench::seconds_now() - begin;
  must(m.size() == p.keys);
  return static_cast<double>(p.keys) / seconds * 1e-6;
}

/// The time of each insert, one key a call, from empty.
void print_times(const plan& p, const char* name, growth_policy growth) {
  std::vector<std::unique_ptr<bench::histogram>> times;
  for (unsigned t = 0; t < p.threads; ++t) times.push_back(std::make_unique<bench::histogram>());
  (void)mops_of(p, 1, growth, [&](map::handle_type& h, std::uint64_t first, std::uint64_t last) {
    bench::histogram& mine = *times[first * p.threads / p.keys];
    for (std::uint64_t i = first; i < last; ++i) {
      const std::uint64_t before = bench::ticks_before();
      must(h.insert(key_of(i), i));
      mine.add(bench::ticks_after() - before);
    }
  });
  for (unsigned t = 1; t < p.threads; ++t) times[0]->merge(*times[t]);
  const auto ns = [&](double share) {
    return static_cast<double>(times[0]->at_share(share)) * bench::nanoseconds_per_tick();
  };
  std::printf("%-12s %8.0f %8.0f %8.0f %8.0f %10.1f\n", name, ns(0.5), ns(0.9), ns(0.99), ns(0.999),
              static_cast<double>(times[0]->longest()) * bench::nanoseconds_per_tick() * 1e-3);
}

struct way {
  const char* name;
  std::uint64_t percent; // of the keys, that the table is made for
  growth_policy growth;
  insert_keys insert;
  bench::rounds mops{};
};

} // namespace

int main(int count, char** words) {
  plan p;
  p.keys = bench::number(count, words, 1, p.keys);
  p.threads = static_cast<unsigned>(bench::number(count, words, 2, p.threads));
  p.rounds = bench::number(count, words, 3, p.rounds);
  if (p.keys < 1000 || p.threads == 0 || p.rounds == 0) {
    std::fprintf(stderr, "bench_populations: give 1000 keys or more, a thread and a round\n");
    return 2;
  }
  constexpr auto in_passing = growth_policy::incremental;
  way ways[] = {{"one key a call", 0, in_passing, one_by_one},
                {"one key a call, cooperative", 0, growth_policy::cooperative, one_by_one},
                {"one key a call, background", 0, growth_policy::background, one_by_one},
                {"insert_batch of 32", 0, in_passing, in_batches},
                {"insert_range", 0, in_passing, as_range},
                {"execute of 32", 0, in_passing, by_execute},
                {"one key a call, space for half", 50, in_passing, one_by_one},
                {"insert_batch of 32, space for half", 50, in_passing, in_batches},
                {"one key a call, space for all", 100, in_passing, one_by_one},
                {"insert_batch of 32, space for all", 100, in_passing, in_batches},
                {"insert_range, space for all", 100, in_passing, as_range}};
  for (std::uint64_t round = 0; round < p.rounds; ++round)
    for (way& w : ways) w.mops.add(mops_of(p, p.keys / 100 * w.percent + 1, w.growth, w.insert));
  std::printf("%llu keys, %u threads, million inserts a second, median of %llu rounds\n",
              static_cast<unsigned long long>(p.keys), p.threads, static_cast<unsigned long long>(p.rounds));
  for (const way& w : ways) std::printf("%-36s %7.2f  +- %2.0f %%\n", w.name, w.mops.median(), w.mops.spread());
  std::printf("\none insert, ns        p50      p90      p99    p99.9 longest, us\n");
  print_times(p, "incremental", in_passing);
  print_times(p, "cooperative", growth_policy::cooperative);
  print_times(p, "background", growth_policy::background);
  return 0;
}
