// SPDX-License-Identifier: Apache-2.0
// The contract of engines, which map words to words. Each table needs `contract::engine`. The concepts after it are optional: a
// table has an operation only if its engine models the concept. An engine never sees a user's type: it gets a hashed key (probe)
// and compares keys through its `policy`.
// "Inside a guard" means: the caller holds an object that `pin` has returned for the thread record that it passes. What a call
// shows inside a guard stays readable until the guard ends. One thread at a time uses a thread record.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cubby/detail/core/contract/codec.hpp>
#include <cubby/detail/core/contract/options.hpp>
#include <cubby/detail/core/contract/results.hpp>
#include <cubby/detail/core/registry.hpp>

namespace cubby::inline v0::detail {

/// What an engine says of itself because no concept can check it. The conformance suite and the table of docs/choose.md use it.
struct engine_claims {
  bool lock_free_find = false;
  bool lock_free_insert = false;
  bool slots_freed_at_once = false; ///< another key can use the slot of an erased entry at once
  bool bounded_bins = false;        ///< the answer is `crowded` if one bin gets more keys of one hash than it holds
  bool grows_without_blocking = false;
  bool scans_once = false; ///< `for_each` shows no entry twice, also while entries move
  bool one_thread_only = false;
};

namespace contract {

/// Tells an engine from a map that has one. Without it a call of a user's function with a map could find one of ours.
template <class E> concept with_policy = requires { typename E::policy; };

template <class E> using stored_key_of = typename E::policy::stored_key;
template <class E> using stored_value_of = typename E::policy::stored_value;

// The caller's functions, as an engine sees them.
template <class E> struct any_decider { ///< of `mutate` and `modify`
  decision_as<stored_value_of<E>> operator()(const stored_value_of<E>&) const;
};
template <class E> struct any_visitor { ///< of `for_each` and `snapshot`
  void operator()(const stored_key_of<E>&, const stored_value_of<E>&) const;
};
struct any_bound { ///< of `snapshot`
  bool operator()(std::size_t) const;
};
template <class E> struct any_asker { ///< of `find_many`
  typename E::probe operator()(std::size_t) const;
};
template <class E> struct any_taker { ///< of `find_many`
  void operator()(std::size_t, const found_as<stored_value_of<E>>&) const;
};

/// The result of an insert. `shown`: the caller's words were in a slot for a while, so other threads may have read them although they
/// were not inserted. The caller must then retire its record instead of freeing it.
template <class R>
concept insert_result = requires(const R& result) {
  { result.outcome } -> std::convertible_to<insert_outcome>;
  { result.shown } -> std::convertible_to<bool>;
};

/// Construction and destruction.
///  - `E(options, policy)`: throws std::bad_alloc if there is no memory or no thread; without exceptions `ok` is then false, and
///    the engine may only be destroyed and moved. `options_type` is `cubby::options` or derives from it.
///  - the destructor: no other thread uses the engine, and no guard is held. It disposes of all entries and all retired words.
template <class E>
concept makeable =
    std::derived_from<typename E::options_type, options> && std::default_initializable<typename E::options_type> &&
    std::constructible_from<E, const typename E::options_type&, typename E::policy> && requires(const E& e) {
      { e.ok() } noexcept -> std::same_as<bool>;
      { e.slots() } noexcept -> std::same_as<const typename E::policy&>; // the codec
    };

/// Thread records and guards.
///  - `pin(thread_record)`: a guard, which ends with the returned object. Guards of one thread record nest. Takes no lock. If its type is
///    `thread_pin`, a lookup that is alone may take a cheaper one instead. So `pin` may do no more then than make that object.
///  - `local_thread_record()`: the calling thread's record; null if there is no memory for one. No thread gives it back.
///  - `claim_thread_record()`: a thread record for a handle; null without memory. The caller gives it back with
///    `registry::release`, outside every guard. An engine that claims `one_thread_only` need not have it.
template <class E>
concept guarded = requires(E& e, thread_record& s) {
  { e.pin(s) } -> std::destructible;
  { e.local_thread_record() } noexcept -> std::same_as<thread_record*>;
  requires E::claims.one_thread_only || requires {
    { e.claim_thread_record() } noexcept -> std::same_as<thread_record*>;
  };
};

/// An engine whose codec has queries: `find` takes them as well.
template <class E>
concept finds_by_query = requires(E& e, thread_record& s, const typename E::policy::query& query) {
  { e.find(s, query) } -> std::same_as<found_as<stored_value_of<E>>>;
};

/// Lookups and statistics, which all engines have, also those that delegate their writes.
///  - `find(thread_record, probe)`, inside a guard: the value words of the visible entry of this key. Linearizable. Of the
///    caller's code it runs only the policy's `matches`. The words of a record stay valid until the guard ends, also if other
///    threads replace or erase the entry.
///  - `size()`, `capacity()`, `stats()`: outside or inside a guard; exact while no thread writes. `stats_type` is `table_stats`
///    or derives from it.
template <class E>
concept lookup_engine = std::convertible_to<decltype(E::claims), engine_claims> && makeable<E> && guarded<E> &&
                        std::derived_from<typename E::stats_type, table_stats> &&
                        requires(E& e, thread_record& s, const typename E::probe& probe) {
                          { e.find(s, probe) } -> std::same_as<found_as<stored_value_of<E>>>;
                          { e.size() } -> std::convertible_to<std::size_t>;
                          { e.capacity() } -> std::convertible_to<std::size_t>;
                          { e.stats() } -> std::same_as<typename E::stats_type>;
                        } && (!key_owning_policy<typename E::policy> || finds_by_query<E>);

/// How records end (`policy::in_records`). The engine disposes of no record that a caller may still see.
///  - `retire(thread_record, value words)`, inside the guard under which the caller has removed the words: hands the record to the
///    engine, which disposes of it after all present guards have ended. Allocates nothing. A record is retired at most once.
///  - `stop_worker()`, at the table's end, by a single thread: ends the engine's own thread. Later calls do its work.
///  - `dispose_retired()`, after that, while no guard is held: disposes of each retired record; true if there was one. It runs
///    the user's destructors, which may call the table.
template <class E>
concept retiring = requires(E& e, thread_record& s, const stored_value_of<E>& words) {
  e.retire(s, words);
  { e.stop_worker() } noexcept;
  { e.dispose_retired() } -> std::same_as<bool>;
};

/// An engine whose operations are answered. Each operation is linearizable for its key, and holds no lock and no bin while a
/// function of the caller runs. `slots().is_legal(probe)` holds for every insert.
///  - `insert(thread_record, probe, value words)`, inside a guard: the entry becomes visible, or the outcome says why not. On
///    `inserted` the record belongs to the table, else to the caller (see `insert_result`).
///  - `mutate(thread_record, probe, f)`, inside a guard: shows `f` the value words of the visible entry, and carries out its
///    decision if the entry is still the same. Otherwise `f` runs again with the new words. So `f` may run any number of times;
///    its last decision counts. `f` may call the table, but must not change this entry. If it throws, the entry stays. A record
///    that was replaced or erased is `before` in the answer, and *the caller retires it*, inside the same guard. The new words
///    of a `replace` belong to the table if `done` is `replace`, else to the caller.
template <class E>
concept engine = lookup_engine<E> && (!E::policy::in_records || retiring<E>) &&
                 requires(E& e, thread_record& s, const typename E::probe& probe, const stored_value_of<E>& words,
                          any_decider<E> f) {
                   { e.insert(s, probe, words) } -> insert_result;
                   { e.mutate(s, probe, f) } -> std::same_as<mutated_as<stored_value_of<E>>>;
                 };

/// `find_many(thread_record, n, make, take)`, inside a guard: calls `take(i, found)` once for each i below n; `found` is the answer
/// to the probe `make(i)`, or to a query if the codec has queries. Equal probes are answered in their order, others in any order. The first calls of `make` are in the
/// order of i. `make(i)` may be called again until 64 later probes have been made (two groups of prefetch_group.hpp). No lock is
/// held while these functions run. An exception of theirs ends the call.
template <class E>
concept many_finding = lookup_engine<E> && requires(E& e, thread_record& s, any_asker<E> make, any_taker<E> take) {
  e.find_many(s, std::size_t{}, make, take);
};
/// Batches: lookups use `find_many`; mixed operations run one after the other, through `find`, `insert` and `mutate`.
template <class E> concept batched = engine<E> && many_finding<E>;

/// Hints, without effect on results. Inside a guard.
///  - `prefetch(probe)`: prefetches the line where a lookup begins. Never waits.
///  - `prefetch_second(probe)`, optional, some time after `prefetch`: reads that line and prefetches a second one that it leads to. Batches of
///    inserts call it if there are no records, and all batches if `entries_behind_line`: no entry is in the first line.
///  - `prefetch_record(probe)`, for records and codecs that own keys, some time after those. It reads what they have asked for, and prefetches
///    the record of the entry, or the text of its long key.
template <class E>
concept prefetching = lookup_engine<E> && requires(E& e, const typename E::probe& probe) {
  { e.prefetch(probe) } noexcept;
  requires !E::policy::in_records || requires {
    { e.prefetch_record(probe) } noexcept;
  };
};

template <class E>
concept prefetching_second = prefetching<E> && requires(E& e, const typename E::probe& probe) {
  { e.prefetch_second(probe) } noexcept;
};
template <class E>
concept prefetching_record =
    prefetching<E> && entries_apart<typename E::policy> && requires(E& e, const typename E::probe& probe) {
      { e.prefetch_record(probe) } noexcept;
    };
/// `ends_in_asked_lines`, optional: nearly all requests end in the lines that `prefetch` and `prefetch_second` have asked for, if there are no records.
template <class E>
concept ending_in_asked_lines =
    prefetching<E> && !prefetching_record<E> && requires { requires E::ends_in_asked_lines; };
template <class E> concept entries_behind_line = prefetching_second<E> && requires { requires E::entries_behind_line; };

/// `reserve(thread_record, entries)`, outside or inside a guard, for whose end it never waits: makes the table large enough for so
/// many entries. False: no memory, or the bound of a `fixed` table is smaller; the table works on as before.
template <class E>
concept growable = lookup_engine<E> && requires(E& e, thread_record& s) {
  { e.reserve(s, std::size_t{}) } -> std::same_as<bool>;
};
/// `shrink_to_fit(thread_record)`, outside or inside a guard, for whose end it never waits: gives memory back, down to
/// `options.capacity`, and disposes of retired words that no guard protects. Under `shrink_policy::never` it does only the latter.
/// False: no memory for a smaller index; the table works on as before.
template <class E>
concept shrinkable = lookup_engine<E> && requires(E& e, thread_record& s) {
  { e.shrink_to_fit(s) } -> std::same_as<bool>;
};
/// `collect(thread_record)`, outside or inside a guard: disposes at once of retired words that no guard protects. The API calls it when
/// there was no memory for a record, tests at any time. Engines also do this in the course of other operations.
/// Optional, `collect_records()`, after a `clear` and outside of its pin: the same for words that own no object of the user, without a wait.
template <class E> concept collecting = lookup_engine<E> && requires(E& e, thread_record& s) { e.collect(s); };

/// `for_each(thread_record, f)`, inside a guard: calls `f(key words, value words)` for visible entries. No lock is held, so `f` may
/// call the table and change this entry. An entry that is present throughout is shown at least once (with `scans_once` exactly
/// once). An entry that is inserted or erased meanwhile may be shown or not. An exception of `f` ends the call. An engine without
/// `scans_once` calls `end_part(f)` where an entry that it has shown may be met again (scan_phases.hpp).
template <class E>
concept iterable = lookup_engine<E> && requires(E& e, thread_record& s, any_visitor<E> f) { e.for_each(s, f); };

/// A scan that several threads share.
///  - `begin_shared_scan()`, inside a guard that lasts until the last thread has ended its part: what the threads share. It may throw
///    std::bad_alloc, as `for_each`.
///  - `for_each_of(scan, thread_record, f)`, inside a guard of the thread: shows what the other threads leave, as `for_each`. When it has returned in
///    all threads, they have shown what `for_each` shows.
///  - `end_shared_scan(scan)`: the threads take nothing more.
template <class E>
concept splittable = iterable<E> && requires { typename E::shared_scan; } &&
                     requires(E& e, thread_record& s, typename E::shared_scan& scan, any_visitor<E> f) {
                       { e.begin_shared_scan() } -> std::same_as<typename E::shared_scan>;
                       e.for_each_of(scan, s, f);
                       { E::end_shared_scan(scan) } noexcept;
                     };

/// `snapshot(thread_record, begin, sink)`, inside a guard: calls `begin(bound)` once, where `bound` is at least the number of
/// entries; then `sink(key words, value words)` for each entry that is visible at one point in time during the call. Writers
/// wait meanwhile, so neither function may call the table or throw. False: `begin` answered false, or there was no memory.
template <class E>
concept snapshotting = engine<E> && requires(E& e, thread_record& s, any_bound begin, any_visitor<E> sink) {
  { e.snapshot(s, begin, sink) } -> std::same_as<bool>;
};

/// A table that moves while it is idle: no other thread uses it, and no thread record of a handle, no guard, hidden entry or scan of it
/// lives. What the move leaves is an empty table with the same options. Only a bound keeps its capacity. Without memory or a
/// thread for that it is not `ok`. One that is not `ok` moves, too, and neither of the two is then. What waits for its end is disposed
/// of before.
template <class E> concept movable = lookup_engine<E> && std::is_nothrow_move_constructible_v<E>;

/// Entries that are inserted and hidden. All three calls run inside a guard; it need not be the same one.
///  - `shadow_insert(thread_record, probe, value words)`: as `insert`, but no lookup, mutate, scan or snapshot sees the entry.
///    Other inserts of the key answer `exists`.
///  - `shadow_commit(thread_record, probe, value words)`: makes the entry visible.
///  - `shadow_abort(thread_record, probe, value words)`: removes it. *The caller retires its record*, inside the same guard.
/// Exactly one call of the last two ends each reservation.
template <class E>
concept reserving =
    engine<E> && requires(E& e, thread_record& s, const typename E::probe& probe, const stored_value_of<E>& words) {
      { e.shadow_insert(s, probe, words) } -> insert_result;
      e.shadow_commit(s, probe, words);
      e.shadow_abort(s, probe, words);
    };

/// `modify(probe, f)`, inside a guard: as `mutate`, but `f` runs at most once, and other changes of this entry wait meanwhile.
/// Lookups and operations on other keys go on. *The caller retires* `before`, as after `mutate`.
template <class E>
concept exclusive = engine<E> && requires(E& e, const typename E::probe& probe, any_decider<E> f) {
  { e.modify(probe, f) } -> std::same_as<mutated_as<stored_value_of<E>>>;
};

/// `address_of(probe)`, inside a guard, for entries without records: the address of the value in its slot, or null. The entry stays there
/// until it is erased or the table is resized.
template <class E>
concept stable = engine<E> && !E::policy::in_records && requires(const E& e, const typename E::probe& probe) {
  { e.address_of(probe) } noexcept -> std::same_as<const void*>;
};

/// Pending requests. A `course` is the state of one: the line of its search that comes next. It is valid only inside the guard in
/// which it was made.
///  - `aim(probe)`: a course at the beginning of the search. Reads no line of the table.
///  - `ask(course)`: prefetches the first line.
///  - `advance(course, probe)`: true: all lines that the request needs are prefetched, and the caller may carry it out with
///    `find`, `insert` or `mutate`. False: one more line has been prefetched; the caller calls again later.
///  - `find_along(course, probe, out)`, for entries without records: the same; if true, `out` is the answer of `find`.
template <class E>
concept pipelined = engine<E> && requires(E& e, typename E::course& course, const typename E::probe& probe,
                                          found_as<stored_value_of<E>>& out) {
  { e.aim(probe) } noexcept -> std::same_as<typename E::course>;
  { e.ask(course) } noexcept;
  { e.advance(course, probe) } noexcept -> std::same_as<bool>;
  requires E::policy::in_records || requires {
    { e.find_along(course, probe, out) } noexcept -> std::same_as<bool>;
  };
};
/// A pipelined engine may also change an entry as soon as the search meets it: `mutate_along(thread_record, course, probe, f, out)`,
/// inside a guard. False: as for `advance`. True: `out` is the answer of `mutate`; `f` may have run several times.
template <class E>
concept mutating_along =
    pipelined<E> && requires(E& e, thread_record& s, typename E::course& course, const typename E::probe& probe,
                             any_decider<E>& f, mutated_as<stored_value_of<E>>& out) {
      { e.mutate_along(s, course, probe, f, out) } -> std::same_as<bool>;
    };

/// Engines whose writes are sent and not answered. One thread at a time uses a `sender`.
///  - `open_sender()`: null without memory. `close_sender(sender)` flushes it and gives it back.
///  - `insert_or_assign`, `insert_or_add`, `erase`: writes of one sender on one key are carried out in the order of sending.
///  - `flush(sender)`: returns when all its writes are carried out. False: some were dropped for want of memory.
///  - `partitions()`, `partition_of(probe)`: the number of partitions, and the partition of a key.
///  - `look_after(sender, partition, whether)`: makes the sender an owner of the partition, or ends that.
///  - `serve(sender)`: carries out pending writes of the sender's partitions, and returns their number.
/// No word is ever retired, because entries have no records.
template <class E>
concept delegating =
    many_finding<E> && prefetching<E> && iterable<E> && growable<E> && shrinkable<E> && (!E::policy::in_records) &&
    requires(E& e, typename E::sender& from, const typename E::probe& probe, const stored_value_of<E>& words) {
      { e.open_sender() } noexcept -> std::same_as<typename E::sender*>;
      { e.close_sender(from) } noexcept;
      { e.insert_or_assign(from, probe, words) } -> std::same_as<outcome>;
      { e.insert_or_add(from, probe, words) } -> std::same_as<outcome>;
      e.erase(from, probe);
      { e.flush(from) } -> std::same_as<bool>;
      { e.partitions() } -> std::convertible_to<std::size_t>;
      { e.partition_of(probe) } -> std::convertible_to<std::size_t>;
      e.look_after(from, std::size_t{}, bool{});
      { e.serve(from) } -> std::convertible_to<std::size_t>;
    };

/// `histogram()`: how full the bins are, for engines that count this. Outside a guard. Reads the whole table.
template <class E> concept counting_bins = lookup_engine<E> && requires(const E& e) { e.histogram(); };

} // namespace contract

} // namespace cubby::inline v0::detail
