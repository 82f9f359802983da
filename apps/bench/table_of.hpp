// SPDX-License-Identifier: Apache-2.0
// The table of one adapter: hands streams and thread records to the workers and adds up what they did. `build` chooses the
// adapter's types by the sizes that the run asks for.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <thread>

#include "build_kind.hpp"
#include "loops.hpp"
#include "table.hpp"

namespace bench {

// Counters that one worker writes and the sampler reads, a cache line each.
struct alignas(64) progress_count {
  std::atomic<std::uint64_t> done{0};
};

// What the counters of a table that is resized mean. The first of them, one for each entry of `shares`, count updates: so
// many inserts, then as many erases, and so on. The others count finds.
struct update_plan {
  std::size_t filled = 0; // keys that are there all the time
  std::vector<std::size_t> shares;
};

// Samples the counters every 5 ms until told to stop.
std::vector<sample> sample_until(const std::atomic<bool>& stop, const std::vector<progress_count>& counts,
                                 const update_plan& plan);

// The rates of all threads together, of the windows in which none had ended.
std::vector<double> rates_of(const std::vector<std::vector<std::uint64_t>>& windows);

template <class Adapter> class table_of final : public table {
public:
  using key = typename Adapter::key;
  using value = typename Adapter::value;
  using thread_record = typename Adapter::thread_record;

  explicit table_of(const table_spec& spec) : adapter_(spec) {}

  std::size_t own_bytes() const override { return adapter_.own_bytes(); }
  std::string_view domain() const override {
    if constexpr (requires(const Adapter& a) { a.domain(); }) return adapter_.domain();
    else return {};
  }
  std::size_t most_threads() const override { return Adapter::most_threads; }

  void fill(worker_threads& workers, const key_source& source, std::size_t count) override {
    if constexpr (Adapter::stores) {
      const auto& keys = static_cast<const key_set<key>&>(source);
      const std::size_t threads = std::min(workers.size(), most_threads());
      workers.run(threads, [&](std::size_t worker, const worker_threads::starter& start) {
        thread_record at(adapter_);
        start();
        const std::size_t to = count * (worker + 1) / threads;
        for (std::size_t i = count * worker / threads; i < to; ++i) at.insert(keys.present(i), from_word<value>(i));
      });
    } else {
      const std::size_t threads = workers.size();
      workers.run(threads,
                  [&](std::size_t worker, const worker_threads::starter&) { adapter_.touch(worker, threads); });
    }
    end_work();
  }

  outcome run(worker_threads& workers, const job& j) override {
    outcome all = updates_beside_finds(j.of) && !j.latency ? beside_finds(workers, j) : side_by_side(workers, j);
    end_work();
    return all;
  }

private:
  // Off the clock. It throws if what was measured did not happen, as syncs that failed.
  void end_work() {
    if constexpr (requires { adapter_.end_work(); }) adapter_.end_work();
  }

  outcome side_by_side(worker_threads& workers, const job& j) {
    const auto& streams = static_cast<const typed_streams<key>&>(*j.streams);
    std::vector<tally> tallies(j.threads);
    std::vector<std::unique_ptr<histogram>> times(j.threads);
    std::vector<std::vector<std::uint64_t>> windows(j.threads);
    workers.run(j.threads, [&](std::size_t worker, const worker_threads::starter& start) {
      thread_record at(adapter_);
      loops<Adapter> loop(at, streams.threads[worker], j.latency ? 1 : j.batch);
      times[worker] = std::make_unique<histogram>();
      start();
      tallies[worker] = one_round(loop, j, *times[worker], windows[worker]);
    });
    outcome all = add_up(j, tallies, times);
    all.windows = rates_of(windows);
    return all;
  }

  static tally one_round(loops<Adapter>& loop, const job& j, histogram& times, std::vector<std::uint64_t>& windows) {
    if (j.latency) {
      const tally t = loop.timed(j.of.what == kind::populate ? 1e9 : j.seconds, times);
      if (!wants_fresh_table(j.of)) loop.undo(t.operations);
      return t;
    }
    if (j.of.what == kind::populate) return loop.once(windows);
    return j.of.what == kind::ycsb_d ? loop.passes_until(j.seconds) : loop.until(j.seconds);
  }

  static outcome add_up(const job& j, const std::vector<tally>& tallies,
                        const std::vector<std::unique_ptr<histogram>>& times) {
    outcome all;
    std::uint64_t succeeded = 0;
    double longest = 0;
    for (std::size_t i = 0; i < tallies.size(); ++i) {
      all.operations += tallies[i].operations;
      succeeded += tallies[i].succeeded;
      all.mops += tallies[i].mops();
      longest = std::max(longest, tallies[i].seconds);
      all.times.merge(*times[i]);
    }
    // A population is over when the last thread is done.
    if (j.of.what == kind::populate && longest > 0) all.mops = static_cast<double>(all.operations) / longest * 1e-6;
    if constexpr (Adapter::stores) all.wrong = j.of.what == kind::miss ? succeeded : all.operations - succeeded;
    return all;
  }

  // The first of the workers update: one round of its stream, or until the time is over. The others find from before
  // the first update until then.
  outcome beside_finds(worker_threads& workers, const job& j) {
    const auto& streams = static_cast<const typed_streams<key>&>(*j.streams);
    const std::size_t updaters = j.updaters;
    std::vector<progress_count> counts(j.threads);
    std::vector<tally> tallies(j.threads);
    std::atomic<std::size_t> busy{updaters};
    std::atomic<bool> stop{false};
    std::atomic<bool> failed{false}; // a worker has thrown: no thread waits for it
    outcome all;
    const update_plan plan = plan_of(j, streams, updaters);
    std::thread sampler([&] { all.timeline = sample_until(stop, counts, plan); });
    const auto work = [&](std::size_t worker, const worker_threads::starter& start) {
      thread_record at(adapter_);
      loops<Adapter> loop(at, streams.threads[worker], j.batch);
      slices mine{loop, streams.threads[worker].keys.size(), counts[worker]};
      start();
      if (worker < updaters) await_finds(counts, updaters, failed);
      if (worker >= updaters) tallies[worker] = mine.until([&] { return busy.load() == 0 || failed.load(); });
      else if (j.of.what == kind::resize) tallies[worker] = mine.once();
      else tallies[worker] = mine.until([end = seconds_now() + j.seconds] { return seconds_now() >= end; });
      if (worker < updaters) --busy;
    };
    std::exception_ptr failure;
    try {
      workers.run(j.threads, telling(failed, work));
    } catch (...) {
      failure = std::current_exception();
    }
    stop = true;
    sampler.join();
    if (failure) std::rethrow_exception(failure);
    for (std::size_t i = 0; i < j.threads; ++i) {
      all.wrong += tallies[i].operations - tallies[i].succeeded;
      all.mops += i < updaters ? 0 : tallies[i].mops();
      all.operations += i < updaters ? 0 : tallies[i].operations;
    }
    return all;
  }

  // The updates of a small table would be over before the last of the finders has woken up.
  static void await_finds(const std::vector<progress_count>& counts, std::size_t updaters,
                          const std::atomic<bool>& failed) {
    // relaxed: no other memory depends on it
    const auto finds = [](const progress_count& c) { return c.done.load(std::memory_order_relaxed) != 0; };
    const auto finders = counts.begin() + static_cast<std::ptrdiff_t>(updaters);
    while (!failed.load() && !std::all_of(finders, counts.end(), finds)) std::this_thread::yield();
  }
  // The same work; `failed` if it throws.
  template <class Work> static auto telling(std::atomic<bool>& failed, const Work& work) {
    return [&](std::size_t worker, const worker_threads::starter& start) {
      try {
        work(worker, start);
      } catch (...) {
        failed = true;
        throw;
      }
    };
  }

  static update_plan plan_of(const job& j, const typed_streams<key>& streams, std::size_t updaters) {
    update_plan plan{j.filled, {}};
    for (std::size_t i = 0; i < updaters; ++i) {
      const std::size_t size = streams.threads[i].keys.size();
      plan.shares.push_back(j.of.what == kind::resize ? size : size / 2);
    }
    return plan;
  }

  // A stream in pieces, after each of which the sampler may see how far it is.
  struct slices {
    loops<Adapter>& loop;
    std::size_t size;
    progress_count& count;

    tally once() {
      return until([this] { return at == size; });
    }
    template <class F> tally until(F over) {
      constexpr std::size_t slice = 512;
      tally t;
      const double begin = seconds_now();
      while (!over()) {
        if (at == size) at = 0;
        const std::size_t to = std::min(size, at + slice);
        t.succeeded += loop.pass(at, to);
        t.operations += to - at;
        count.done.store(t.operations,
                         std::memory_order_relaxed); // a figure for the sampler, which orders nothing by it
        at = to;
      }
      t.seconds = seconds_now() - begin;
      return t;
    }
    std::size_t at = 0;
  };

  Adapter adapter_;
};

inline constexpr std::size_t value_sizes[] = {8, 16, 32, 64, 128, 256, 512, 1024};
inline constexpr std::size_t key_sizes[] = {8, 16, 32, 64, 128, 256};

template <template <class, class> class Adapter, class K, class V>
std::unique_ptr<table> build_one(const table_spec& spec) {
  return std::make_unique<table_of<Adapter<K, V>>>(spec);
}

template <template <class, class> class Adapter> std::unique_ptr<table> build_small(const table_spec& spec) {
  using word = std::uint64_t;
  if (spec.text) return build_one<Adapter, std::string, word>(spec);
  return build_one<Adapter, word, word>(spec);
}

template <template <class, class> class Adapter> std::unique_ptr<table> build_keys(const table_spec& spec) {
  using word = std::uint64_t;
  switch (spec.key_size) {
  case 16: return build_one<Adapter, block<16>, word>(spec);
  case 32: return build_one<Adapter, block<32>, word>(spec);
  case 64: return build_one<Adapter, block<64>, word>(spec);
  case 128: return build_one<Adapter, block<128>, word>(spec);
  default: return build_one<Adapter, block<256>, word>(spec);
  }
}

template <template <class, class> class Adapter> std::unique_ptr<table> build_values(const table_spec& spec) {
  using word = std::uint64_t;
  switch (spec.value_size) {
  case 16: return build_one<Adapter, word, block<16>>(spec);
  case 32: return build_one<Adapter, word, block<32>>(spec);
  case 64: return build_one<Adapter, word, block<64>>(spec);
  case 128: return build_one<Adapter, word, block<128>>(spec);
  case 256: return build_one<Adapter, word, block<256>>(spec);
  case 512: return build_one<Adapter, word, block<512>>(spec);
  default: return build_one<Adapter, word, block<1024>>(spec);
  }
}

template <template <class, class> class Adapter> std::unique_ptr<table> build(const table_spec& spec) {
  if constexpr (is_whole_program) {
    if (spec.key_size > 8) return build_keys<Adapter>(spec);
    if (spec.value_size > 8) return build_values<Adapter>(spec);
  }
  return build_small<Adapter>(spec);
}

} // namespace bench
