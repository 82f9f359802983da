// SPDX-License-Identifier: Apache-2.0
// Binds the relativistic engine to the contract. Paper: Triplett, McKenney, Walpole, "Resizable, Scalable, Concurrent Hash Tables via
// Relativistic Programming", USENIX ATC 2011. README.md beside this file has it in one page, and what we changed and why.
#pragma once

#include <type_traits>
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

/// Maps words to words (the contract is in contract/engine.hpp). Each verb runs inside a pin. A record's node lies in the
/// record, where the codec keeps space for it.
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

  /// Throws std::bad_alloc if there is no memory for the first array, or no background thread; without exceptions `ok` is then false.
  relativistic_engine(const options_type& chosen, policy slots) : table_(chosen, std::move(slots)) {
    ok_ = engines::relativistic::open(table_);
    if (ok_) return;
    engines::relativistic::close(table_);
    fail::with_no_memory();
  }
  ~relativistic_engine() {
    if (ok_) engines::relativistic::close(table_);
  }
  /// Moves an idle table. `from` is then empty; without memory or a thread for that it is not `ok`.
  relativistic_engine(relativistic_engine&& from) noexcept
    requires std::is_nothrow_copy_constructible_v<policy>
      : table_(from.ok_ ? engines::relativistic::at_rest(from.table_) : std::move(from.table_)), ok_(from.ok_) {
    from.ok_ = ok_ && after_move(table_, from.table_, engines::relativistic::background_work<policy>);
  }
  relativistic_engine(const relativistic_engine&) = delete;
  relativistic_engine& operator=(const relativistic_engine&) = delete;

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] const policy& slots() const noexcept { return table_.policy; }

  /// Keeps alive what the table shows, until the returned object ends. Nests. It costs one store at each end.
  static thread_pin pin(thread_record& s) noexcept { return thread_pin(s); }
  /// The calling thread's record; null if there is no memory for one.
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
    // Readers need its record from the node on. A search down the chain would wait for the line that is prefetched here.
    prefetch_line(engines::relativistic::node_at(engines::relativistic::first_link(table_, p.hash)));
  }
  inserted_word insert(thread_record&, const probe& p, std::uint64_t word) noexcept {
    return engines::relativistic::insert(table_, p, word);
  }
  template <class F> mutated mutate(thread_record& s, const probe& p, F f) {
    return engines::relativistic::mutate(table_, s, p, f);
  }
  /// The same, but `f` is called exactly once, and other changes of this entry wait meanwhile.
  template <class F> mutated modify(const probe& p, F f) { return engines::relativistic::modify(table_, p, f); }
  void retire(thread_record& s, std::uint64_t word) {
    if constexpr (policy::unique_words) table_.bag.add(s, word);
  }
  /// Ends the worker, at the table's end. From then on callers do all work.
  void stop_worker() noexcept { table_.worker.stop(); }
  /// After that: disposes of all retired words; true if there was one.
  bool dispose_retired() { return table_.bag.dispose_all(); }
  void collect_records() {
    if constexpr (plain_disposal<policy>) table_.bag.collect_many();
  }
  void collect(thread_record&) {
    table_.node_bag.collect();
    table_.bag.collect();
  }

  template <class F> void for_each(thread_record&, F f) { engines::relativistic::for_each(table_, f); }
  using shared_scan = engines::relativistic::shared_scan;
  [[nodiscard]] shared_scan begin_shared_scan() const noexcept {
    return {&engines::relativistic::scanned_array(table_), {}};
  }
  template <class F> void for_each_of(shared_scan& shared, thread_record&, F f) {
    engines::relativistic::for_each_of(table_, shared, f);
  }
  static void end_shared_scan(shared_scan& shared) noexcept { shared.buckets.end(); }
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
  /// Waits for readers, which are all pins in the table's domain, and for writers that are stopped in their stripes: about a second at
  /// most for each resize. Then it answers true, and later updates, another such call, or the thread of a `background` table go on
  /// with the resize. Inside a pin of `s` or of the calling thread's record, and while a handle of this thread keeps a reference,
  /// it does not wait for readers.
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
  /// Wakes the worker for work that a call without a wait has left.
  void wake_worker() noexcept {
    if (table_.settings.growth == growth_policy::background) table_.worker.notify();
  }

  mutable engines::relativistic::table<policy> table_;
  bool ok_ = false;
};

} // namespace detail

/// Engine tag for cubby::map and cubby::set. Lookups never wait and never retry, also during a resize; updates take a lock. A `fixed`
/// table takes `options.capacity` entries, reservations included. The lowest bits of the hash choose the bucket, the lowest six of them
/// the lock. So the lowest bits of a hash that the table does not mix (`is_avalanching` or `is_modulo`) must differ. If all keys
/// agree in the lowest b bits, chains are 2^b times as long.
struct relativistic {
  using options = detail::engines::relativistic::options;
  template <class Codec> using engine = detail::relativistic_engine<Codec>;
};

} // namespace cubby::inline v0
