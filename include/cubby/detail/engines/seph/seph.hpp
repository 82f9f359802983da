// SPDX-License-Identifier: Apache-2.0
// Binds the seph engine to the contract. Paper: Wang, Hu, Yang, Liang, Yang, "SEPH: Scalable, Efficient, and Predictable Hashing on
// Persistent Memory", OSDI 2023. README.md beside this file has it in one page, and what we changed and why.
#pragma once

#include <type_traits>
#include <utility>

#include <cubby/detail/engines/seph/batch.hpp>
#include <cubby/detail/engines/seph/grow.hpp>
#include <cubby/detail/engines/seph/lifecycle.hpp>
#include <cubby/detail/engines/seph/mutate.hpp>
#include <cubby/detail/engines/seph/records.hpp>
#include <cubby/detail/engines/seph/snapshot.hpp>
#include <cubby/detail/engines/seph/stats.hpp>
#include <cubby/detail/platform/fail.hpp>

namespace cubby::inline v0 {

namespace detail {

/// A codec whose records have space for an item. A record at an address that a slot cannot hold is no record: its
/// caller gets the answer `no_memory`.
template <class Base> class seph_codec : public Base {
public:
  using Base::Base;
  template <class Q, class... A>
  [[nodiscard]] made_word make(const typename Base::probe& p, Q&& key, A&&... args) const {
    const made_word made = Base::make(p, std::forward<Q>(key), std::forward<A>(args)...);
    if (!made.ok || engines::seph::slot_word::can_hold(std::bit_cast<std::uint64_t>(Base::front_of(made.word))))
        [[likely]]
      return made;
    Base::dispose(made.word);
    return {false, 0};
  }
};
/// A durable table has records of its own.
template <class Codec> struct seph_policy {
  using type = seph_codec<typename Codec::template with_front<sizeof(engines::seph::item), block_pages::small>>;
};
template <engines::seph::durable Codec> struct seph_policy<Codec> {
  using type = engines::seph::file_records<Codec>;
};

/// Maps words to words (the contract is in contract/engine.hpp). Each operation runs inside a guard.
template <class Codec> class seph_engine {
public:
  using policy = typename seph_policy<Codec>::type;
  using probe = typename policy::probe;
  using options_type = engines::seph::options;
  using stats_type = engines::seph::table_stats;
  static_assert(policy::in_records, "a slot of seph leads to a record");
  static constexpr engine_claims claims{
      .lock_free_find = true,
      .lock_free_insert = true,
      .bounded_bins = true,
      .grows_without_blocking = true,
      .scans_once = true,
  };

  /// Throws std::bad_alloc if there is no memory for the first segments, or no background thread; without exceptions `ok` is then false.
  seph_engine(const options_type& chosen, policy slots) : table_(engines::seph::limited(chosen), std::move(slots)) {
    ok_ = engines::seph::open(table_);
    if (ok_) return;
    engines::seph::close(table_);
    fail::with_no_memory();
  }
  ~seph_engine() {
    if (ok_) engines::seph::close(table_);
  }
  /// Moves an idle table. `from` is then empty; without memory or a thread for that it is not `ok`.
  seph_engine(seph_engine&& from) noexcept
    requires(!engines::seph::durable<policy>) && std::is_nothrow_copy_constructible_v<policy>
      : table_(from.ok_ ? engines::seph::at_rest(from.table_) : std::move(from.table_)), ok_(from.ok_) {
    from.ok_ = ok_ && after_move(table_, from.table_, engines::seph::background_work<policy>);
  }
  seph_engine(const seph_engine&) = delete;
  seph_engine& operator=(const seph_engine&) = delete;

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] const policy& slots() const noexcept { return table_.policy; }

  /// Keeps alive what the table shows, until the returned object ends. Nests. It costs one store at each end.
  static thread_pin pin(thread_record& s) noexcept { return thread_pin(s); }
  /// The calling thread's record; null if there is no memory for one.
  [[nodiscard]] thread_record* local_thread_record() noexcept { return registry::local(*table_.home); }
  /// A thread record for a handle; null: no memory.
  [[nodiscard]] thread_record* claim_thread_record() noexcept { return registry::claim(*table_.home); }

  CUBBY_ALWAYS_INLINE found_word find(thread_record&, const probe& p) const noexcept {
    return engines::seph::find(table_, p);
  }
  CUBBY_ALWAYS_INLINE void prefetch(const probe& p) const noexcept {
    const std::uint64_t hash = engines::seph::spread<policy>(p.hash);
    engines::seph::prefetch_buckets(table_, *engines::seph::leaf_of(table_, hash), hash);
  }
  CUBBY_ALWAYS_INLINE void prefetch_record(const probe& p) const noexcept { engines::seph::prefetch_item(table_, p); }
  CUBBY_ALWAYS_INLINE inserted_word insert(thread_record& s, const probe& p, std::uint64_t word) noexcept {
    return engines::seph::insert(table_, s, p, word);
  }
  template <class F> CUBBY_ALWAYS_INLINE mutated mutate(thread_record& s, const probe& p, F f) {
    return engines::seph::mutate(table_, s, p, f);
  }
  void retire(thread_record& s, std::uint64_t word) {
    if constexpr (engines::seph::durable<policy>) engines::seph::retire(table_, s, word);
    else table_.bag.add(s, word);
  }
  /// Ends the workers, at the table's end. From then on callers do all work.
  void stop_worker() noexcept {
    table_.worker.stop();
    if constexpr (engines::seph::durable<policy>) table_.in_file.syncs.stop();
  }
  /// After that: disposes of all retired words; true if there was one.
  bool dispose_retired() { return table_.bag.dispose_all(); }
  void collect_records() {
    if constexpr (!engines::seph::durable<policy> && plain_disposal<policy>) table_.bag.collect_many();
  }
  void collect(thread_record&) {
    table_.bag.collect();
    table_.structure_lock.lock();
    engines::seph::unlink_ended(table_);
    engines::seph::reclaim(table_);
    table_.halves.release_free();
    {
      const lock_scope keep(table_.old_directories.lock);
      table_.old_directories.release(~std::size_t{0});
    }
    engines::seph::unlock_structure(table_);
  }

  template <class F> void for_each(thread_record&, F f) { engines::seph::for_each(table_, f); }
  using shared_scan = engines::seph::shared_scan;
  [[nodiscard]] shared_scan begin_shared_scan() const noexcept { return {}; }
  template <class F> void for_each_of(shared_scan& shared, thread_record&, F f) {
    engines::seph::for_each_of(table_, shared, f);
  }
  static void end_shared_scan(shared_scan& shared) noexcept {
    shared.next.store(engines::seph::all_taken, sync::relaxed); // relaxed: only a request to stop early
  }
  template <class Begin, class Sink> bool snapshot(thread_record&, Begin begin, Sink sink) {
    return engines::seph::snapshot(table_, begin, sink);
  }
  template <class Make, class Take>
  CUBBY_ALWAYS_INLINE void find_many(thread_record&, std::size_t count, Make make, Take take) const {
    engines::seph::find_many(table_, count, make, take);
  }

  [[nodiscard]] std::size_t size() const noexcept {
    return static_cast<std::size_t>(engines::seph::live_entries(table_));
  }
  [[nodiscard]] std::size_t capacity() const noexcept {
    // relaxed: a recent figure
    return static_cast<std::size_t>(table_.leaves.load(sync::relaxed) * engines::seph::slots_of_segment(table_));
  }
  [[nodiscard]] stats_type stats() const noexcept { return engines::seph::stats(table_); }
  bool reserve(thread_record& s, std::size_t entries) noexcept {
    const thread_pin stay(s);
    return engines::seph::reserve(table_, entries);
  }
  bool shrink_to_fit(thread_record& s) {
    if (table_.settings.shrink == shrink_policy::never) collect(s);
    else engines::seph::shrink_to_fit(table_, s, [&] { collect(s); });
    return true;
  }

  static constexpr auto code = pool_layout::engine_code::seph;
  static constexpr bool has_log = false;
  using file_options = engines::seph::segment_options;
  /// What a new file says of its slots.
  static bool describe(pool_layout::identity& out, const options_type& wanted) noexcept {
    return engines::seph::describe(out, wanted);
  }
  /// Makes everything durable that was done before. False: the system could not write.
  bool sync(thread_record& s) noexcept
    requires engines::seph::durable<policy>
  {
    return engines::seph::sync_table(table_, s);
  }
  bool checkpoint(thread_record& s) noexcept
    requires engines::seph::durable<policy>
  {
    return engines::seph::sync_table(table_, s);
  }
  /// Slots are in memory alone, so a move needs no end.
  bool end_move(thread_record&) noexcept
    requires engines::seph::durable<policy>
  {
    return true;
  }

private:
  mutable engines::seph::table<policy> table_;
  bool ok_ = false;
};

} // namespace detail

/// Engine tag for cubby::map and cubby::set: growth by small splits, so that no insert takes long. All entries are in records. Lookups,
/// inserts and changes take no lock. The highest bits of the hash choose the bucket.
struct seph {
  static constexpr bool keeps_records = true;
  static constexpr bool keeps_files = true;
  using options = detail::engines::seph::options;
  template <class Codec> using engine = detail::seph_engine<Codec>;
};

} // namespace cubby::inline v0
