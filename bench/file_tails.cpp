// SPDX-License-Identifier: Apache-2.0
// Tables in files with records of 16 bytes and 16: `seph` beside `iceberg`, in turns. The rate of inserts while the table grows by itself; then, into
// another file, how long each insert takes, with looks at the clock. Then lookups, how long a closed file takes to open, and erases. At last
// the rate of the same inserts into that file, whose pages are at hand. Growth of `iceberg` is `incremental`.
//   bench_file_tails FOLDER [process|line] [entries] [threads] [rounds]
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <cubby/durable_map.hpp>
#include <cubby/seph.hpp>

#include "clock.hpp"
#include "histogram.hpp"
#include "rounds.hpp"

namespace {

using word = std::uint64_t;
using sixteen = std::array<word, 2>;

struct plan {
  std::string folder;
  bool lines = false;
  word entries = 4'000'000;
  unsigned threads = 2;
  word rounds = 3;
};

sixteen key_of(word number) { return {cubby::mix(number), number}; }
void must(bool done) {
  if (!done) std::abort();
}

struct figures {
  bench::rounds insert, p50, p99, p999, p9999, longest, find, erase, open, bytes, again;
};

/// `f(thread, first, last)` in each thread, over its share. Million entries a second.
template <class F> double rate(const plan& p, F f) {
  const double seconds =
      bench::together(p.threads, [&](unsigned t) { f(t, p.entries * t / p.threads, p.entries * (t + 1) / p.threads); });
  return static_cast<double>(p.entries) / seconds * 1e-6;
}

template <class Engine> using map = cubby::durable_map<sixteen, sixteen, cubby::hash<sixteen>, Engine>;

template <class Map> std::unique_ptr<Map> must_open(const plan& p, const std::string& path) {
  cubby::durable_options wanted;
  wanted.survives = cubby::survive::process;
  wanted.write_lines_back = p.lines;
  auto made = Map::open(path, wanted);
  if (!made) {
    std::fprintf(stderr, "bench_file_tails: %s\n", made.message());
    std::exit(2);
  }
  return made.take();
}

/// Times each call of `make(thread)`, a function of the number of an entry.
template <class Make> void time_calls(const plan& p, figures& out, Make make) {
  std::vector<std::unique_ptr<bench::histogram>> times;
  for (unsigned t = 0; t < p.threads; ++t) times.push_back(std::make_unique<bench::histogram>());
  (void)rate(p, [&](unsigned t, word first, word last) {
    auto call = make();
    for (word i = first; i < last; ++i) {
      const word before = bench::ticks_before();
      const bool done = call(i);
      times[t]->add(bench::ticks_after() - before);
      must(done);
    }
  });
  for (unsigned t = 1; t < p.threads; ++t) times[0]->merge(*times[t]);
  const auto at = [&](double share) {
    return static_cast<double>(times[0]->at_share(share)) * bench::nanoseconds_per_tick();
  };
  out.p50.add(at(0.5));
  out.p99.add(at(0.99));
  out.p999.add(at(0.999));
  out.p9999.add(at(0.9999));
  out.longest.add(at(1));
}

/// What the machine adds to calls of that length: threads that look at the clock until it is over.
inline constexpr double waited_nanoseconds = 500;
void wait_as_long(const plan& p, figures& out) {
  const auto ticks = static_cast<word>(waited_nanoseconds / bench::nanoseconds_per_tick());
  time_calls(p, out, [&] {
    return [ticks](word) {
      const word before = bench::ticks_before();
      while (bench::ticks_after() - before < ticks) {
      }
      return true;
    };
  });
}

template <class Map> double insert_all(const plan& p, Map& m) {
  return rate(p, [&](unsigned, word first, word last) {
    auto h = m.handle();
    for (word i = first; i < last; ++i) must(static_cast<bool>(h.insert(key_of(i), key_of(i))));
  });
}
template <class Engine> void fill(const plan& p, const std::string& path, figures& out) {
  std::filesystem::remove(path);
  out.insert.add(insert_all(p, *must_open<map<Engine>>(p, path)));
}

template <class Engine> void take_turn(const plan& p, figures& out) {
  const std::string path = p.folder + "/bench_file_tails.cubby";
  fill<Engine>(p, path, out);
  std::filesystem::remove(path);
  auto m = must_open<map<Engine>>(p, path);
  time_calls(p, out, [&] {
    return [h = m->handle()](word i) mutable { return static_cast<bool>(h.insert(key_of(i), key_of(i))); };
  });
  out.find.add(rate(p, [&](unsigned, word first, word last) {
    auto h = m->handle();
    for (word i = first; i < last; ++i) must(h.find(key_of(i * 7 % p.entries)).has_value());
  }));
  const auto stats = m->stats();
  out.bytes.add(static_cast<double>(stats.file_bytes + stats.bytes) / static_cast<double>(p.entries));
  must(m->close());
  m.reset();
  const double begin = bench::seconds_now();
  m = must_open<map<Engine>>(p, path);
  must(m->size() == p.entries);
  out.open.add(bench::seconds_now() - begin);
  out.erase.add(rate(p, [&](unsigned, word first, word last) {
    auto h = m->handle();
    for (word i = first; i < last; ++i) must(h.erase(key_of(i)));
  }));
  out.again.add(insert_all(p, *m));
  m.reset();
  std::filesystem::remove(path);
}

void print(const char* name, const figures& f) {
  std::printf("%-8s %7.2f %4.0f%% %6.0f %7.0f %8.0f %9.0f %4.0f%% %8.2f %7.2f %7.2f %7.2f %7.0f %7.2f\n", name,
              f.insert.median(), f.insert.spread(), f.p50.median(), f.p99.median(), f.p999.median(), f.p9999.median(),
              f.p9999.spread(), f.longest.median() * 1e-6, f.find.median(), f.erase.median(), f.open.median(),
              f.bytes.median(), f.again.median());
}

} // namespace

int main(int count, char** words) {
  plan p;
  const std::string_view domain = count > 2 ? words[2] : "process";
  p.lines = domain == "line";
  p.entries = bench::number(count, words, 3, p.entries);
  p.threads = static_cast<unsigned>(bench::number(count, words, 4, p.threads));
  p.rounds = bench::number(count, words, 5, p.rounds);
  if (count < 2 || (domain != "process" && domain != "line") || p.entries < 1000 || p.threads == 0 || p.rounds == 0) {
    std::fprintf(stderr,
                 "bench_file_tails: give a folder, process or line, 1000 entries or more, a thread and a round\n");
    return 2;
  }
  p.folder = words[1];
  figures iceberg, seph, waits;
  for (word round = 0; round < p.rounds; ++round) {
    take_turn<cubby::iceberg>(p, iceberg);
    take_turn<cubby::seph>(p, seph);
    wait_as_long(p, waits);
  }
  std::printf("%zu entries of 16 and 16 bytes in %s, %.*s, %u threads, medians of %zu rounds; Mops/s, ns with two "
              "looks at the clock, longest: ms, "
              "open: s, bytes an entry in file and memory\n%-8s %7s %5s %6s %7s %8s %9s %5s %8s %7s %7s %7s %7s %7s\n",
              static_cast<std::size_t>(p.entries), p.folder.c_str(), static_cast<int>(domain.size()), domain.data(),
              p.threads, static_cast<std::size_t>(p.rounds), "", "insert", "+-", "p50", "p99", "p99.9", "p99.99", "+-",
              "longest", "find", "erase", "open", "bytes", "again");
  print("iceberg", iceberg);
  print("seph", seph);
  std::printf("seph over iceberg: p99.99 %.2f, longest %.2f, insert %.2f, find %.2f\n",
              seph.p9999.median() / iceberg.p9999.median(), seph.longest.median() / iceberg.longest.median(),
              seph.insert.median() / iceberg.insert.median(), seph.find.median() / iceberg.find.median());
  std::printf("a wait of 0.5 us in place of an insert: p99.9 %.0f, p99.99 %.0f, longest %.2f\n", waits.p999.median(),
              waits.p9999.median(), waits.longest.median() * 1e-6);
  return 0;
}
