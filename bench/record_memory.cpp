// SPDX-License-Identifier: Apache-2.0
// What it is worth that records lie in blocks of huge pages: each engine with std::allocator, which has such blocks, and with an allocator over
// malloc. Text keys of 12 to 40 bytes, which are made for each call, and values of 8. One thread, which does all calls of a kind one after the
// other, on entries in random order. Nanoseconds of processor time a call, in user mode and, of the fill, in the kernel: medians of rounds, in
// which the tables take turns, each in a process of its own. Of memory, what is resident after the fill.
//   bench_record_memory [entries] [rounds]
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <cubby/hash.hpp>
#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>
#include <cubby/relativistic.hpp>

#include <sys/resource.h>

#include "alone.hpp"
#include "from_malloc.hpp"
#include "machine.hpp"
#include "rounds.hpp"

namespace {

using word = std::uint64_t;
constexpr std::size_t in_call = 32;
enum column : unsigned { fill, fill_in_kernel, find, batch, miss, assign, insert_erase, destroy, bytes, columns };
using row = std::array<bench::rounds, columns>;
using figures = std::array<double, columns>;

void must(bool done) {
  if (!done) std::abort();
}

/// The text of a number.
struct text {
  char raw[40];
  std::size_t size;
  explicit text(word number = 0) : size(12 + cubby::mix(number) % 29) {
    for (std::size_t at = 0; at < sizeof raw; at += 8) {
      const word random = cubby::mix(number * 5 + at);
      std::memcpy(raw + at, &random, 8);
    }
  }
  operator std::string_view() const { return {raw, size}; } // NOLINT: for calls of maps
};

struct times {
  double user;
  double kernel;
};
times now() {
  rusage used = {};
  getrusage(RUSAGE_THREAD, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return {seconds(used.ru_utime), seconds(used.ru_stime)};
}

/// Nanoseconds of user time for each of `count` calls.
template <class F> double each(word count, F all) {
  const times before = now();
  all();
  return (now().user - before.user) * 1e9 / static_cast<double>(count);
}

template <class Map> figures measure(word entries) {
  figures into{};
  const auto any = [entries](word i) { return cubby::mix(i) % entries; };
  const std::uint64_t resident = bench::resident_now().bytes;
  std::optional<Map> space(std::in_place);
  Map& m = *space;
  const times before = now();
  for (word i = 0; i < entries; ++i) must(m.insert(std::string_view(text(i)), i));
  const times after = now();
  into[fill] = (after.user - before.user) * 1e9 / static_cast<double>(entries);
  into[fill_in_kernel] = (after.kernel - before.kernel) * 1e9 / static_cast<double>(entries);
  into[bytes] = static_cast<double>(bench::resident_now().bytes - resident) / static_cast<double>(entries);
  into[find] = each(entries, [&] {
    for (word i = 0; i < entries; ++i) must(m.find(std::string_view(text(any(i)))).has_value());
  });
  into[batch] = each(entries / in_call * in_call, [&] {
    for (word i = 0; i + in_call <= entries; i += in_call) {
      text texts[in_call];
      std::string_view keys[in_call];
      word values[in_call];
      bool found[in_call];
      for (word k = 0; k < in_call; ++k) keys[k] = texts[k] = text(any(i + k));
      must(m.find_batch(std::span<const std::string_view>(keys), std::span(values), std::span(found)) == in_call);
    }
  });
  into[miss] = each(entries, [&] {
    for (word i = 0; i < entries; ++i) must(!m.find(std::string_view(text(entries + i))).has_value());
  });
  into[assign] = each(entries, [&] {
    for (word i = 0; i < entries; ++i) must(!m.insert_or_assign(std::string_view(text(any(i))), i));
  });
  into[insert_erase] = each(entries, [&] {
    for (word i = 0; i < entries; ++i) {
      const text key(entries + i);
      must(m.insert(std::string_view(key), i) && m.erase(std::string_view(key)));
    }
  });
  into[destroy] = each(entries, [&] { space.reset(); });
  return into;
}

template <class Map> void measure_alone(word entries, row& into) {
  const figures all = bench::alone([&] { return measure<Map>(entries); });
  for (unsigned i = 0; i < columns; ++i) into[i].add(all[i]);
}

template <class Engine> struct engine {
  using in_blocks = cubby::map<std::string, word, Engine>;
  using in_malloc = cubby::map<std::string, word, Engine, cubby::hash<std::string>, bench::from_malloc<std::byte>>;
  const char* name;
  row blocks;
  row plain;
  explicit engine(const char* n) : name(n) {}
  void round(word entries) {
    measure_alone<in_malloc>(entries, plain);
    measure_alone<in_blocks>(entries, blocks);
  }
  void print(const char* memory, const row& all) const {
    std::printf("%-12s %-7s", name, memory);
    for (const bench::rounds& one : all) std::printf(" %7.0f", one.median());
    std::printf("\n");
  }
  void print() const {
    print("malloc", plain);
    print("blocks", blocks);
  }
};

} // namespace

int main(int count, char** words) {
  const word entries = bench::number(count, words, 1, 4'000'000);
  const word rounds = bench::number(count, words, 2, 5);
  bench::pin_to_cpu(0);
  engine<cubby::dlht> dlht("dlht");
  engine<cubby::iceberg> iceberg("iceberg");
  engine<cubby::relativistic> relativistic("relativistic");
  for (word r = 0; r < rounds; ++r) {
    dlht.round(entries);
    iceberg.round(entries);
    relativistic.round(entries);
  }
  std::printf("%llu text keys of 12 to 40 bytes, one thread, ns of processor time, medians of %llu rounds\n",
              static_cast<unsigned long long>(entries), static_cast<unsigned long long>(rounds));
  std::printf("%-20s %7s %7s %7s %7s %7s %7s %7s %7s %7s\n", "", "insert", "kernel", "find", "find,32", "miss",
              "upsert", "ins+era", "destroy", "bytes");
  dlht.print();
  iceberg.print();
  relativistic.print();
}
