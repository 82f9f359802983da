// SPDX-License-Identifier: Apache-2.0
// Lookups while the table is resized without pause between two sizes, beside the same at each size at rest (figures 3 to 7 of
// the relativistic paper). The tables are the relativistic engine, DDDS and a reader-writer lock. They have the same nodes and
// the same hash, and take turns in every round.
//   bench_resizes [readers] [milliseconds] [rounds] [entries] [buckets] [microseconds of sleep after each resize]
#include "resizes.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <cubby/map.hpp>
#include <cubby/relativistic.hpp>

namespace {

namespace relativistic = cubby::detail::engines::relativistic;
using clock_type = std::chrono::steady_clock;

struct plan {
  unsigned readers = 2;
  unsigned milliseconds = 500;
  unsigned rounds = 3;
  std::uint64_t entries = 65536;
  std::uint64_t buckets = 8192; // and twice as many
  std::chrono::microseconds pause{0};
};

/// The engine's table, resized by hand: its policy would not let chains be as long as the paper's.
class relativistic_table {
public:
  relativistic_table(std::uint64_t buckets, std::uint64_t entries) : table_(settings(buckets), codec({}, {}, 0)) {
    if (!relativistic::open(table_)) std::abort();
    table_.bound = ~std::uint64_t{0};
    cubby::detail::thread_record& mine = *cubby::detail::registry::local();
    const cubby::detail::thread_pin inside(mine);
    for (std::uint64_t i = 0; i < entries; ++i) {
      if (relativistic::insert(table_, table_.policy.probe_of(i), i).outcome != cubby::outcome::inserted) std::abort();
    }
  }
  relativistic_table(const relativistic_table&) = delete;
  relativistic_table& operator=(const relativistic_table&) = delete;
  ~relativistic_table() { relativistic::close(table_); }

  class reader {
  public:
    explicit reader(relativistic_table& t) : table_(t.table_), thread_record_(*cubby::detail::registry::local()) {}
    bool find(std::uint64_t key, std::uint64_t& value) {
      const cubby::detail::thread_pin inside(thread_record_);
      const cubby::detail::found_word got = relativistic::find(table_, table_.policy.probe_of(key));
      value = got.word;
      return got.found;
    }

  private:
    using table = relativistic::table<
        cubby::detail::codec<std::uint64_t, std::uint64_t, cubby::hash<std::uint64_t>, std::allocator<std::byte>>>;
    table& table_;
    cubby::detail::thread_record& thread_record_;
  };

  void resize(std::uint64_t buckets) {
    if (!relativistic::begin_resize(table_, buckets)) std::abort();
    cubby::rcu::reader_backoff wait;
    for (;;) {
      const relativistic::progress how = relativistic::work_on(table_, ~std::uint64_t{0});
      if (how == relativistic::progress::idle) return;
      if (how == relativistic::progress::more) wait = cubby::rcu::reader_backoff();
      else wait.pause();
    }
  }

private:
  using codec =
      cubby::detail::codec<std::uint64_t, std::uint64_t, cubby::hash<std::uint64_t>, std::allocator<std::byte>>;
  static cubby::relativistic::options settings(std::uint64_t buckets) {
    cubby::relativistic::options o;
    o.capacity = buckets;
    o.growth = cubby::growth_policy::fixed;
    return o;
  }
  relativistic::table<codec> table_;
};

struct figure {
  double mops = 0;
  double resizes = 0; // a second
  std::uint64_t missed = 0;
};

/// Back and forth between so many buckets and twice as many; how often.
template <class Table>
std::uint64_t resize_until(clock_type::time_point end, Table& table, std::uint64_t buckets,
                           std::chrono::microseconds pause) {
  std::uint64_t resizes = 0;
  while (clock_type::now() < end) {
    table.resize(resizes++ % 2 == 0 ? buckets * 2 : buckets);
    if (pause.count() != 0) std::this_thread::sleep_for(pause);
  }
  return resizes;
}

/// Readers look up keys that are there, at random, for the time of the plan; a further thread may resize.
template <class Table> figure measure(const plan& p, std::uint64_t buckets, bool resizing) {
  Table table(buckets, p.entries);
  std::atomic<bool> go{false};
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> found{0};
  std::atomic<std::uint64_t> missed{0};
  std::vector<std::thread> threads;
  for (unsigned r = 0; r < p.readers; ++r) {
    threads.emplace_back([&, r] {
      typename Table::reader reader(table);
      std::uint64_t state = r + 1;
      std::uint64_t hits = 0;
      std::uint64_t misses = 0;
      while (!go.load()) std::this_thread::yield();
      while (!stop.load(std::memory_order_relaxed)) { // a request to end; the join orders the rest
        for (unsigned i = 0; i < 256; ++i) {
          state = state * 6364136223846793005U + 1442695040888963407U;
          const std::uint64_t key = (state >> 32) % p.entries;
          std::uint64_t value = 0;
          if (reader.find(key, value) && value == key) ++hits;
          else ++misses;
        }
      }
      found += hits;
      missed += misses;
    });
  }
  go = true;
  const auto begin = clock_type::now();
  const auto end = begin + std::chrono::milliseconds(p.milliseconds);
  const std::uint64_t resizes = resizing ? resize_until(end, table, buckets, p.pause) : 0;
  std::this_thread::sleep_until(end);
  stop = true;
  for (std::thread& t : threads) t.join();
  const double seconds = std::chrono::duration<double>(clock_type::now() - begin).count();
  return {static_cast<double>(found) / seconds * 1e-6, static_cast<double>(resizes) / seconds, missed};
}

/// What one table did in all rounds: at rest with few and with many buckets, and between them.
struct results {
  const char* name;
  figure (*run)(const plan&, std::uint64_t, bool);
  std::vector<figure> few, many, between;
};

double median(std::vector<figure> all, double figure::* what) {
  std::sort(all.begin(), all.end(), [what](const figure& a, const figure& b) { return a.*what < b.*what; });
  return all[all.size() / 2].*what;
}

std::uint64_t number(int count, char** words, int at, std::uint64_t otherwise) {
  return count > at ? std::strtoull(words[at], nullptr, 10) : otherwise;
}

} // namespace

int main(int count, char** words) {
  plan p;
  p.readers = static_cast<unsigned>(number(count, words, 1, p.readers));
  p.milliseconds = static_cast<unsigned>(number(count, words, 2, p.milliseconds));
  p.rounds = static_cast<unsigned>(number(count, words, 3, p.rounds));
  p.entries = number(count, words, 4, p.entries);
  p.buckets = std::bit_ceil(number(count, words, 5, p.buckets));
  p.pause = std::chrono::microseconds(number(count, words, 6, 0));
  if (p.readers == 0 || p.rounds == 0 || p.entries == 0 || p.buckets < relativistic::stripe_count) return 2;
  results all[] = {{"relativistic", measure<relativistic_table>, {}, {}, {}},
                   {"ddds", measure<bench::filled<bench::ddds_table>>, {}, {}, {}},
                   {"rwlock", measure<bench::filled<bench::rwlock_table>>, {}, {}, {}}};
  std::uint64_t missed = 0;
  for (unsigned round = 0; round < p.rounds; ++round) {
    for (results& r : all) {
      r.few.push_back(r.run(p, p.buckets, false));
      r.many.push_back(r.run(p, p.buckets * 2, false));
      r.between.push_back(r.run(p, p.buckets, true));
      missed += r.few.back().missed + r.many.back().missed + r.between.back().missed;
    }
  }
  std::printf("%u readers, %zu entries, Mops/s\n%-14s %10zu %10zu %10s %12s\n", p.readers,
              static_cast<std::size_t>(p.entries), "buckets", static_cast<std::size_t>(p.buckets),
              static_cast<std::size_t>(p.buckets * 2), "resizing", "resizes/s");
  for (const results& r : all) {
    std::printf("%-14s %10.2f %10.2f %10.2f %12.0f\n", r.name, median(r.few, &figure::mops),
                median(r.many, &figure::mops), median(r.between, &figure::mops), median(r.between, &figure::resizes));
  }
  if (missed != 0) std::printf("%zu lookups missed a key that is there\n", static_cast<std::size_t>(missed));
  return missed == 0 ? 0 : 1;
}
