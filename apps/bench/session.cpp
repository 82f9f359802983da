// SPDX-License-Identifier: Apache-2.0
// The order of a run: combinations of sizes outside, then workloads, rounds and, innermost, the engines in turn.
#include "session.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <malloc.h>
#include <map>
#include <stdexcept>

#include "absence.hpp"
#include "arena.hpp"
#include "clock.hpp"
#include "durable_files.hpp"
#include "key_kinds.hpp"
#include "machine.hpp"
#include "sections.hpp"

namespace bench {

namespace {

latency_figures figures_of(const histogram& times) {
  const double scale = nanoseconds_per_tick();
  const auto at = [&](double share) { return static_cast<double>(times.at_share(share)) * scale; };
  return {at(0.5), at(0.99), at(0.999), at(0.9999), static_cast<double>(times.longest()) * scale};
}

std::size_t most_workers(const run_spec& run) {
  std::size_t most = 0;
  for (const std::size_t threads : run.threads)
    for (const workload& w : run.workloads) most = std::max(most, threads_of(run, w, threads).all);
  return most;
}

// What a run measures over one set of keys: the tables live here, the results go out.
class point {
public:
  point(const run_spec& spec, std::size_t key_size, std::size_t value_size, std::size_t keys, progress& shown)
      : spec_(spec), key_size_(key_size), value_size_(value_size), shown_(shown), worker_threads_(most_workers(spec)) {
    shown_.step("making keys");
    keys_ = make_keys(spec, key_size, keys);
    limit_bytes_ = default_limit_bytes(keys_->count);
    shown_.stage(fmt::format("{} keys of {}, values of {} bytes", keys_->count,
                             !spec.keys_from.empty() ? spec.keys_from
                             : text()                ? "kind " + spec.key_kind
                                                     : fmt::format("{} bytes", key_size),
                             value_size));
    lay_out();
  }

  void measure(std::vector<result>& out) {
    for (const shape& s : shapes_)
      if (wants_fresh_table(s.what)) run_fresh(s);
    if (std::any_of(shapes_.begin(), shapes_.end(), [](const shape& s) { return !wants_fresh_table(s.what); }))
      fit_together() ? run_together() : run_apart();
    for (result& r : results_)
      if (!r.rounds_mops.empty()) out.push_back(std::move(r));
  }

private:
  // One workload at one number of threads and one batch; its results start at `first`, one for each engine.
  struct shape {
    workload what;
    std::size_t threads;
    std::size_t batch;
    std::size_t first;
  };

  bool text() const { return is_text(spec_); }

  void lay_out() {
    for (const std::size_t threads : spec_.threads)
      for (const std::size_t batch : spec_.batch)
        for (const workload& what : spec_.workloads) {
          shapes_.push_back({what, threads, batch, results_.size()});
          for (const engine_id engine : spec_.engines) {
            result r;
            r.engine = engine;
            r.what = what;
            r.keys = keys_->count;
            r.threads = engine == engine_id::std_map ? 1 : threads;
            r.finders = threads_of(spec_, what, threads).finders;
            r.updaters = threads_of(spec_, what, threads).updaters;
            r.batch = batch;
            r.key_size = key_size_;
            r.value_size = value_size_;
            r.text = text();
            r.key_kind = spec_.key_kind;
            results_.push_back(r);
          }
        }
  }

  bool fit_together() const {
    double sum = 0;
    for (const engine_id e : spec_.engines) sum += expected_bytes(e, keys_->count, key_size_, value_size_, false);
    return sum < 0.7 * static_cast<double>(memory_available());
  }

  std::unique_ptr<table> fresh(engine_id engine, std::size_t capacity, bool shrinks = false) const {
    const std::size_t space = capacity / 100 * spec_.space + capacity % 100 * spec_.space / 100;
    return make_table({engine, text(), key_size_, value_size_, space, shrinks, limit_bytes_, spec_.seed, spec_.dir});
  }

  // Makes a table and fills it with the first `count` keys; `memory` is what the process grew by.
  std::unique_ptr<table> filled(engine_id engine, std::size_t count, resident& memory, bool shrinks = false) {
    shown_.step(fmt::format("filling {} with {} keys", name_of(engine), count));
    const resident before = resident_now();
    std::unique_ptr<table> made = fresh(engine, count, shrinks);
    made->fill(worker_threads_, *keys_, count);
    memory = grown_since(before);
    return made;
  }

  static resident grown_since(const resident& before) {
    const resident now = resident_now();
    const std::size_t more = now.bytes - std::min(now.bytes, before.bytes);
    // Memory from before may have become huge meanwhile: that is no part of the table.
    return {more, std::min(more, now.huge_bytes - std::min(now.huge_bytes, before.huge_bytes))};
  }

  void note_memory(result& r, const resident& memory, const table& t) const {
    r.domain = t.domain();
    if (!r.domain.empty()) r.folder = folder_of(r.engine, spec_.dir);
    // The keys of grow-shrink come and go until the time is over: there is no number of them to divide by.
    if (r.what.what != kind::grow_shrink) {
      const auto count = static_cast<double>(keys_->count);
      r.bytes_per_key = static_cast<double>(memory.bytes) / count;
      r.own_bytes_per_key = static_cast<double>(t.own_bytes()) / count;
    }
    r.huge_pages_percent = memory.bytes == 0
                               ? r.huge_pages_percent.value_or(0)
                               : 100.0 * static_cast<double>(memory.huge_bytes) / static_cast<double>(memory.bytes);
  }

  const op_streams& streams_of(const shape& s, const result& r) {
    const thread_counts threads = threads_of(spec_, s.what, r.threads);
    std::unique_ptr<op_streams>& made = streams_[threads.all];
    if (!made || made->of.what != s.what.what || made->of.hot_percent != s.what.hot_percent) {
      made.reset();
      made = make_ops(*keys_, text(), key_size_, {s.what, threads.all, threads.updaters, 0, spec_.seed});
    }
    return *made;
  }

  void measure_one(const shape& s, std::size_t engine, table& t, bool latency, std::size_t round) {
    result& r = results_[s.first + engine];
    shown_.step(fmt::format("{} on {}, {} threads, batch {}: {}", name_of(s.what), name_of(r.engine), r.threads,
                            s.batch,
                            latency ? std::string("latency") : fmt::format("round {} of {}", round + 1, spec_.rounds)));
    const std::size_t filled = updates_beside_finds(s.what) ? keys_that_stay(s.what, keys_->count) : 0;
    const thread_counts threads = threads_of(spec_, s.what, r.threads);
    job j{s.what, &streams_of(s, r), threads.all, threads.updaters, s.batch, spec_.seconds, latency, filled};
    const outcome o = t.run(worker_threads_, j);
    if (o.wrong != 0)
      throw std::runtime_error(
          fmt::format("{}: {} of {} answers to {} were wrong; no figure of this run can be trusted", name_of(r.engine),
                      o.wrong, o.operations, name_of(s.what)));
    if (latency) {
      r.latency = figures_of(o.times);
      return;
    }
    r.rounds_mops.push_back(o.mops);
    if (!o.timeline.empty()) r.timeline = o.timeline;
    if (const std::optional<window_rates> whole = together(o.windows)) {
      r.rounds_windows.push_back(*whole);
      r.course = in_stretches(o.windows, 100);
    }
  }

  static bool takes_part(engine_id e, const workload& w, bool latency) { return why_absent(e, w, latency).empty(); }

  void run_fresh(const shape& s) {
    const std::size_t passes = spec_.rounds + (spec_.latency ? 1 : 0);
    for (std::size_t round = 0; round < passes; ++round)
      for (std::size_t e = 0; e < spec_.engines.size(); ++e) {
        const bool latency = round == spec_.rounds;
        if (takes_part(spec_.engines[e], s.what, latency)) run_fresh_once(s, e, latency, round);
      }
  }

  void run_fresh_once(const shape& s, std::size_t e, bool latency, std::size_t round) {
    const engine_id engine = spec_.engines[e];
    const bool partly = updates_beside_finds(s.what);
    streams_of(s, results_[s.first + e]);
    const resident before = resident_now();
    resident filled_by;
    const std::size_t count = partly ? keys_that_stay(s.what, keys_->count) : keys_->count;
    std::unique_ptr<table> t = partly || is_limit(engine)
                                   ? filled(engine, count, filled_by, s.what.what == kind::grow_shrink)
                                   : fresh(engine, small_capacity);
    measure_one(s, e, *t, latency, round);
    note_memory(results_[s.first + e], grown_since(before), *t);
    drop(t, engine);
  }

  static void drop(std::unique_ptr<table>& t, engine_id engine) {
    t.reset();
    arena::of(static_cast<std::size_t>(engine)).release();
    // What went through malloc goes back too, or the next table would seem to need no memory.
    ::malloc_trim(0);
  }

  void run_together() {
    std::vector<std::unique_ptr<table>> tables;
    std::vector<resident> memory(spec_.engines.size());
    for (std::size_t e = 0; e < spec_.engines.size(); ++e)
      tables.push_back(filled(spec_.engines[e], keys_->count, memory[e]));
    const std::size_t passes = spec_.rounds + (spec_.latency ? 1 : 0);
    for (const shape& s : shapes_) {
      if (wants_fresh_table(s.what)) continue;
      for (std::size_t round = 0; round < passes; ++round)
        for (std::size_t e = 0; e < tables.size(); ++e)
          if (takes_part(spec_.engines[e], s.what, round == spec_.rounds))
            measure_one(s, e, *tables[e], round == spec_.rounds, round);
      for (std::size_t e = 0; e < tables.size(); ++e) note_memory(results_[s.first + e], memory[e], *tables[e]);
    }
    for (std::size_t e = 0; e < tables.size(); ++e) drop(tables[e], spec_.engines[e]);
  }

  void run_apart() {
    shown_.stage("the tables do not fit into memory together: each is filled anew in every round");
    for (std::size_t round = 0; round < spec_.rounds; ++round)
      for (std::size_t e = 0; e < spec_.engines.size(); ++e) {
        const engine_id engine = spec_.engines[e];
        resident memory;
        std::unique_ptr<table> t = filled(engine, keys_->count, memory);
        for (const shape& s : shapes_) {
          if (wants_fresh_table(s.what) || !takes_part(engine, s.what, false)) continue;
          measure_one(s, e, *t, false, round);
          if (spec_.latency && round + 1 == spec_.rounds && takes_part(engine, s.what, true))
            measure_one(s, e, *t, true, round);
          note_memory(results_[s.first + e], memory, *t);
        }
        drop(t, engine);
      }
  }

  const run_spec& spec_;
  std::size_t key_size_;
  std::size_t value_size_;
  progress& shown_;
  worker_threads worker_threads_;
  std::unique_ptr<key_source> keys_;
  std::size_t limit_bytes_ = 0;
  std::vector<shape> shapes_;
  std::vector<result> results_;
  std::map<std::size_t, std::unique_ptr<op_streams>> streams_; // by number of threads, for the workload at hand
};

} // namespace

std::vector<result> session::run(const run_spec& spec) {
  std::vector<result> results;
  const run_spec tables = tables_of(spec);
  if (!tables.workloads.empty())
    for (const std::size_t key_size : tables.key_sizes)
      for (const std::size_t value_size : tables.value_sizes)
        for (const std::size_t keys : tables.keys) point(tables, key_size, value_size, keys, shown_).measure(results);
  if (tables.workloads.size() != spec.workloads.size()) measure_sections(spec, shown_, results);
  shown_.finish();
  finish(results);
  return results;
}

} // namespace bench
