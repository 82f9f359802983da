// SPDX-License-Identifier: Apache-2.0
// Binds the DRAMHiT engine to the contract. The paper: "DRAMHiT: A Hash Table Architected for the Speed of DRAM", EuroSys 2023.
// README.md beside this file has the paper in one page, what we changed and why, and what is not proved.
#pragma once

#include <type_traits>
#include <utility>

#include <cubby/detail/core/moved_table.hpp>
#include <cubby/detail/engines/dramhit/batch.hpp>
#include <cubby/detail/engines/dramhit/batch_tuple.hpp>
#include <cubby/detail/engines/dramhit/grow.hpp>
#include <cubby/detail/engines/dramhit/insert.hpp>
#include <cubby/detail/engines/dramhit/lifecycle.hpp>
#include <cubby/detail/engines/dramhit/mutate.hpp>
#include <cubby/detail/engines/dramhit/pipeline.hpp>
#include <cubby/detail/engines/dramhit/stats.hpp>
#include <cubby/detail/platform/fail.hpp>

namespace cubby::inline v0 {

namespace detail {

/// Maps words to words in a flat array (the contract is in contract/engine.hpp). The codec chooses the slot layout: words, or tuples
/// (layout.hpp). Each verb runs inside a pin.
template <class Policy>
  requires slot_policy<Policy> || tuple_policy<Policy>
class dramhit_engine {
  static constexpr bool of_tuples = tuple_policy<Policy>;

public:
  using policy = Policy;
  using probe = typename Policy::probe;
  using value = engines::dramhit::value_in<Policy>;
  using found = found_as<value>;
  using mutated = mutated_as<value>;
  using options_type = engines::dramhit::options;
  using stats_type = table_stats;
  static constexpr engine_claims claims{
      .lock_free_find = !of_tuples, .lock_free_insert = !of_tuples, .grows_without_blocking = true};

  /// Throws std::bad_alloc if there is no memory for the first array, or no background thread; without exceptions `ok` is then false.
  dramhit_engine(const options_type& chosen, Policy slots) : table_(chosen, std::move(slots)) {
    ok_ = engines::dramhit::open(table_);
    if (ok_) return;
    engines::dramhit::close(table_);
    fail::with_no_memory();
  }
  ~dramhit_engine() {
    if (ok_) engines::dramhit::close(table_);
  }
  /// Moves an idle table. `from` is then empty; without memory or a thread for that it is not `ok`.
  dramhit_engine(dramhit_engine&& from) noexcept
    requires std::is_nothrow_copy_constructible_v<Policy>
      : table_(generations::at_rest(from.table_)), ok_(from.ok_) {
    from.ok_ = ok_ && open_again(from.table_);
  }
  dramhit_engine(const dramhit_engine&) = delete;
  dramhit_engine& operator=(const dramhit_engine&) = delete;

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] const Policy& slots() const noexcept { return table_.policy; }
  /// Keeps alive what the table shows, until the returned object ends. Nests. It costs one store at each end.
  static thread_pin pin(thread_record& s) noexcept { return thread_pin(s); }
  /// The calling thread's record; null if there is no memory for one.
  [[nodiscard]] thread_record* local_thread_record() noexcept { return registry::local(*table_.home); }
  /// A thread record for a handle; null: no memory.
  [[nodiscard]] thread_record* claim_thread_record() noexcept { return registry::claim(*table_.home); }

  CUBBY_ALWAYS_INLINE found find(thread_record&, const probe& p) const noexcept {
    return engines::dramhit::find(table_, p);
  }
  static constexpr bool ends_in_asked_lines = true;
  CUBBY_ALWAYS_INLINE void prefetch(const probe& p) const noexcept { engines::dramhit::prefetch_home(table_, p); }
  CUBBY_ALWAYS_INLINE void prefetch_record(const probe& p) const noexcept
    requires(!of_tuples)
  {
    const auto& a = *arrays::first_array(table_);
    engines::dramhit::prefetch_record(table_.policy, engines::dramhit::home_line<Policy>(a, p.hash), p.word);
  }
  insert_answer insert(thread_record& s, const probe& p, engines::dramhit::passed_value<Policy> word) {
    return {engines::dramhit::insert(table_, s, p, word)};
  }
  template <class F> mutated mutate(thread_record& s, const probe& p, F f) {
    const auto result = engines::dramhit::mutate(table_, s, p, f);
    if (result.found && result.done == action::erase) arrays::after_erase(table_);
    return result;
  }
  void retire(thread_record& s, std::uint64_t word)
    requires(!of_tuples)
  {
    if constexpr (Policy::unique_words) table_.bag.add(s, word);
  }
  /// Ends the worker, at the table's end. From then on callers do all work.
  void stop_worker() noexcept
    requires(!of_tuples)
  {
    table_.worker.stop();
  }
  /// After that: disposes of all retired words; true if there was one.
  bool dispose_retired()
    requires(!of_tuples)
  {
    return table_.bag.dispose_all();
  }
  void collect_records() {
    if constexpr (plain_disposal<policy>) table_.bag.collect_many();
  }
  void collect(thread_record&) {
    table_.bag.collect();
    generations::release_retired(table_);
  }

  /// The state of a pending request (pipeline.hpp). Valid inside the pin in which it was made.
  using course = engines::dramhit::course<engines::dramhit::layout_of<Policy>>;
  CUBBY_ALWAYS_INLINE course aim(const probe& p) const noexcept { return engines::dramhit::aim(table_, p); }
  /// Prefetches the first line of the request.
  CUBBY_ALWAYS_INLINE void ask(const course& c) const noexcept { engines::dramhit::ask(c); }
  /// True: the request may be carried out. False: it has prefetched something and needs another turn.
  CUBBY_ALWAYS_INLINE bool advance(course& c, const probe& p) const noexcept {
    return engines::dramhit::advance(table_.policy, c, p) == engines::dramhit::turn::ready;
  }
  /// The same for a find; if true, `out` is its answer.
  CUBBY_ALWAYS_INLINE bool find_along(course& c, const probe& p, found& out) const noexcept {
    return engines::dramhit::find_along(table_, c, p, out) == engines::dramhit::turn::ready;
  }
  /// The same for a mutate.
  template <class F>
  CUBBY_ALWAYS_INLINE bool mutate_along(thread_record& s, course& c, const probe& p, F& f, mutated& out)
    requires engines::dramhit::in_words_alone<Policy>
  {
    if (engines::dramhit::mutate_along(table_, s, c, p, f, out) == engines::dramhit::turn::again) return false;
    if (out.found && out.done == action::erase) arrays::after_erase(table_);
    return true;
  }

  template <class F> void for_each(thread_record&, F f) { engines::dramhit::for_each(table_, f); }
  using shared_scan = engines::dramhit::shared_scan<Policy>;
  [[nodiscard]] shared_scan begin_shared_scan() const noexcept {
    return shared_scan(engines::dramhit::phase_of<Policy>(generations::first(table_)));
  }
  template <class F> void for_each_of(shared_scan& shared, thread_record&, F f) {
    engines::dramhit::for_each_of<Policy>(shared, f);
  }
  static void end_shared_scan(shared_scan& shared) noexcept { shared.end(); }
  template <class Make, class Take>
  CUBBY_ALWAYS_INLINE void find_many(thread_record&, std::size_t count, Make make, Take take) const {
    engines::dramhit::find_many(table_, count, make, take);
  }

  [[nodiscard]] std::size_t size() const noexcept { return arrays::live_entries(table_); }
  [[nodiscard]] std::size_t capacity() const noexcept { return generations::capacity(table_); }
  [[nodiscard]] table_stats stats() const noexcept { return engines::dramhit::stats(table_); }
  bool reserve(thread_record& s, std::size_t entries) {
    bool done = false;
    {
      const auto stay = pin(s);
      done = arrays::reserve(table_, entries);
    }
    generations::release_retired(table_); // the pin has kept them
    return done;
  }
  bool shrink_to_fit(thread_record& s) {
    bool done = false;
    {
      const auto stay = pin(s);
      done = arrays::shrink_to_fit(table_);
    }
    collect(s);
    return done;
  }

private:
  mutable engines::dramhit::table<Policy> table_;
  bool ok_ = true;
};

} // namespace detail

/// Engine tag: DRAMHiT, with one array for all threads and slots of 16 bytes. Keys and values that do not fit lie in records.
struct dramhit {
  using options = detail::engines::dramhit::options;
  template <class Policy> using engine = detail::dramhit_engine<Policy>;
};

/// Engine tag: DRAMHiT with tuples. Plain keys and values of at most 56 bytes together lie in the table, in tuples of 32 or 64 bytes.
struct dramhit_tuples : dramhit {
  static constexpr bool keeps_tuples = true;
};

} // namespace cubby::inline v0
