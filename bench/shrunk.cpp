// SPDX-License-Identifier: Apache-2.0
// What a table holds after nine tenths of its entries were erased and it has shrunk, beside a fresh table of the same
// content. The bytes are those of the table's own count, of the kernel's, and of the kernel's after malloc was asked to
// return what is free. A process of its own for each, since malloc keeps what a table before it has freed. Erased are
// random entries, or the oldest ones: nodes do not move, so what stays of random ones lies scattered over the pages.
//   bench_shrunk [entries]
#include <cstdio>
#include <cstdlib>

#include <cubby/map.hpp>
#include <cubby/relativistic.hpp>

#include "machine.hpp"
#include "rounds.hpp"

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

struct footprint {
  std::size_t entries = 0;
  std::size_t counted = 0;  // the table's own figure
  std::size_t resident = 0; // the process's growth
  std::size_t trimmed = 0;  // the same after malloc_trim
};

enum class survivors { random, youngest };

/// One entry in ten stays.
bool stays(std::uint64_t key, std::uint64_t entries, survivors which) {
  return which == survivors::youngest ? key >= entries - entries / 10 : cubby::mix(key, 1) % 10 == 0;
}

/// `fresh`: nothing but the survivors was ever inserted.
template <class Engine> footprint measure(std::uint64_t entries, survivors which, bool fresh) {
  const std::size_t before = bench::resident_now().bytes;
  cubby::map<std::uint64_t, std::uint64_t, Engine> map;
  auto handle = map.handle();
  for (std::uint64_t i = 0; i < entries; ++i) {
    if (!fresh || stays(i, entries, which)) handle.insert(i, i);
  }
  for (std::uint64_t i = 0; i < entries && !fresh; ++i) {
    if (!stays(i, entries, which)) handle.erase(i);
  }
  if (!map.shrink_to_fit()) std::abort();
  // Retired memory is freed at the next look, because no thread reads.
  for (int i = 0; i < 1000 && (map.stats().retired != 0 || map.stats().migrating); ++i) {
    handle.insert(entries, 0);
    handle.erase(entries);
    if (!map.shrink_to_fit()) std::abort();
  }
  footprint f;
  f.entries = map.size();
  f.counted = map.stats().bytes;
  f.resident = bench::resident_now().bytes - before;
  ::malloc_trim(0);
  f.trimmed = bench::resident_now().bytes - before;
  return f;
}

using measurement = footprint (*)(std::uint64_t, survivors, bool);

footprint in_a_child(measurement what, std::uint64_t entries, survivors which, bool fresh) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  const pid_t child = ::fork();
  if (child < 0) std::abort();
  if (child == 0) {
    const footprint f = what(entries, which, fresh);
    ::_exit(::write(ends[1], &f, sizeof f) == sizeof f ? 0 : 1);
  }
  ::close(ends[1]);
  footprint f;
  int status = 0;
  const bool told = ::read(ends[0], &f, sizeof f) == sizeof f;
  ::close(ends[0]);
  if (::waitpid(child, &status, 0) != child || status != 0 || !told) std::abort();
  return f;
}

void print(const char* name, const char* what, const footprint& f) {
  const auto each = [&f](std::size_t bytes) { return static_cast<double>(bytes) / static_cast<double>(f.entries); };
  std::printf("%-14s %-26s %10zu %10.1f %10.1f %10.1f\n", name, what, f.entries, each(f.counted), each(f.resident),
              each(f.trimmed));
}

void compare(const char* name, measurement what, std::uint64_t entries, survivors which) {
  const footprint fresh = in_a_child(what, entries, which, true);
  const footprint shrunk = in_a_child(what, entries, which, false);
  print(name, "fresh", fresh);
  print("", which == survivors::random ? "random entries erased" : "oldest entries erased", shrunk);
  const auto ratio = [](std::size_t a, std::size_t b) { return static_cast<double>(a) / static_cast<double>(b); };
  std::printf("%-14s %-26s %10s %10.2f %10.2f %10.2f\n", "", "ratio", "", ratio(shrunk.counted, fresh.counted),
              ratio(shrunk.resident, fresh.resident), ratio(shrunk.trimmed, fresh.trimmed));
}

} // namespace

int main(int count, char** words) {
  const std::uint64_t entries = bench::number(count, words, 1, 10'000'000);
  if (entries < 100) return 2;
  std::printf("bytes an entry %26s %10s %10s %10s %10s\n", "", "entries", "counted", "resident", "trimmed");
  for (const survivors which : {survivors::random, survivors::youngest}) {
    compare("relativistic", measure<cubby::relativistic>, entries, which);
    compare("dlht", measure<cubby::dlht>, entries, which);
  }
  return 0;
}
