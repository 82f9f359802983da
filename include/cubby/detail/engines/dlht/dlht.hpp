// SPDX-License-Identifier: Apache-2.0
// Binds the DLHT engine to the contract: the engine that cubby::map uses unless told otherwise. Papers' name and source: "DLHT: A
// Non-blocking Resizable Hashtable with Fast Deletes and Memory-awareness", HPDC 2024. README.md beside this file has
// the paper in one page, what we changed and why, and what is not proved.
#pragma once

#include <type_traits>
#include <utility>

#include <cubby/detail/core/moved_table.hpp>
#include <cubby/detail/engines/dlht/batch.hpp>
#include <cubby/detail/engines/dlht/lifecycle.hpp>
#include <cubby/detail/engines/dlht/mutate.hpp>
#include <cubby/detail/engines/dlht/record.hpp>
#include <cubby/detail/engines/dlht/shadow.hpp>
#include <cubby/detail/engines/dlht/snapshot.hpp>
#include <cubby/detail/engines/dlht/stats.hpp>
#include <cubby/detail/platform/fail.hpp>

namespace cubby::inline v0 {

namespace detail {

/// Maps words to words in a DLHT table (the contract is in contract/engine.hpp). Each verb runs inside a pin.
template <slot_policy Policy, class Threads, bool Histograms = false> class dlht_engine {
public:
  using policy = Policy;
  using probe = typename Policy::probe;
  using options_type = engines::dlht::options;
  using stats_type = engines::dlht::table_stats;
  static constexpr engine_claims claims{
      .lock_free_find = Threads::is_shared,
      .lock_free_insert = Threads::is_shared,
      .slots_freed_at_once = true,
      .bounded_bins = true,
      .grows_without_blocking = true,
      .scans_once = true,
      .one_thread_only = !Threads::is_shared,
  };

  /// Throws std::bad_alloc if there is no memory for a first index, or no background thread; without exceptions `ok`
  /// is then false.
  dlht_engine(const options_type& chosen, Policy slots) : table_(chosen, std::move(slots)) {
    if (engines::dlht::open(table_)) return;
    engines::dlht::close(table_);
    fail::with_no_memory();
  }
  ~dlht_engine() {
    if (ok()) engines::dlht::close(table_);
  }
  /// Moves an idle table. `from` is then empty; without memory or a thread for that it is not `ok`.
  dlht_engine(dlht_engine&& from) noexcept
    requires std::is_nothrow_copy_constructible_v<Policy>
      : table_(generations::at_rest(from.table_)) {
    if (ok()) (void)open_again(from.table_);
  }
  dlht_engine(const dlht_engine&) = delete;
  dlht_engine& operator=(const dlht_engine&) = delete;

  [[nodiscard]] bool ok() const noexcept { return generations::is_open(table_); }
  [[nodiscard]] const Policy& slots() const noexcept { return table_.policy; }

  /// Keeps alive what the table shows, until the returned object ends. Nests. It costs one store at each end.
  auto pin(thread_record& s) noexcept {
    if constexpr (Threads::is_shared) return thread_pin(s);
    else return engines::dlht::single_pin<Policy>(table_.bag);
  }
  /// The calling thread's record; null if there is no memory for one.
  thread_record* local_thread_record() noexcept {
    if constexpr (Threads::is_shared) return registry::local(*table_.home);
    else return &own_thread_record_;
  }
  /// A thread record for a handle; null: no memory.
  thread_record* claim_thread_record() noexcept { return registry::claim(*table_.home); }

  CUBBY_ALWAYS_INLINE found_word find(thread_record&, const probe& p) const noexcept {
    if constexpr (Policy::unique_words) return engines::dlht::find_record(table_, p);
    else return engines::dlht::find(table_, p);
  }
  static constexpr bool ends_in_asked_lines = true;
  CUBBY_ALWAYS_INLINE void prefetch(const word_probe& p) const noexcept {
    const auto here = engines::dlht::locate(table_, p);
    prefetch_line(here.b);
    if (const auto* const next = engines::dlht::next_index(*here.at)) [[unlikely]] // where a moved bin is
      prefetch_line(&engines::dlht::bin_of<Policy>(*next, p));
  }
  template <class Probe> CUBBY_ALWAYS_INLINE void prefetch_record(const Probe& p) const noexcept {
    const auto here = engines::dlht::locate(table_, p);
    engines::dlht::prefetch_behind(table_.policy, *here.at, *here.b, p, engines::dlht::stored_word(p.word));
  }
  CUBBY_ALWAYS_INLINE void prefetch_second(const word_probe& p) const noexcept {
    const auto here = engines::dlht::locate(table_, p);
    engines::dlht::prefetch_link_of_full(*here.at, *here.b);
  }
  CUBBY_ALWAYS_INLINE inserted_word insert(thread_record& s, const probe& p, std::uint64_t word) {
    if constexpr (Policy::unique_words) return engines::dlht::insert_record(table_, s, p, word);
    else return engines::dlht::insert_word(table_, s, p.hash, p.word, word);
  }
  template <class F> CUBBY_ALWAYS_INLINE mutated mutate(thread_record& s, const probe& p, F f) {
    const mutated result = [&]() CUBBY_INLINED {
      if constexpr (Policy::unique_words) return engines::dlht::mutate_record(table_, s, p, f);
      else return engines::dlht::mutate(table_, s, p, f);
    }();
    if (result.found && result.done == action::erase) engines::dlht::maintenance_of_erase(table_, s);
    return result;
  }
  void retire(thread_record& s, std::uint64_t word) {
    if constexpr (Policy::unique_words) table_.bag.add(s, word);
  }
  /// Ends the worker, at the table's end. From then on callers do all work.
  void stop_worker() noexcept { table_.worker.stop(); }
  /// After that: disposes of all retired words; true if there was one.
  bool dispose_retired() { return table_.bag.dispose_all(); }
  void collect_records() {
    if constexpr (plain_disposal<policy>) table_.bag.collect_many();
  }
  void collect(thread_record& s) {
    table_.bag.collect();
    if constexpr (Threads::is_shared) {
      generations::release_retired(table_);
    } else {
      const auto stay = pin(s); // so that a pin further out is told from none
      generations::release_retired(table_);
    }
  }

  template <class F> void for_each(thread_record& s, F f) {
    [[maybe_unused]] const auto stay = pin(s); // tells a single-threaded table that an index is in use further out
    engines::dlht::for_each(table_, f);
  }
  using shared_scan = engines::dlht::shared_scan<Threads>;
  [[nodiscard]] shared_scan begin_shared_scan() const noexcept
    requires Threads::is_shared
  {
    return {engines::dlht::first_index(table_), {}};
  }
  template <class F> void for_each_of(shared_scan& shared, thread_record&, F f) {
    engines::dlht::for_each_of(table_, shared, f);
  }
  /// The threads of the scan show nothing more than what they have taken.
  static void end_shared_scan(shared_scan& shared) noexcept { shared.bins.end(); }
  template <class Begin, class Sink> bool snapshot(thread_record&, Begin begin, Sink sink) {
    return engines::dlht::snapshot(table_, begin, sink);
  }
  template <class Make, class Take>
  CUBBY_ALWAYS_INLINE void find_many(thread_record&, std::size_t count, Make make, Take take) const {
    engines::dlht::find_many(table_, count, make, take);
  }

  inserted_word shadow_insert(thread_record& s, const probe& p, std::uint64_t word) {
    return engines::dlht::insert(table_, s, p, word, engines::dlht::slot_state::shadow);
  }
  void shadow_commit(thread_record& s, const probe& p, std::uint64_t word) {
    engines::dlht::shadow_commit(table_, s, p, word);
  }
  void shadow_abort(thread_record& s, const probe& p, std::uint64_t word) {
    engines::dlht::shadow_abort(table_, s, p, word);
  }

  [[nodiscard]] std::size_t size() const noexcept { return engines::dlht::live_entries(table_); }
  [[nodiscard]] std::size_t capacity() const noexcept { return generations::capacity(table_); }
  [[nodiscard]] stats_type stats() const noexcept { return engines::dlht::stats(table_); }
  /// How full bins are and how many buckets they chain. Scans the whole table.
  [[nodiscard]] chain_histogram histogram() const noexcept
    requires Histograms
  {
    return engines::dlht::histogram(table_);
  }
  bool reserve(thread_record& s, std::size_t entries) {
    [[maybe_unused]] const auto stay = pin(s);
    return engines::dlht::reserve(table_, entries);
  }
  bool shrink_to_fit(thread_record& s) {
    const bool done = table_.settings.shrink == shrink_policy::never || [&] {
      [[maybe_unused]] const auto stay = pin(s);
      return engines::dlht::shrink_to_fit(table_);
    }();
    collect(s);
    return done;
  }

private:
  engines::dlht::table<Policy, Threads> table_;
  struct nothing {};
  // the only one of a single-threaded table
  [[no_unique_address]] std::conditional_t<Threads::is_shared, nothing, thread_record> own_thread_record_;
};

} // namespace detail

/// Engine tags for cubby::map and cubby::set.
struct dlht { ///< any number of threads
  using options = detail::engines::dlht::options;
  template <class Policy> using engine = detail::dlht_engine<Policy, detail::sync::shared>;
};
struct dlht_single { ///< one thread at a time: plain loads and stores, no thread records (DLHT section 3.4.5)
  using options = detail::engines::dlht::options;
  template <class Policy> using engine = detail::dlht_engine<Policy, detail::sync::single>;
};
struct dlht_counted { ///< any number of threads, with `histogram()`
  using options = detail::engines::dlht::options;
  template <class Policy> using engine = detail::dlht_engine<Policy, detail::sync::shared, true>;
};

} // namespace cubby::inline v0
