// SPDX-License-Identifier: Apache-2.0
// Binds the relativistic engine to the contract. Paper: Triplett, McKenney, Walpole, "Resizable, Scalable, Concurrent Hash Tables via
// Relativistic Programming", USENIX ATC 2011. README.md beside this file has it in one page, and what we changed and why.
#pragma once

#include <utility>

#include <cubby/detail/engines/relativistic/batch.hpp>
#include <cubby/detail/engines/relativistic/lifecycle.hpp>
#include <cubby/detail/engines/relativistic/modify.hpp>
#include <cubby/detail/engines/relativistic/shadow.hpp>
#include <cubby/detail/engines/relativistic/snapshot.hpp>
#include <cubby/detail/engines/relativistic/stats.hpp>
#include <cubby/detail/platform/fail.hpp>

namespace cubby::inline v0 {

namespace detail {

/// Words to words over a relativistic table. Every verb runs inside a pin; see contract.hpp for the contract. Records are
/// nodes: the codec keeps space for one in front of each.
template <fronted_policy<sizeof(engines::relativistic::node)> Codec> class relativistic_engine {
public:
  using policy = typename Codec::template with_front<sizeof(engines::relativistic::node)>;
  using probe = typename policy::probe;
  using options_type = engines::relativistic::options;
  using stats_type = table_stats;
  static constexpr engine_claims claims{
      .lock_free_find = true,
      .slots_freed_at_once = true,
      .bounded_bins = true,
      .grows_without_blocking = true,
      .scans_once = true,
  };

  /// Throws std::bad_alloc when the first array or the background thread cannot be had (without exceptions: `ok`).
  relativistic_engine(const options_type& chosen, policy slots) : table_(chosen, std::move(slots)) {
    ok_ = engines::relativistic::open(table_);
    if (ok_) return;
    engines::relativistic::close(table_);
    fail::with_no_memory();
  }
  ~relativistic_engine() {
    if (ok_) engines::relativistic::close(table_);
  }
  relativistic_engine(const relativistic_engine&) = delete;
  relativistic_engine& operator=(const relativistic_engine&) = delete;

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] const policy& slots() const noexcept { return table_.policy; }

  /// Keeps alive what the table shows, until the returned object goes. Nests. One store in, one out.
  static thread_pin pin(thread_record& s) noexcept { return thread_pin(s); }
  /// The calling thread's record; null when there is no memory for one.
  [[nodiscard]] thread_record* local_thread_record() noexcept { return registry::local(*table_.home); }
  /// A thread record for a handle; null: no memory.
  [[nodiscard]] thread_record* claim_thread_record() noexcept { return registry::claim(*table_.home); }

  CUBBY_ALWAYS_INLINE found_word find(thread_record&, const probe& p) const noexcept {
    return engines::relativistic::find(table_, p);
  }
  CUBBY_ALWAYS_INLINE void prefetch(const word_probe& p) const noexcept {
    engines::relativistic::prefetch_head(table_, p);
  }
  CUBBY_ALWAYS_INLINE void prefetch_record(const word_probe& p) const noexcept {
    // The record lies behind its node; to look for it further down the chain would wait for what is asked for here.
    prefetch_line(engines::relativistic::node_at(engines::relativistic::first_link(table_, p.hash)));
  }
  inserted_word insert(thread_record&, const probe& p, std::uint64_t word) noexcept {
    return engines::relativistic::insert(table_, p, word);
  }
  template <class F> mutated mutate(thread_record& s, const probe& p, F f) {
    return engines::relativistic::mutate(table_, s, p, f);
  }
  /// The same with `f` called exactly once; others wait before they change this entry meanwhile.
  template <class F> mutated modify(const probe& p, F f) { return engines::relativistic::modify(table_, p, f); }
  void retire(thread_record& s, std::uint64_t word) {
    if constexpr (policy::unique_words) table_.bag.add(s, word);
  }
  /// At the table's end. From then on callers do all work.
  void stop_worker() noexcept { table_.worker.stop(); }
  /// As well, later: disposes of every retired word; whether there was one.
  bool dispose_retired() { return table_.bag.dispose_all(); }
  void collect(thread_record&) {
    table_.node_bag.collect();
    table_.bag.collect();
  }

  template <class F> void for_each(thread_record&, F f) { engines::relativistic::for_each(table_, f); }
  template <class Begin, class Sink> bool snapshot(thread_record&, Begin begin, Sink sink) {
    return engines::relativistic::snapshot(table_, begin, sink);
  }
  template <class Make, class Take>
  CUBBY_ALWAYS_INLINE void find_many(thread_record&, std::size_t count, Make make, Take take) const {
    engines::relativistic::find_many(table_, count, make, take);
  }

  inserted_word shadow_insert(thread_record&, const probe& p, std::uint64_t word) noexcept {
    return engines::relativistic::insert(table_, p, word, engines::relativistic::mark::hidden);
  }
  void shadow_commit(thread_record&, const probe& p, std::uint64_t word) noexcept {
    engines::relativistic::shadow_commit(table_, p, word);
  }
  void shadow_abort(thread_record& s, const probe& p, std::uint64_t word) noexcept {
    engines::relativistic::shadow_abort(table_, s, p, word);
  }

  [[nodiscard]] std::size_t size() const noexcept {
    return static_cast<std::size_t>(engines::relativistic::live_entries(table_));
  }
  [[nodiscard]] std::size_t capacity() const noexcept {
    // relaxed: a recent figure
    return static_cast<std::size_t>(table_.buckets.load(sync::relaxed));
  }
  [[nodiscard]] table_stats stats() const noexcept { return engines::relativistic::stats(table_); }
  /// Waits for readers, not at all inside a pin of `s` or of the calling thread's own record, and for writers that are stopped in
  /// their stripes; at most about a second for each resize. Then it answers true, and what has begun goes on with later updates,
  /// another such call, or the thread of a `background` table. Readers are all pins in the table's domain. Beside a reference that
  /// one's own handle keeps it returns at once.
  bool reserve(thread_record& s, std::size_t entries) noexcept {
    const bool done = engines::relativistic::reserve(table_, s, entries);
    wake_worker();
    return done;
  }
  /// The same.
  bool shrink_to_fit(thread_record& s) {
    const bool done = table_.settings.shrink == shrink_policy::never || engines::relativistic::shrink_to_fit(table_, s);
    wake_worker();
    collect(s);
    return done;
  }

private:
  /// For what a call that could not wait has left.
  void wake_worker() noexcept {
    if (table_.settings.growth == growth_policy::background) table_.worker.notify();
  }

  mutable engines::relativistic::table<policy> table_;
  bool ok_ = false;
};

} // namespace detail

/// Engine tag for cubby::map and cubby::set: lookups that wait for nothing and try nothing again, also beside a resize; updates
/// lock. A `fixed` table takes `options.capacity` entries, reservations included. The lowest bits of the hash choose the bucket,
/// the lowest six the lock: a hash that is taken as it is (`is_avalanching`, or `is_modulo`) must differ there. If all keys agree
/// in the lowest b bits, chains are 2^b times as long.
struct relativistic {
  using options = detail::engines::relativistic::options;
  template <class Codec> using engine = detail::relativistic_engine<Codec>;
};

} // namespace cubby::inline v0
