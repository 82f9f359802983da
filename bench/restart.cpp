// SPDX-License-Identifier: Apache-2.0
// How long a durable_map is away when its process dies: a process fills a table and is killed by SIGKILL, and another one opens it. Beside
// it the same inserts into a map of `iceberg` in memory, with the same number of threads, and how long these threads take to read the bytes of the file.
//   bench_restart FOLDER [words|texts] [entries] [rounds] [threads]
// The file is made in FOLDER and removed. Its pages are in memory, as they are when only the process ends.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include <cubby/durable_map.hpp>
#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rounds.hpp"

namespace {

using word = std::uint64_t;
using clock_type = std::chrono::steady_clock;

struct plan {
  std::string file;
  bool texts = false;
  word entries = 50'000'000;
  word rounds = 3;
  unsigned threads = 2;
};

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "bench_restart: %s\n", what.c_str());
  std::_Exit(2);
}
double seconds_since(clock_type::time_point begin) {
  return std::chrono::duration<double>(clock_type::now() - begin).count();
}

template <class T> T made(word number) {
  if constexpr (std::is_same_v<T, word>) return cubby::mix(number);
  else return "a key of some bytes " + std::to_string(cubby::mix(number));
}

/// Seconds for all inserts.
template <class T, class Map> double fill(const plan& p, Map& m) {
  return bench::together(p.threads, [&](unsigned t) {
    auto handle = m.handle();
    for (word i = p.entries * t / p.threads; i < p.entries * (t + 1) / p.threads; ++i) {
      if (!handle.insert(made<T>(i), i)) give_up("an entry is there twice");
    }
  });
}

cubby::durable_options options_for(const plan& p) {
  cubby::durable_options o;
  o.capacity = p.entries;
  o.survives = cubby::survive::process;
  return o;
}
template <class Map> auto open(const plan& p) {
  auto opened = Map::open(p.file, options_for(p));
  if (!opened) give_up(opened.message());
  return opened;
}

/// The number that `f(tell)` tells in a process of its own. So nothing that one part has left in its memory is in the way of the next: after
/// many small blocks were freed, the next large one makes glibc join them.
template <class F> double in_a_process(int by_signal, F f) {
  int ends[2];
  if (pipe(ends) != 0) give_up(std::strerror(errno));
  const pid_t child = fork();
  if (child < 0) give_up(std::strerror(errno));
  if (child == 0) {
    f([&](double seconds) {
      if (write(ends[1], &seconds, sizeof seconds) != sizeof seconds) give_up("the pipe is closed");
    });
    std::_Exit(0);
  }
  close(ends[1]);
  double seconds = 0;
  const bool told = read(ends[0], &seconds, sizeof seconds) == sizeof seconds;
  close(ends[0]);
  int status = 0;
  if (waitpid(child, &status, 0) != child || !told) give_up("a process has failed");
  if (by_signal != (WIFSIGNALED(status) ? WTERMSIG(status) : 0)) give_up("a process did not end as it should");
  return seconds;
}

/// Its process does not live to close the table.
template <class T> double fill_and_die(const plan& p) {
  return in_a_process(SIGKILL, [&](auto tell) {
    auto table = open<cubby::durable_map<T, word>>(p);
    tell(fill<T>(p, *table));
    (void)raise(SIGKILL);
  });
}
template <class T> double fill_in_memory(const plan& p) {
  return in_a_process(0, [&](auto tell) {
    cubby::map<T, word, cubby::iceberg> beside(cubby::options{.capacity = p.entries});
    tell(fill<T>(p, beside));
  });
}
template <class T> double restart(const plan& p, bool clean) {
  return in_a_process(0, [&](auto tell) {
    const auto begin = clock_type::now();
    auto table = open<cubby::durable_map<T, word>>(p);
    if (table->find(made<T>(0)) != word{0}) give_up("the first entry is lost");
    tell(seconds_since(begin));
    if (table.recovered().clean != clean || table.recovered().entries != p.entries) give_up("entries are lost");
    if (!table->close()) give_up("the table cannot be closed");
  });
}

/// Beside the restarts: the threads add up all words of the file, through a new mapping. The pages are in memory.
double read_bytes(const plan& p) {
  return in_a_process(0, [&](auto tell) {
    const auto begin = clock_type::now();
    const int file = ::open(p.file.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about{};
    if (file < 0 || fstat(file, &about) != 0) give_up(p.file + ": " + std::strerror(errno));
    const auto words = static_cast<std::size_t>(about.st_size) / sizeof(word);
    if (words == 0) give_up(p.file + " is empty");
    void* const at = mmap(nullptr, words * sizeof(word), PROT_READ, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) give_up(p.file + ": " + std::strerror(errno));
    (void)madvise(at, words * sizeof(word), MADV_HUGEPAGE); // a hint
    std::atomic<word> sum{0};
    bench::together(p.threads, [&](unsigned t) {
      word mine = 0;
      for (std::size_t i = words * t / p.threads; i < words * (t + 1) / p.threads; ++i)
        mine += static_cast<const word*>(at)[i];
      sum += mine;
    });
    const double seconds = seconds_since(begin);
    if (sum == 0) give_up(p.file + " has only zeros"); // also: else the compiler would leave the sum out
    tell(seconds);
  });
}

struct figures {
  bench::rounds in_memory, in_file, killed, closed, read;
};

template <class T> void take_turn(const plan& p, figures& out) {
  out.in_memory.add(fill_in_memory<T>(p));
  out.in_file.add(fill_and_die<T>(p));
  out.killed.add(restart<T>(p, false));
  out.closed.add(restart<T>(p, true));
  out.read.add(read_bytes(p));
  std::filesystem::remove(p.file);
}

void print(const plan& p, const figures& f) {
  const double entries = static_cast<double>(p.entries);
  const auto line = [&](const char* name, const bench::rounds& r) {
    std::printf("%-36s %8.3f %4.0f%% %8.2f %8.1f\n", name, r.median(), r.spread(), entries / r.median() * 1e-6,
                f.in_memory.median() / r.median());
  };
  std::printf("%llu entries of %s, %u threads, medians of %llu rounds\n%-36s %8s %5s %8s %8s\n",
              static_cast<unsigned long long>(p.entries), p.texts ? "texts" : "words", p.threads,
              static_cast<unsigned long long>(p.rounds), "", "seconds", "+-", "M/s", "x");
  line("insert, iceberg in memory", f.in_memory);
  line("insert, durable_map, process", f.in_file);
  line("open after SIGKILL, first answer", f.killed);
  line("open after close, first answer", f.closed);
  line("the bytes of the file, read", f.read);
}

template <class T> void run(const plan& p) {
  figures all;
  for (word round = 0; round < p.rounds; ++round) take_turn<T>(p, all);
  print(p, all);
}

} // namespace

int main(int count, char** words) {
  plan p;
  if (count < 2 || !std::filesystem::is_directory(words[1])) give_up("give a folder that exists");
  p.file = std::string(words[1]) + "/bench_restart." + std::to_string(getpid());
  p.texts = bench::says(count, words, "texts");
  const int numbers = p.texts || bench::says(count, words, "words") ? 3 : 2;
  p.entries = bench::number(count, words, numbers, p.texts ? 10'000'000 : p.entries);
  p.rounds = bench::number(count, words, numbers + 1, p.rounds);
  p.threads = static_cast<unsigned>(bench::number(count, words, numbers + 2, p.threads));
  if (p.entries == 0 || p.rounds == 0 || p.threads == 0) give_up("give an entry, a round and a thread, or more");
  if (p.texts) run<std::string>(p);
  else run<word>(p);
  return 0;
}
