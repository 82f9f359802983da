// SPDX-License-Identifier: Apache-2.0
// Binds the iceberg engine to the contract. Paper: Pandey, Bender, Conway, Farach-Colton, Kuszmaul, Tagliavini, Johnson, "IcebergHT:
// High Performance Hash Tables Through Stability and Low Associativity", SIGMOD 2023. README.md beside this file has it in one page,
// and what we changed and why.
#pragma once

#include <type_traits>
#include <utility>

#include <cubby/detail/engines/iceberg/batch.hpp>
#include <cubby/detail/engines/iceberg/lifecycle.hpp>
#include <cubby/detail/engines/iceberg/modify.hpp>
#include <cubby/detail/engines/iceberg/scan.hpp>
#include <cubby/detail/engines/iceberg/stats.hpp>
#include <cubby/detail/platform/fail.hpp>

namespace cubby::inline v0 {

namespace detail {

/// Maps words to words (the contract is in contract/engine.hpp). Each operation runs inside a guard.
template <class Codec> class iceberg_engine {
public:
  using policy = Codec;
  using probe = typename Codec::probe;
  using value_type = typename Codec::stored_value;
  using options_type = engines::iceberg::options;
  using stats_type = engines::iceberg::table_stats;
  static constexpr engine_claims claims{
      .lock_free_find = !engines::iceberg::waits_for_writer<Codec>,
      .slots_freed_at_once = true,
      .grows_without_blocking = true,
  };

  /// Throws std::bad_alloc if there is no memory for the first segment, or no background thread; without exceptions `ok` is then false.
  iceberg_engine(const options_type& chosen, Codec slots) : table_(chosen, std::move(slots)) {
    ok_ = engines::iceberg::open(table_);
    if (ok_) return;
    engines::iceberg::close(table_);
    fail::with_no_memory();
  }
  ~iceberg_engine() {
    if (ok_) engines::iceberg::close(table_);
  }
  /// Moves an idle table. `from` is then empty; without memory or a thread for that it is not `ok`.
  iceberg_engine(iceberg_engine&& from) noexcept
    requires(!engines::iceberg::durable<Codec>) && std::is_nothrow_copy_constructible_v<Codec>
      : table_(from.ok_ ? engines::iceberg::at_rest(from.table_) : std::move(from.table_)), ok_(from.ok_) {
    from.ok_ = ok_ && after_move(table_, from.table_, engines::iceberg::background_work<Codec>);
  }
  iceberg_engine(const iceberg_engine&) = delete;
  iceberg_engine& operator=(const iceberg_engine&) = delete;

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] const policy& slots() const noexcept { return table_.policy; }

  /// Keeps alive what the table shows, until the returned object ends. Nests. It costs one store at each end.
  static thread_pin pin(thread_record& s) noexcept { return thread_pin(s); }
  /// The calling thread's record; null if there is no memory for one.
  [[nodiscard]] thread_record* local_thread_record() noexcept { return registry::local(*table_.home); }
  /// A thread record for a handle; null: no memory.
  [[nodiscard]] thread_record* claim_thread_record() noexcept { return registry::claim(*table_.home); }

  /// By a probe, or by a query of the codec.
  template <class Asked> CUBBY_ALWAYS_INLINE found_as<value_type> find(thread_record&, const Asked& p) const noexcept {
    return engines::iceberg::find(table_, p);
  }
  CUBBY_ALWAYS_INLINE void prefetch(const probe& p) const noexcept { engines::iceberg::prefetch_front(table_, p.hash); }
  static constexpr bool ends_in_asked_lines = true;
  static constexpr bool entries_behind_line = true;
  CUBBY_ALWAYS_INLINE void prefetch_second(const probe& p) const noexcept {
    engines::iceberg::prefetch_slot(table_, p.hash);
  }
  CUBBY_ALWAYS_INLINE void prefetch_record(const probe& p) const noexcept
    requires entries_apart<Codec>
  {
    engines::iceberg::prefetch_record(table_, p);
  }
  CUBBY_ALWAYS_INLINE auto insert(thread_record& s, const probe& p, const value_type& value) {
    return engines::iceberg::insert(table_, s, p, value);
  }
  /// By a probe, or by a query of the codec.
  template <class Asked, class F> CUBBY_ALWAYS_INLINE mutated_as<value_type> mutate(thread_record& s, const Asked& p,
                                                                                    F f) {
    return engines::iceberg::mutate(table_, s, p, f);
  }
  template <class F> mutated_as<value_type> modify(const probe& p, F f) {
    return engines::iceberg::modify(table_, p, f);
  }
  /// The value in its slot, or null if the key is absent. An assign writes it in place. It stays there until the entry is erased or a
  /// resize moves it.
  [[nodiscard]] const void* address_of(const probe& p) const noexcept
    requires(!Codec::in_records && Codec::has_values &&
             alignof(typename Codec::mapped_type) <= alignof(std::uint64_t)) // slots are no better aligned
  {
    const auto e = engines::iceberg::find_anywhere(table_, p);
    return e.where == nullptr ? nullptr : &e.where->value[0];
  }
  void retire(thread_record& s, const value_type& word) {
    if constexpr (policy::unique_words) table_.bag.add(s, word);
    if constexpr (engines::iceberg::durable<Codec>) engines::iceberg::sync_if_much_waits(table_);
  }
  /// Ends the worker, at the table's end. From then on callers do all work.
  void stop_worker() noexcept {
    table_.worker.stop();
    if constexpr (engines::iceberg::durable<Codec>) engines::iceberg::stop_syncs(table_);
  }
  /// After that: disposes of all retired words; true if there was one.
  bool dispose_retired() { return table_.bag.dispose_all(); }
  void collect_records() {
    if constexpr (engines::iceberg::durable<policy>) return; // their blocks wait for a sync
    else if constexpr (key_owning_policy<policy>) table_.key_records.bag.collect_many();
    else if constexpr (plain_disposal<policy>) table_.bag.collect_many();
  }
  void collect(thread_record&) {
    table_.node_bag.collect();
    table_.bag.collect();
    if constexpr (key_owning_policy<policy>) table_.key_records.bag.collect();
    lock_scope keep(table_.retired.lock);
    table_.retired.release(~std::size_t{0});
  }

  template <class F> void for_each(thread_record&, F f) { engines::iceberg::for_each(table_, f); }
  using shared_scan = engines::iceberg::shared_scan<policy>;
  [[nodiscard]] shared_scan begin_shared_scan() const noexcept {
    return shared_scan(engines::iceberg::first_phase(table_));
  }
  template <class F> void for_each_of(shared_scan& shared, thread_record&, F f) {
    engines::iceberg::for_each_of(table_, shared, f);
  }
  static void end_shared_scan(shared_scan& shared) noexcept { shared.end(); }
  template <class Make, class Take>
  CUBBY_ALWAYS_INLINE void find_many(thread_record&, std::size_t count, Make make, Take take) const {
    engines::iceberg::find_many(table_, count, make, take);
  }

  [[nodiscard]] std::size_t size() const noexcept {
    return static_cast<std::size_t>(engines::iceberg::live_entries(table_));
  }
  [[nodiscard]] std::size_t capacity() const noexcept {
    return static_cast<std::size_t>(engines::iceberg::slots_at(table_, engines::iceberg::first_root(table_).level()));
  }
  [[nodiscard]] stats_type stats() const noexcept { return engines::iceberg::stats(table_); }
  bool reserve(thread_record& s, std::size_t entries) noexcept {
    const thread_pin stay(s);
    return engines::iceberg::reserve(table_, s, entries);
  }
  static constexpr auto code = pool_layout::engine_code::iceberg;
  static constexpr bool has_log = true;
  using file_options = engines::iceberg::resize_options;
  /// What a new file says of its slots, and how many buckets it begins with.
  static bool describe(pool_layout::identity& out, const options_type& wanted) noexcept
    requires engines::iceberg::durable<Codec>
  {
    return engines::iceberg::describe<Codec>(out, wanted);
  }
  /// Ends a growth or a shrink that is under way. False: no memory, or no disk space.
  bool end_move(thread_record& s) noexcept
    requires engines::iceberg::durable<Codec>
  {
    const thread_pin stay(s);
    return engines::iceberg::finish_move(table_, s);
  }
  /// Makes everything durable that was done before.
  bool sync(thread_record& s) noexcept
    requires engines::iceberg::durable<Codec>
  {
    return engines::iceberg::sync_table(table_, s);
  }
  /// The same, in the slots of the file that lookups read: no log is needed for it any more.
  bool checkpoint(thread_record& s) noexcept
    requires engines::iceberg::durable<Codec>
  {
    return engines::iceberg::checkpoint(table_, s);
  }
  bool shrink_to_fit(thread_record& s) {
    const bool done = table_.settings.shrink == shrink_policy::never || [&] {
      const thread_pin stay(s);
      return engines::iceberg::shrink_to_fit(table_, s);
    }();
    collect(s);
    return done;
  }

private:
  engines::iceberg::table<Codec> table_;
  bool ok_ = false;
};

} // namespace detail

/// Engine tag for cubby::map and cubby::set: full tables with entries that stay where they are. Lookups take no lock; changes lock the
/// bucket of their key. The highest bits of the hash choose the bucket, and after a growth its lowest bits, too.
struct iceberg {
  static constexpr bool keeps_wide_slots = true;
  static constexpr bool keeps_files = true;
  using options = detail::engines::iceberg::options;
  template <class Codec> using engine = detail::iceberg_engine<Codec>;
};

/// The same for text keys of 24 to 55 bytes, such as UUIDs, hashes in hexadecimal, paths and URLs. Slots have 64 bytes. A key of up to 55 bytes lies in
/// its slot beside a value of 8, or one of up to 63 bytes in a set. Longer keys lie in key records, as in `iceberg`. Other types of keys
/// are refused. Not for tables in files.
struct iceberg_wide : iceberg {
  static constexpr bool keeps_wide_texts = true;
  static constexpr bool keeps_files = false;
};

} // namespace cubby::inline v0
