// SPDX-License-Identifier: Apache-2.0
// Lookups of a table of which half has moved to its next array, beside the same table with nothing to move. Under
// `incremental` growth a move that writes have begun stays where it is when the writes end. One thread; the two tables of an
// engine take turns.
//   bench_half_moved [entries] [lookups] [rounds]
#include <cubby/dramhit.hpp>
#include <cubby/dramhit_tuples.hpp>
#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>
#include <cubby/pipeline.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include "rounds.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

struct plan {
  std::uint64_t entries = 10'000'000;
  std::uint64_t lookups = 4'000'000;
  std::uint64_t rounds = 5;
};

template <class Engine> using table = cubby::map<std::uint64_t, std::uint64_t, Engine>;

/// Inserts until the table begins to move, and goes on writing until a half of it has.
template <bool in_pairs, class Map> std::uint64_t fill(Map& map, std::uint64_t entries, bool half_moved) {
  auto handle = map.handle();
  std::uint64_t key = 0;
  for (; key < entries; ++key) handle.insert(key, key);
  map.reserve(0); // ends what is moving
  if (!half_moved) return key;
  const std::uint64_t between_looks = entries / 1000 + 1; // a look asks the kernel
  while (!map.stats().migrating)
    for (const std::uint64_t end = key + between_looks; key < end; ++key) handle.insert(key, key);
  // A write moves eight bins, or as many lines. In iceberg it splits two of `bins`, front buckets first.
  const std::uint64_t writes = map.stats().bins / typename Map::options_type{}.move_bins / (in_pairs ? 4 : 2);
  for (std::uint64_t i = 0; i < writes; ++i, ++key) handle.insert(key, key);
  if (!map.stats().migrating) std::abort();
  return key;
}

using keys_type = std::vector<std::uint64_t>;

template <class Map> std::uint64_t one_by_one(Map& map, const keys_type& keys) {
  auto handle = map.handle();
  std::uint64_t hits = 0;
  for (const std::uint64_t k : keys) hits += handle.find(k).has_value() ? 1 : 0;
  return hits;
}
template <class Map> std::uint64_t in_batches(Map& map, const keys_type& keys) {
  constexpr std::size_t size = 64;
  auto handle = map.handle();
  std::array<std::uint64_t, size> values;
  std::array<bool, size> found;
  std::uint64_t hits = 0;
  for (std::size_t i = 0; i + size <= keys.size(); i += size)
    hits += handle.find_batch(std::span(keys).subspan(i, size), values, found);
  return hits;
}
template <class Map> std::uint64_t piped(Map& map, const keys_type& keys) {
  std::uint64_t hits = 0;
  auto pending = map.handle().pipeline();
  const auto count = [&hits](const auto& r) { hits += r.value.has_value() ? 1 : 0; };
  for (const std::uint64_t k : keys) pending.submit({cubby::verb::find, k, 0, k}, count);
  pending.drain(count);
  return hits;
}

template <class Map, class Way> double rate(Map& map, const keys_type& keys, Way way) {
  const auto begin = clock_type::now();
  if (way(map, keys) != keys.size()) std::abort();
  return static_cast<double>(keys.size()) / std::chrono::duration<double>(clock_type::now() - begin).count() / 1e6;
}

template <class Map, class Way>
void compare(const char* engine, const char* name, Map& still, Map& half, const keys_type& keys, const plan& p,
             Way way) {
  bench::rounds at_rest;
  bench::rounds moving;
  for (std::uint64_t i = 0; i < p.rounds; ++i) {
    at_rest.add(rate(still, keys, way));
    moving.add(rate(half, keys, way));
  }
  std::printf("%-8s %-12s at rest %6.1f Mops/s, half moved %6.1f (%.2f); spread %.0f and %.0f %%\n", engine, name,
              at_rest.median(), moving.median(), moving.median() / at_rest.median(), at_rest.spread(), moving.spread());
}

template <class Engine> void measure(const char* engine, const plan& p) {
  constexpr bool in_pairs = std::is_same_v<Engine, cubby::iceberg>;
  table<Engine> still;
  table<Engine> half;
  (void)fill<in_pairs>(still, p.entries, false);
  const std::uint64_t there = fill<in_pairs>(half, p.entries, true);
  bench::random_numbers draw(1, p.entries);
  keys_type keys(p.lookups / 64 * 64);
  for (std::uint64_t& k : keys) k = draw.next();
  std::printf("%s: %zu and %llu entries\n", engine, still.size(), static_cast<unsigned long long>(there));
  compare(engine, "find", still, half, keys, p, [](auto& m, auto& k) { return one_by_one(m, k); });
  compare(engine, "find_batch", still, half, keys, p, [](auto& m, auto& k) { return in_batches(m, k); });
  if constexpr (table<Engine>::capabilities.pipelined)
    compare(engine, "pipeline", still, half, keys, p, [](auto& m, auto& k) { return piped(m, k); });
}

} // namespace

int main(int count, char** words) {
  plan p;
  p.entries = bench::number(count, words, 1, p.entries);
  p.lookups = bench::number(count, words, 2, p.lookups);
  p.rounds = bench::number(count, words, 3, p.rounds);
  measure<cubby::dramhit>("dramhit", p);
  measure<cubby::dramhit_tuples>("tuples", p);
  measure<cubby::dlht>("dlht", p);
  measure<cubby::iceberg>("iceberg", p);
}
