// SPDX-License-Identifier: Apache-2.0
// What it costs to make an empty map of words, to use it, and to end it; and the bytes that it takes, its own and those of the heap. Where the
// headers of Boost's map are unpacked, it stands beside.
//   bench_construction
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <unordered_map>

#include <cubby/dramhit.hpp>
#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>
#include <cubby/relativistic.hpp>
#include <cubby/seph.hpp>

#include "rounds.hpp"

#if __has_include(<boost/unordered/concurrent_flat_map.hpp>)
#include <boost/unordered/concurrent_flat_map.hpp>
#endif

namespace {

using word = std::uint64_t;

std::size_t allocated = 0;
void* counted(std::size_t bytes, std::size_t alignment) noexcept {
  allocated += bytes;
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void* or_throw(void* got) {
  if (got == nullptr) throw std::bad_alloc();
  return got;
}
constexpr std::size_t usual = alignof(std::max_align_t);

struct figures {
  bench::rounds empty, with_an_entry;
  std::size_t bytes_empty = 0, bytes_with_an_entry = 0;
};

/// Nanoseconds for one turn, and the bytes that it allocates.
template <class F> void measure(bench::rounds& times, std::size_t& bytes, F turn) {
  constexpr unsigned turns = 20'000;
  const std::size_t before = allocated;
  const auto begin = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < turns; ++i) turn();
  const std::chrono::duration<double, std::nano> all = std::chrono::steady_clock::now() - begin;
  times.add(all.count() / turns);
  bytes = (allocated - before) / turns;
}
template <class Map> void take_turn(figures& out) {
  measure(out.empty, out.bytes_empty, [] {
    Map m;
    asm volatile("" ::"r"(&m) : "memory");
  });
  measure(out.with_an_entry, out.bytes_with_an_entry, [] {
    Map m;
    if (m.emplace(1, 1) == 0) std::abort();
    asm volatile("" ::"r"(&m) : "memory");
  });
}
void print(const char* name, std::size_t own, const figures& f) {
  std::printf("%-20s %8.0f %4.0f%% %8.0f %4.0f%% %8zu %8zu %8zu\n", name, f.empty.median(), f.empty.spread(),
              f.with_an_entry.median(), f.with_an_entry.spread(), own, f.bytes_empty, f.bytes_with_an_entry);
}

/// A cubby map by the names that the standard and Boost have.
template <class Engine> struct ours : cubby::map<word, word, Engine> {
  std::size_t emplace(word k, word v) { return this->insert(k, v) ? 1 : 0; }
};
struct standard : std::unordered_map<word, word> {
  std::size_t emplace(word k, word v) { return this->insert({k, v}).second ? 1 : 0; }
};

} // namespace

void* operator new(std::size_t bytes) { return or_throw(counted(bytes, usual)); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes, usual); }
void* operator new(std::size_t bytes, std::align_val_t a) { return or_throw(counted(bytes, std::size_t(a))); }
void* operator new(std::size_t bytes, std::align_val_t a, const std::nothrow_t&) noexcept {
  return counted(bytes, std::size_t(a));
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }
void operator delete(void* at, std::align_val_t) noexcept { std::free(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { std::free(at); }

int main() {
  figures dlht, iceberg, dramhit, relativistic, seph, std_map;
  [[maybe_unused]] figures boost_map;
  for (int round = 0; round < 9; ++round) {
    take_turn<ours<cubby::dlht>>(dlht);
    take_turn<ours<cubby::iceberg>>(iceberg);
    take_turn<ours<cubby::dramhit>>(dramhit);
    take_turn<ours<cubby::relativistic>>(relativistic);
    take_turn<ours<cubby::seph>>(seph);
    take_turn<standard>(std_map);
#ifdef BOOST_UNORDERED_CONCURRENT_FLAT_MAP_HPP
    take_turn<boost::concurrent_flat_map<word, word>>(boost_map);
#endif
  }
  std::printf("to make, use and end a map of words: nanoseconds, medians of 9 rounds; bytes\n"
              "%-20s %8s %5s %8s %5s %8s %8s %8s\n",
              "", "empty", "+-", "1 entry", "+-", "own", "heap", "1 entry");
  print("dlht", sizeof(ours<cubby::dlht>), dlht);
  print("iceberg", sizeof(ours<cubby::iceberg>), iceberg);
  print("dramhit", sizeof(ours<cubby::dramhit>), dramhit);
  print("relativistic", sizeof(ours<cubby::relativistic>), relativistic);
  print("seph", sizeof(ours<cubby::seph>), seph);
  print("std::unordered_map", sizeof(standard), std_map);
#ifdef BOOST_UNORDERED_CONCURRENT_FLAT_MAP_HPP
  print("boost", sizeof(boost::concurrent_flat_map<word, word>), boost_map);
#endif
  return 0;
}
