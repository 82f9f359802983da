// SPDX-License-Identifier: Apache-2.0
// Inserts, lookups and both mixed in files, with a sync 10 ms after the last one: durable_map beside LMDB and RocksDB. Each way says
// what it promises between syncs. All threads of all stores do the same; one more thread syncs.
//   bench_stores FOLDER words|texts [seconds] [rounds] [threads] [entries] [series.tsv]
// FOLDER is on the medium to measure. A load ends with the entries or the seconds, and with a sync. The rest
// of the entries is loaded before the next phase, and not measured. `texts` are keys of 12 to 40 bytes
// with values of 100. The series has the operations of each tenth of a second of the first round; series.gp draws it.
#include "store.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>

#include <cubby/hash.hpp>

#include <unistd.h>

#include "made_texts.hpp"
#include "rounds.hpp"

namespace bench::stores {

void give_up(const std::string& what) {
  std::fprintf(stderr, "bench_stores: %s\n", what.c_str());
  std::_Exit(2);
}

namespace {

using clock = std::chrono::steady_clock;
constexpr auto between_syncs = std::chrono::milliseconds(10);
constexpr auto window = std::chrono::milliseconds(100);

struct plan {
  std::string folder;
  bool words = true;
  double seconds = 10;
  std::uint64_t rounds = 3;
  unsigned threads = 2;
  std::uint64_t entries = 4'000'000;
  std::FILE* series = nullptr;
  bool draws = false; // this round is in the series
};

/// The key and the value of a number.
class contents {
public:
  explicit contents(bool words) : words_(words), text_(words ? nullptr : text_of_kind("12-40")), value_(100, 'v') {}
  std::string_view key(std::uint64_t number) {
    if (!words_) return made_ = text_(number, 1);
    word_ = cubby::mix(number);
    return {reinterpret_cast<const char*>(&word_), sizeof word_};
  }
  std::string_view value(std::uint64_t number) {
    if (words_) value_.resize(sizeof number);
    std::memcpy(value_.data(), &number, sizeof number);
    return value_;
  }

private:
  bool words_;
  text_of_number text_;
  std::string made_;
  std::uint64_t word_ = 0;
  std::string value_;
};

struct alignas(64) counted {
  std::atomic<std::uint64_t> done{0};
};

/// What one phase of one store did in one round.
struct outcome {
  double rate = 0;         // operations a second, the last sync included
  double syncs = 0;        // a second
  double longest_sync = 0; // seconds
  std::uint64_t done = 0;
  std::vector<std::uint64_t> by_thread;
};

/// Syncs, and notes the operations of each window, until the threads have ended.
class companion {
public:
  companion(const plan& p, store& s, const char* name, const char* phase, std::vector<counted>& counts)
      : plan_(p), store_(s), name_(name), phase_(phase), counts_(counts) {
    if (p.draws) notes_ = std::thread([this] { note(); });
  }
  void sync_until(const std::atomic<unsigned>& running, outcome& out) {
    const auto begin = clock::now();
    while (running.load() != 0) {
      std::this_thread::sleep_for(between_syncs);
      sync(out);
    }
    sync(out);
    const double seconds = std::chrono::duration<double>(clock::now() - begin).count();
    over_ = true;
    if (notes_.joinable()) notes_.join();
    out.done = sum();
    for (const counted& c : counts_) out.by_thread.push_back(c.done.load());
    out.rate = static_cast<double>(out.done) / seconds;
    out.syncs /= seconds;
  }

private:
  void sync(outcome& out) {
    const auto begin = clock::now();
    store_.sync();
    out.longest_sync = std::max(out.longest_sync, std::chrono::duration<double>(clock::now() - begin).count());
    ++out.syncs;
  }
  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t out = 0;
    for (const counted& c : counts_) out += c.done.load(std::memory_order_relaxed); // relaxed: a statistic
    return out;
  }
  void note() {
    std::uint64_t before = 0;
    const auto begin = clock::now();
    for (auto next = begin + window; !over_.load(); next += window) {
      std::this_thread::sleep_until(next);
      const std::uint64_t now = sum();
      std::fprintf(plan_.series, "%s\t%s\t%.1f\t%.0f\n", name_, phase_,
                   std::chrono::duration<double>(next - begin).count(),
                   static_cast<double>(now - before) / std::chrono::duration<double>(window).count());
      before = now;
    }
  }

  const plan& plan_;
  store& store_;
  const char* name_;
  const char* phase_;
  std::vector<counted>& counts_;
  std::thread notes_;
  std::atomic<bool> over_{false};
};

/// `step(thread, i)` again and again on each thread until it returns false or the seconds are over.
template <class Step>
outcome run_phase(const plan& p, store& s, const char* name, const char* phase, Step step) {
  std::vector<counted> counts(p.threads);
  std::atomic<unsigned> running{p.threads};
  const auto end = clock::now() + std::chrono::duration<double>(p.seconds);
  companion beside(p, s, name, phase, counts);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < p.threads; ++t) {
    threads.emplace_back([&, t] {
      contents mine(p.words);
      std::string got;
      std::uint64_t i = 0;
      while (step(t, i, mine, got)) {
        counts[t].done.store(++i, std::memory_order_relaxed); // relaxed: a statistic
        if (i % 16 == 0 && clock::now() >= end) break;
      }
      running.fetch_sub(1);
    });
  }
  outcome out;
  beside.sync_until(running, out);
  for (std::thread& t : threads) t.join();
  return out;
}

outcome load(const plan& p, store& s, const char* name) {
  return run_phase(p, s, name, "load", [&](unsigned t, std::uint64_t i, contents& c, std::string&) {
    const std::uint64_t number = i * p.threads + t;
    if (number >= p.entries) return false;
    s.put(c.key(number), c.value(number));
    return true;
  });
}
/// The rest of the entries, which nobody measures: lookups and changes then have the same table in each store.
void complete(plan p, store& s, const char* name, const outcome& loaded) {
  p.seconds = 3600;
  p.draws = false;
  (void)run_phase(p, s, name, "rest", [&](unsigned t, std::uint64_t i, contents& c, std::string&) {
    const std::uint64_t number = (loaded.by_thread[t] + i) * p.threads + t;
    if (number >= p.entries) return false;
    s.put(c.key(number), c.value(number));
    return true;
  });
}
/// Of all entries; `changes` in 256 of the calls are changes, which write the value that is there.
outcome use(const plan& p, store& s, const char* name, const char* phase, unsigned changes) {
  std::vector<random_numbers> random;
  std::vector<random_numbers> coins;
  for (unsigned t = 0; t < p.threads; ++t) {
    random.emplace_back(t + 1, p.entries);
    coins.emplace_back(t + 101, 256);
  }
  return run_phase(p, s, name, phase, [&, changes](unsigned t, std::uint64_t, contents& c, std::string& got) {
    const std::uint64_t number = random[t].next();
    const bool change = coins[t].next() < changes;
    if (change) s.put(c.key(number), c.value(number));
    else if (!s.get(c.key(number), got) || got.size() != (p.words ? 8 : 100))
      give_up(std::string(name) + " lost an entry");
    return true;
  });
}

struct row {
  rounds rate, syncs;
  double longest_sync = 0;
  void add(const outcome& o) {
    rate.add(o.rate);
    syncs.add(o.syncs);
    longest_sync = std::max(longest_sync, o.longest_sync);
  }
};
struct rows {
  row load, get, mixed;
  std::uint64_t bytes = 0;
};

std::uint64_t bytes_in(const std::string& folder) {
  std::uint64_t out = 0;
  for (const auto& one : std::filesystem::directory_iterator(folder)) out += one.file_size();
  return out;
}

void take_turn(const plan& p, const kind& k, rows& out) {
  settings s;
  s.folder = p.folder + "/bench_stores." + std::to_string(getpid());
  s.entries = p.entries;
  s.words = p.words;
  std::filesystem::create_directory(s.folder);
  {
    const auto store = k.open(s);
    const outcome loaded = load(p, *store, k.name);
    out.load.add(loaded);
    complete(p, *store, k.name, loaded);
    out.get.add(use(p, *store, k.name, "get", 0));
    out.mixed.add(use(p, *store, k.name, "mixed", 128));
    out.bytes = bytes_in(s.folder);
  }
  std::filesystem::remove_all(s.folder);
}

void print(const plan& p, const kind& k, const rows& r) {
  const auto line = [&](const char* phase, const row& of) {
    std::printf("%-12s %-6s %10.0f %5.0f%% %8.1f %9.0f\n", k.name, phase, of.rate.median(), of.rate.spread(),
                of.syncs.median(), of.longest_sync * 1e3);
  };
  line("load", r.load);
  line("get", r.get);
  line("mixed", r.mixed);
  std::printf("%-12s %.2f M entries, %.0f bytes of files an entry; between syncs: %s\n", k.name,
              static_cast<double>(p.entries) * 1e-6, static_cast<double>(r.bytes) / static_cast<double>(p.entries),
              k.promise);
}

std::vector<kind> all_kinds() {
  std::vector<kind> out = cubby_kinds();
  for (const auto& others : {lmdb_kinds(), rocksdb_kinds()}) {
    if (others.empty()) std::fprintf(stderr, "bench_stores: built without a rival; see docs/performance/durable.md\n");
    out.insert(out.end(), others.begin(), others.end());
  }
  return out;
}

} // namespace

void run(plan p) {
  const std::vector<kind> kinds = all_kinds();
  std::vector<rows> all(kinds.size());
  for (std::uint64_t round = 0; round < p.rounds; ++round) {
    p.draws = round == 0 && p.series != nullptr;
    for (std::size_t k = 0; k < kinds.size(); ++k) take_turn(p, kinds[k], all[k]);
  }
  std::printf("%s, %u threads, %.0f s a phase at most, medians of %llu rounds; longest: ms of the longest sync\n"
              "%-12s %-6s %10s %6s %8s %9s\n",
              p.words ? "words" : "texts", p.threads, p.seconds, static_cast<unsigned long long>(p.rounds), "", "",
              "ops/s", "+-", "syncs/s", "longest");
  for (std::size_t k = 0; k < kinds.size(); ++k) print(p, kinds[k], all[k]);
}

} // namespace bench::stores

int main(int count, char** words) {
  bench::stores::plan p;
  const bool texts = bench::says(count, words, "texts");
  if (count < 3 || (!texts && !bench::says(count, words, "words")) || !std::filesystem::is_directory(words[1]))
    bench::stores::give_up("give a folder that exists, and words or texts");
  p.folder = words[1];
  p.words = !texts;
  p.seconds = static_cast<double>(bench::number(count, words, 3, 10));
  p.rounds = bench::number(count, words, 4, p.rounds);
  p.threads = static_cast<unsigned>(bench::number(count, words, 5, p.threads));
  p.entries = bench::number(count, words, 6, p.entries);
  if (p.seconds < 1 || p.rounds == 0 || p.threads == 0 || p.entries < 1000)
    bench::stores::give_up("give a second, a round, a thread and 1000 entries, or more");
  if (count > 7 && (p.series = std::fopen(words[7], "w")) == nullptr)
    bench::stores::give_up(std::string(words[7]) + ": " + std::strerror(errno));
  bench::stores::run(p);
  if (p.series != nullptr && std::fclose(p.series) != 0)
    bench::stores::give_up(std::string(words[7]) + ": " + std::strerror(errno));
  return 0;
}
