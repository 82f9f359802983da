// SPDX-License-Identifier: Apache-2.0
// YCSB over records of 16 bytes and 16 in files (section 4.3 of the paper on SEPH): durable_map of `seph` and of `iceberg` beside LMDB and RocksDB at
// the same promise. Load, A, B, C, F and D follow each other in one store that begins small. The figures are windows of 10 ms.
//   bench_ycsb FOLDER process|line|page [entries] [seconds] [rounds] [threads]
// `process`: nobody syncs. `line`: each change is durable when it returns. `page`: one more thread syncs, 10 ms after its last sync.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <thread>

#include <unistd.h>

#include "clock.hpp"
#include "record_store.hpp"
#include "rounds.hpp"
#include "streams.hpp"

namespace bench::stores {

void give_up(const std::string& what) {
  std::fprintf(stderr, "bench_ycsb: %s\n", what.c_str());
  std::_Exit(2);
}

namespace {

using key_type = block<16>;
constexpr double window_seconds = 0.01;
constexpr auto between_syncs = std::chrono::milliseconds(10);
constexpr std::size_t operations_of_a_thread = std::size_t{4} << 20;

struct plan {
  std::string folder;
  surviving what = surviving::process;
  std::uint64_t entries = 2'000'000;
  double seconds = 3; // of a phase, at most
  std::uint64_t rounds = 3;
  unsigned threads = 2;
};

struct phase {
  const char* name;
  bench::kind what;
};
// D goes last, because it adds entries.
constexpr phase phases[] = {{"load", bench::kind::populate}, {"A", bench::kind::ycsb_a}, {"B", bench::kind::ycsb_b},
                            {"C", bench::kind::ycsb_c},      {"F", bench::kind::ycsb_f}, {"D", bench::kind::ycsb_d}};
constexpr std::size_t phase_count = std::size(phases);

/// Operations by the window in which they ended. A window without any is one, too.
class windows {
public:
  void add(double seconds, std::uint64_t count) {
    const auto at = static_cast<std::size_t>(seconds / window_seconds);
    if (at >= counts_.size()) counts_.resize(at + 1);
    counts_[at] += count;
  }
  /// Those in which all threads ran from begin to end: the last one of the thread that ended first does not count, nor do those behind it.
  static std::vector<double> rates(const std::vector<windows>& of_threads) {
    std::size_t whole = of_threads[0].counts_.size();
    for (const windows& one : of_threads) whole = std::min(whole, one.counts_.size());
    std::vector<double> out;
    for (std::size_t i = 1; i + 1 < whole; ++i) {
      double sum = 0;
      for (const windows& one : of_threads) sum += static_cast<double>(one.counts_[i]);
      out.push_back(sum / window_seconds);
    }
    return out;
  }

private:
  std::vector<std::uint64_t> counts_;
};

std::string_view bytes_of(const key_type& key) { return {reinterpret_cast<const char*>(&key), sizeof key}; }

/// One thread's operations on a store. Each value begins with the first word of its key, so each answer is checked.
class client {
public:
  client(store& s, const char* name) : store_(s), name_(name) {}
  void run(verb what, const key_type& key) {
    if (what != verb::insert && what != verb::assign) get(key);
    if (what != verb::find) put(key);
  }

private:
  void get(const key_type& key) {
    if (!store_.get(bytes_of(key), got_) || got_.size() != sizeof key ||
        std::memcmp(got_.data(), key.words.data(), sizeof key.words[0]) != 0)
      give_up(std::string(name_) + " gave a wrong answer");
  }
  void put(const key_type& key) { store_.put(bytes_of(key), bytes_of(key_type{{key.words[0], ++number_}})); }

  store& store_;
  const char* name_;
  std::string got_;
  std::uint64_t number_ = 0;
};

/// Syncs until the threads have ended.
void sync_beside(store& s, const std::atomic<unsigned>& running) {
  while (running.load() != 0) {
    std::this_thread::sleep_for(between_syncs);
    s.sync();
  }
}

struct figures {
  bench::rounds lowest, mean, highest;
  void add(const std::vector<double>& rates) {
    if (rates.size() < 3) give_up("a phase has fewer than three windows; give more entries");
    lowest.add(*std::min_element(rates.begin(), rates.end()) * 1e-6);
    highest.add(*std::max_element(rates.begin(), rates.end()) * 1e-6);
    mean.add(std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size()) * 1e-6);
  }
};

void run_phase(const plan& p, store& s, const char* name, const typed_streams<key_type>& ops, figures& out) {
  std::vector<windows> counts(p.threads);
  std::atomic<unsigned> running{p.threads};
  std::thread syncs;
  if (p.what == surviving::page) syncs = std::thread([&] { sync_beside(s, running); });
  const double begin = seconds_now();
  (void)together(p.threads, [&](unsigned t) {
    constexpr std::size_t slice = 16; // operations between two looks at the clock
    const stream<key_type>& mine = ops.threads[t];
    client one(s, name);
    double now = seconds_now() - begin;
    for (std::size_t i = 0; i < mine.keys.size() && now < p.seconds;) {
      const std::size_t end = std::min(mine.keys.size(), i + slice);
      const std::uint64_t count = end - i;
      for (; i < end; ++i) one.run(mine.verbs.empty() ? verb::find : mine.verbs[i], mine.keys[i]);
      counts[t].add(now = seconds_now() - begin, count);
    }
    running.fetch_sub(1);
  });
  if (syncs.joinable()) syncs.join();
  if (p.what == surviving::page) s.sync();
  out.add(windows::rates(counts));
}

/// The load without limit of time: the other phases ask for all entries.
void take_turn(plan p, const stores::kind& k, const key_set<key_type>& keys, std::array<figures, phase_count>& out) {
  settings s;
  s.folder = p.folder + "/bench_ycsb." + std::to_string(getpid());
  s.entries = p.entries;
  s.each = p.what == surviving::line;
  std::filesystem::create_directory(s.folder);
  {
    const auto store = k.open(s);
    const double seconds = p.seconds;
    for (std::size_t i = 0; i < phase_count; ++i) {
      const auto made = make_streams(keys, {{phases[i].what, 0}, p.threads, 0, operations_of_a_thread, 1});
      p.seconds = i == 0 ? 1e9 : seconds;
      run_phase(p, *store, k.name, static_cast<const typed_streams<key_type>&>(*made), out[i]);
    }
  }
  std::filesystem::remove_all(s.folder);
}

std::vector<stores::kind> all_kinds(surviving what) {
  std::vector<stores::kind> out = record_kinds(what);
  for (auto others : {lmdb_kinds(), rocksdb_kinds()}) {
    if (others.empty()) std::fprintf(stderr, "bench_ycsb: built without a rival; see docs/performance/durable.md\n");
    else out.push_back(others.front()); // a transaction for each change; the log
  }
  return out;
}

} // namespace

void run(const plan& p) {
  const std::vector<stores::kind> kinds = all_kinds(p.what);
  const key_set<key_type> keys(p.entries, 1);
  std::vector<std::array<figures, phase_count>> all(kinds.size());
  for (std::uint64_t round = 0; round < p.rounds; ++round)
    for (std::size_t k = 0; k < kinds.size(); ++k) take_turn(p, kinds[k], keys, all[k]);
  std::printf("%llu entries of 16 and 16 bytes, %u threads, %.0f s a phase at most, medians of %llu rounds; windows of "
              "10 ms, Mops/s\ncubby: %s\n%-8s %5s %9s %9s %5s %9s\n",
              static_cast<unsigned long long>(p.entries), p.threads, p.seconds,
              static_cast<unsigned long long>(p.rounds), kinds.front().promise, "", "", "lowest", "mean", "+-",
              "highest");
  for (std::size_t i = 0; i < phase_count; ++i)
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      const figures& f = all[k][i];
      std::printf("%-8s %5s %9.3f %9.3f %4.0f%% %9.3f\n", kinds[k].name, phases[i].name, f.lowest.median(),
                  f.mean.median(), f.mean.spread(), f.highest.median());
    }
}

} // namespace bench::stores

int main(int count, char** words) {
  bench::stores::plan p;
  const std::string_view what = count > 2 ? words[2] : "";
  if (what == "line") p.what = bench::stores::surviving::line;
  else if (what == "page") p.what = bench::stores::surviving::page;
  else if (what != "process") bench::stores::give_up("give a folder, and process, line or page");
  if (!std::filesystem::is_directory(words[1])) bench::stores::give_up("give a folder that exists");
  p.folder = words[1];
  p.entries = bench::number(count, words, 3, p.entries);
  p.seconds = static_cast<double>(bench::number(count, words, 4, 3));
  p.rounds = bench::number(count, words, 5, p.rounds);
  p.threads = static_cast<unsigned>(bench::number(count, words, 6, p.threads));
  if (p.entries < 10000 || p.seconds < 1 || p.rounds == 0 || p.threads == 0)
    bench::stores::give_up("give 10000 entries, a second, a round and a thread, or more");
  bench::stores::run(p);
  return 0;
}
