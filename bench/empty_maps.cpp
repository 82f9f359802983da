// SPDX-License-Identifier: Apache-2.0
// What a map costs that holds nothing, or one entry. It prints the bytes of the object, those that its index maps, and those on the
// heap. Then come the times to make it, use it and destroy it. docs/topics/empty-maps.md has the figures.
#include <cubby/dlht.hpp>
#include <cubby/dramhit.hpp>
#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>
#include <cubby/relativistic.hpp>
#include <cubby/seph.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <unordered_map>

#include <malloc.h>

namespace {

constexpr int rounds = 2000;
const void* volatile kept = nullptr; // an object whose address is written here is really made

struct costs {
  std::size_t index = 0;   // bytes that the index maps
  std::size_t heap = 0;    // bytes on the heap beside it
  double empty_ns = 0;     // made and destroyed
  double one_entry_ns = 0; // made, one insert, one find, destroyed
};

/// The best of five runs of `rounds` rounds, in nanoseconds a round.
template <class F> double time_of(F f) {
  double best = 1e300;
  for (int run = 0; run < 5; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < rounds; ++i) f();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
    best = std::min(best, spent.count() / rounds);
  }
  return best;
}

std::size_t on_heap() {
  const auto now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

template <class Map> costs measure(typename Map::key_type key) {
  costs out;
  { // the first table of a thread also makes the thread's record
    Map first;
    first.insert(key, 1);
  }
  const std::size_t before = on_heap();
  {
    const Map empty;
    out.index = empty.stats().bytes;
    out.heap = on_heap() - before;
  }
  out.empty_ns = time_of([] {
    const Map empty;
    kept = &empty;
  });
  out.one_entry_ns = time_of([&key] {
    Map m;
    m.insert(key, 1);
    if (!m.contains(key)) std::puts("lost");
  });
  return out;
}

/// What a program would otherwise write.
template <class K> struct locked {
  using key_type = K;
  struct figures {
    std::size_t bytes = 0;
  };
  void insert(const K& k, std::uint64_t v) {
    const std::lock_guard<std::mutex> alone(lock);
    entries.emplace(k, v);
  }
  bool contains(const K& k) {
    const std::lock_guard<std::mutex> alone(lock);
    return entries.count(k) != 0;
  }
  [[nodiscard]] static figures stats() { return {}; }
  std::mutex lock;
  std::unordered_map<K, std::uint64_t> entries;
};

template <class Map> void print(const char* name, const char* keys, typename Map::key_type key) {
  const costs c = measure<Map>(key);
  std::printf("%-16s %-6s %10zu %10zu %10zu %12.0f %14.0f\n", name, keys, sizeof(Map), c.index, c.heap, c.empty_ns,
              c.one_entry_ns);
}

template <class Engine> void print_both(const char* name) {
  print<cubby::map<std::uint64_t, std::uint64_t, Engine>>(name, "words", 7);
  print<cubby::map<std::string, std::uint64_t, Engine>>(name, "text", "a key of more than fifteen bytes");
}

} // namespace

int main() {
  std::printf("%-16s %-6s %10s %10s %10s %12s %14s\n", "map", "keys", "object B", "index B", "heap B", "empty ns",
              "one entry ns");
  print_both<cubby::dlht>("dlht");
  print_both<cubby::dlht_single>("dlht_single");
  print_both<cubby::dramhit>("dramhit");
  print_both<cubby::relativistic>("relativistic");
  print_both<cubby::iceberg>("iceberg");
  print_both<cubby::seph>("seph");
  print<locked<std::uint64_t>>("mutex and std", "words", 7);
  print<locked<std::string>>("mutex and std", "text", "a key of more than fifteen bytes");
}
