// SPDX-License-Identifier: Apache-2.0
// The timed loops, over an adapter whose calls inline into them. An adapter names `key`, `value` and `thread_record` (what one
// thread holds). A thread record gives find, insert, erase, assign, modify, and perhaps upsert. Where its engine has batches it
// gives find_batch and execute, or stream for a pipeline. An engine without batches is asked one key at a time for any size of
// batch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "clock.hpp"
#include "histogram.hpp"
#include "streams.hpp"
#include "table.hpp"
#include "workload.hpp"

namespace bench {

// Makes the compiler believe that `value` is read.
template <class T> inline void keep(const T& value) { asm volatile("" : : "g"(&value) : "memory"); }

struct tally {
  std::uint64_t operations = 0;
  std::uint64_t succeeded = 0;
  double seconds = 0;
  double mops() const { return seconds > 0 ? static_cast<double>(operations) / seconds * 1e-6 : 0; }
};

template <class Adapter> class loops {
public:
  using key = typename Adapter::key;
  using value = typename Adapter::value;
  using thread_record = typename Adapter::thread_record;

  loops(thread_record& at, const stream<key>& ops, std::size_t batch)
      : thread_record_(at), ops_(ops), batch_(batch), values_(batch), found_(std::make_unique<bool[]>(batch)) {}

  // Operations from..to of the stream; tells how many succeeded.
  std::uint64_t pass(std::size_t from, std::size_t to) {
    return ops_.verbs.empty() ? find_pass(from, to) : mixed_pass(from, to);
  }

  // Goes round the stream until the time is over, looking at the clock once in a slice.
  tally until(double seconds) {
    tally t;
    const std::size_t size = ops_.keys.size();
    const std::size_t slice = std::max(batch_, 8192 / batch_ * batch_);
    const double begin = seconds_now();
    double now = begin;
    for (std::size_t at = 0; now - begin < seconds; now = seconds_now()) {
      const std::size_t to = std::min(size, at + slice);
      t.succeeded += pass(at, to);
      t.operations += to - at;
      at = to == size ? 0 : to;
    }
    t.seconds = now - begin;
    return t;
  }

  // Whole passes, timed; what a pass inserted is erased again off the clock.
  tally passes_until(double seconds) {
    tally t;
    while (t.seconds < seconds) {
      const tally one = once();
      t.operations += one.operations;
      t.succeeded += one.succeeded;
      t.seconds += one.seconds;
      undo(ops_.keys.size());
    }
    return t;
  }

  tally once() {
    tally t;
    const double begin = seconds_now();
    t.succeeded = pass(0, ops_.keys.size());
    t.seconds = seconds_now() - begin;
    t.operations = ops_.keys.size();
    return t;
  }

  // The same. Counts the operations of each window of 10 ms, by looks at the clock after some: a stall longer than a window leaves empty ones.
  tally once(std::vector<std::uint64_t>& windows) {
    tally t;
    const std::size_t slice = std::max(batch_, 256 / batch_ * batch_);
    const double begin = seconds_now();
    while (t.operations < ops_.keys.size()) {
      const std::size_t to = std::min(ops_.keys.size(), t.operations + slice);
      t.succeeded += pass(t.operations, to);
      t.seconds = seconds_now() - begin;
      const auto window = static_cast<std::size_t>(t.seconds * windows_a_second);
      if (window >= windows.size()) windows.resize(window + 1);
      windows[window] += to - t.operations;
      t.operations = to;
    }
    return t;
  }

  // Each operation by itself, into the histogram; one round of the stream at most.
  tally timed(double seconds, histogram& times) {
    tally t;
    const double begin = seconds_now();
    for (std::size_t i = 0; i < ops_.keys.size(); ++i) {
      const std::uint64_t before = ticks_before();
      t.succeeded += single(i);
      times.add(ticks_after() - before);
      ++t.operations;
      // After a whole number of pairs, so that an insert does not stay behind without its erase.
      if (i % 1024 == 1023 && seconds_now() - begin > seconds) break;
    }
    t.seconds = seconds_now() - begin;
    return t;
  }

  // Erases what the first `count` operations have inserted for good.
  void undo(std::size_t count) {
    if (!keeps_inserts()) return;
    for (std::size_t i = 0; i < count; ++i)
      if (ops_.verbs[i] == verb::insert) thread_record_.erase(ops_.keys[i]);
  }

private:
  bool keeps_inserts() const {
    return std::find(ops_.verbs.begin(), ops_.verbs.end(), verb::insert) != ops_.verbs.end() &&
           std::find(ops_.verbs.begin(), ops_.verbs.end(), verb::erase) == ops_.verbs.end();
  }

  bool find_one(const key& k) {
    value v;
    const bool hit = thread_record_.find(k, v);
    keep(v);
    return hit;
  }

  // A table without such a call is asked by two.
  bool upsert(const key& k) {
    if constexpr (requires { thread_record_.upsert(k, fixed_); }) {
      thread_record_.upsert(k, fixed_);
      return true;
    } else {
      return thread_record_.assign(k, fixed_) || thread_record_.insert(k, fixed_);
    }
  }

  bool single(std::size_t i) {
    const key& k = ops_.keys[i];
    switch (ops_.verbs.empty() ? verb::find : ops_.verbs[i]) {
    case verb::find: return find_one(k);
    case verb::insert: return thread_record_.insert(k, fixed_);
    case verb::erase: return thread_record_.erase(k);
    case verb::assign: return thread_record_.assign(k, fixed_);
    case verb::modify: return thread_record_.modify(k);
    case verb::upsert: return upsert(k);
    }
    return false;
  }

  std::uint64_t find_pass(std::size_t from, std::size_t to) {
    std::uint64_t hits = 0;
    if constexpr (requires(thread_record& s, const key* k) { s.stream(k, from, from); })
      return thread_record_.stream(&ops_.keys[from], to - from, batch_);
    if constexpr (requires(thread_record& s, const key* k, value* v, bool* f) { s.find_batch(k, from, v, f); }) {
      if (batch_ > 1) {
        for (std::size_t i = from; i < to; i += batch_) {
          hits += thread_record_.find_batch(&ops_.keys[i], std::min(batch_, to - i), values_.data(), found_.get());
          keep(values_[0]);
        }
        return hits;
      }
    }
    for (std::size_t i = from; i < to; ++i) hits += find_one(ops_.keys[i]);
    return hits;
  }

  std::uint64_t mixed_pass(std::size_t from, std::size_t to) {
    std::uint64_t done = 0;
    if constexpr (requires(thread_record& s, const key* k, const verb* v) { s.stream(k, v, from, from); })
      return thread_record_.stream(&ops_.keys[from], &ops_.verbs[from], to - from, batch_);
    if constexpr (requires(thread_record& s, const key* k, const verb* v) { s.execute(k, v, from); }) {
      if (batch_ > 1) {
        for (std::size_t i = from; i < to; i += batch_)
          done += thread_record_.execute(&ops_.keys[i], &ops_.verbs[i], std::min(batch_, to - i));
        return done;
      }
    }
    for (std::size_t i = from; i < to; ++i) done += single(i);
    return done;
  }

  thread_record& thread_record_;
  const stream<key>& ops_;
  std::size_t batch_;
  std::vector<value> values_;
  std::unique_ptr<bool[]> found_;
  value fixed_ = from_word<value>(7);
};

} // namespace bench
