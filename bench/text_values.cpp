// SPDX-License-Identifier: Apache-2.0
// Maps of std::string to std::string, as services have them: keys of 36 bytes, values of 20 to 100, one key a call. Beside Boost's map, if its
// headers are unpacked. Millions of calls a second by all threads, medians of rounds, in which the tables take turns, each in a process of its own.
// Keys are made before a run of 256 calls. An insert with the erase of its key counts as two calls. malloc is asked for huge pages
// (`glibc.malloc.hugetlb`), because values are in its memory in each of the tables.
//   bench_text_values [entries] [threads] [rounds]
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <cubby/hash.hpp>
#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>
#include <cubby/relativistic.hpp>
#include <cubby/seph.hpp>

#include <unistd.h>

#if __has_include(<boost/unordered/concurrent_flat_map.hpp>) && __has_include(<boost/version.hpp>)
#define BENCH_HAS_BOOST 1
#include <boost/unordered/concurrent_flat_map.hpp>
#else
#define BENCH_HAS_BOOST 0
#endif

#include "alone.hpp"
#include "machine.hpp"
#include "rounds.hpp"

namespace {

using word = std::uint64_t;
constexpr word in_run = 256;
constexpr word calls = 4000 * in_run; // of a thread, for each figure
enum column : unsigned { fill, find, miss, upsert, insert_erase, bytes, columns };
using figures = std::array<double, columns>;

void must(bool done) {
  if (!done) std::abort();
}

/// The key of a number: bytes that look random.
struct key {
  char raw[40] = {};
  key() = default;
  explicit key(word number) {
    for (word at = 0; at < sizeof raw; at += 8) {
      const word random = cubby::mix(number * 5 + at);
      std::memcpy(raw + at, &random, 8);
    }
  }
  [[nodiscard]] std::string_view text() const { return {raw, 36}; }
};
std::string_view value_of(word number) {
  static constexpr char bytes[100] = {};
  return {bytes, 20 + cubby::mix(number) % 81};
}

template <class Engine> class ours {
public:
  explicit ours(word entries) : map_({.capacity = entries}) {}
  bool insert(const key& k, std::string_view v) { return map_.insert(k.text(), v); }
  bool find(const key& k, word& size) {
    return map_.visit(k.text(), [&](const std::string& v) { size += v.size() + static_cast<word>(v[0]); });
  }
  void upsert(const key& k, std::string_view v) { map_.insert_or_assign(k.text(), v); }
  bool erase(const key& k) { return map_.erase(k.text()); }

private:
  cubby::map<std::string, std::string, Engine> map_;
};

#if BENCH_HAS_BOOST
struct transparent_hash {
  using is_transparent = void;
  using is_avalanching = void;
  std::size_t operator()(std::string_view k) const { return cubby::hash<std::string>()(k); }
};
class boosts {
public:
  explicit boosts(word entries) { map_.reserve(entries); }
  bool insert(const key& k, std::string_view v) { return map_.emplace(k.text(), v); }
  bool find(const key& k, word& size) {
    return map_.cvisit(k.text(), [&](const auto& e) { size += e.second.size() + static_cast<word>(e.second[0]); }) != 0;
  }
  void upsert(const key& k, std::string_view v) {
    if (map_.visit(k.text(), [&](auto& e) { e.second = v; }) == 0) map_.emplace(k.text(), v);
  }
  bool erase(const key& k) { return map_.erase(k.text()) != 0; }

private:
  boost::concurrent_flat_map<std::string, std::string, transparent_hash, std::equal_to<>> map_;
};
#endif

struct plan {
  word entries;
  unsigned threads;
  word rounds;
};

/// Runs `one(thread)` on all threads, and returns how many million calls a second that was.
template <class F> double all_threads(const plan& p, word calls_of_each, F one) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < p.threads; ++t)
    threads.emplace_back([&, t] {
      bench::pin_to_cpu(t);
      one(t);
    });
  for (std::thread& t : threads) t.join();
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(calls_of_each * p.threads) / time.count();
}
/// `call(key, number)` for keys of numbers below `entries`, at random, and `first` more.
template <class F> double at_random(const plan& p, word first, F call) {
  return all_threads(p, calls, [&](unsigned t) {
    bench::random_numbers random(t + 7, p.entries);
    const auto keys = std::make_unique<std::array<key, in_run>>();
    for (word i = 0; i < calls; i += in_run) {
      for (key& k : *keys) k = key(first * (t + 1) + random.next());
      for (const key& k : *keys) call(k, i);
    }
  });
}

template <class Map> figures measure(const plan& p) {
  figures into{};
  const std::uint64_t resident = bench::resident_now().bytes;
  Map m(p.entries);
  const word share = p.entries / p.threads;
  into[fill] = all_threads(p, share, [&](unsigned t) {
    for (word i = t * share; i < (t + 1) * share; ++i) must(m.insert(key(i), value_of(i)));
  });
  into[bytes] = static_cast<double>(bench::resident_now().bytes - resident) / static_cast<double>(share * p.threads);
  const plan filled{share * p.threads, p.threads, p.rounds};
  into[find] = at_random(filled, 0, [&](const key& k, word) {
    word size = 0;
    must(m.find(k, size) && size >= 20);
  });
  into[miss] = at_random(filled, p.entries, [&](const key& k, word) {
    word size = 0;
    must(!m.find(k, size));
  });
  into[upsert] = at_random(filled, 0, [&](const key& k, word i) { m.upsert(k, value_of(i)); });
  into[insert_erase] =
      2 * at_random(filled, p.entries, [&](const key& k, word i) { must(m.insert(k, value_of(i)) && m.erase(k)); });
  return into;
}

/// It does not end the map: that is another figure.
template <class Map> figures measure_alone(const plan& p) {
  return bench::alone([&] { return measure<Map>(p); });
}

struct table {
  const char* name;
  figures (*measure)(const plan&);
  std::array<bench::rounds, columns> all;
};
void print(const table& one) {
  std::printf("%-28s", one.name);
  for (unsigned i = 0; i < columns; ++i)
    i == bytes ? std::printf(" %7.0f", one.all[i].median())
               : std::printf(" %8.2f %3.0f%%", one.all[i].median(), one.all[i].spread());
  std::printf("\n");
}

/// Begins this program again, with huge pages for malloc.
void ask_malloc_for_huge_pages(char** words) {
  if (std::getenv("GLIBC_TUNABLES") != nullptr) return;
  must(setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", 1) == 0);
  execv("/proc/self/exe", words);
  std::abort();
}

} // namespace

int main(int count, char** words) {
  ask_malloc_for_huge_pages(words);
  const plan p{bench::number(count, words, 1, 5'000'000), static_cast<unsigned>(bench::number(count, words, 2, 2)),
               bench::number(count, words, 3, 3)};
  if (p.threads == 0 || p.threads > 64 || p.rounds == 0 || p.entries < p.threads ||
      p.entries > std::uint64_t{1} << 32) {
    std::fprintf(stderr,
                 "bench_text_values: 1 to 64 threads, 1 round or more, and entries for each thread, 2^32 at most\n");
    return 2;
  }
  std::vector<table> tables;
  tables.push_back({"dlht", measure_alone<ours<cubby::dlht>>, {}});
  tables.push_back({"iceberg", measure_alone<ours<cubby::iceberg>>, {}});
  tables.push_back({"relativistic", measure_alone<ours<cubby::relativistic>>, {}});
  tables.push_back({"seph", measure_alone<ours<cubby::seph>>, {}});
#if BENCH_HAS_BOOST
  tables.push_back({"boost::concurrent_flat_map", measure_alone<boosts>, {}});
#endif
  for (word r = 0; r < p.rounds; ++r)
    for (table& one : tables) {
      const figures got = one.measure(p);
      for (unsigned i = 0; i < columns; ++i) one.all[i].add(got[i]);
    }
  std::printf("%llu texts to texts, %u threads, million calls a second, medians of %llu rounds\n",
              static_cast<unsigned long long>(p.entries), p.threads, static_cast<unsigned long long>(p.rounds));
  std::printf("%-28s %13s %13s %13s %13s %13s %7s\n", "", "fill", "visit", "miss", "upsert", "insert+erase", "bytes");
  for (const table& one : tables) print(one);
}
