// SPDX-License-Identifier: Apache-2.0
// The contract of engines, which map words to words. `contract::engine` is what each table needs; the concepts after it are what
// an engine may offer beside that, and a table has an operation only where its engine models the concept. An engine never sees a
// user's type: it is asked with a probe, and compares through its `policy`.
//
// Guards: "inside a guard" means that the caller holds an object that `pin(thread_record)` has returned, for the same thread record
// that it hands over. What a call shows inside a guard stays readable until the guard ends. One thread at a time uses a thread
// record.
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

/// What an engine says of itself where no concept can see it. Drives the conformance suite and the README's table.
struct engine_claims {
  bool lock_free_find = false;
  bool lock_free_insert = false;
  bool slots_freed_at_once = false; ///< an erased entry's slot takes another key at once
  bool bounded_bins = false;        ///< more keys with one hash than a bin holds are refused as `crowded`
  bool grows_without_blocking = false;
  bool scans_once = false; ///< `for_each` shows no entry twice, although entries move meanwhile
  bool one_thread_only = false;
};

namespace contract {

template <class E> using stored_key_of = typename E::policy::stored_key;
template <class E> using stored_value_of = typename E::policy::stored_value;

// Functions of the caller, as an engine sees them.
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

/// How an insert ended. `shown`: the caller's words lay in a slot for a while, so that others may have read them although they were
/// not inserted. The caller then retires its record and does not free it.
template <class R>
concept insert_result = requires(const R& result) {
  { result.outcome } -> std::convertible_to<insert_outcome>;
  { result.shown } -> std::convertible_to<bool>;
};

/// How an engine is made, and what it is made of.
///  - `E(options, policy)`: throws std::bad_alloc without memory or a thread (without exceptions: `ok` is false, and the
///    engine may only be destroyed). `options_type` is `cubby::options` or derives from it.
///  - its destructor: nobody else uses the engine, and no guard is held. It disposes of all entries and of all that was retired.
template <class E>
concept makeable =
    std::derived_from<typename E::options_type, options> && std::default_initializable<typename E::options_type> &&
    std::constructible_from<E, const typename E::options_type&, typename E::policy> && requires(const E& e) {
      { e.ok() } noexcept -> std::same_as<bool>;
      { e.slots() } noexcept -> std::same_as<const typename E::policy&>; // the codec, in the table for good
    };

/// Thread records and guards.
///  - `pin(thread_record)`: the guard, as an object whose end ends it. Guards of one thread record nest, and cost no lock.
///  - `local_thread_record()`: the calling thread's record; null when there is no memory for one. It needs no giving back.
/// - `claim_thread_record()`: a thread record for a handle; null without memory. The caller gives it back with `registry::release`,
/// outside every
///    guard. Not asked of an engine that claims `one_thread_only`.
template <class E>
concept guarded = requires(E& e, thread_record& s) {
  { e.pin(s) } -> std::destructible;
  { e.local_thread_record() } noexcept -> std::same_as<thread_record*>;
  requires E::claims.one_thread_only || requires {
    { e.claim_thread_record() } noexcept -> std::same_as<thread_record*>;
  };
};

/// Lookups and figures: what all engines have, those that delegate their writes included.
/// - `find(thread_record, probe)`, inside a guard: the value words of the visible entry of this key. Linearizable; runs no function
/// of the
///    caller but the policy's `matches`. Words of a record stay good until the guard ends, although others replace or
///    erase the entry meanwhile.
///  - `size()`, `capacity()`, `stats()`: outside a guard or inside one; exact when nobody writes. `stats_type` is `table_stats` or
///    derives from it.
template <class E>
concept lookup_engine = std::convertible_to<decltype(E::claims), engine_claims> && makeable<E> && guarded<E> &&
                        std::derived_from<typename E::stats_type, table_stats> &&
                        requires(E& e, thread_record& s, const typename E::probe& probe) {
                          { e.find(s, probe) } -> std::same_as<found_as<stored_value_of<E>>>;
                          { e.size() } -> std::convertible_to<std::size_t>;
                          { e.capacity() } -> std::convertible_to<std::size_t>;
                          { e.stats() } -> std::same_as<typename E::stats_type>;
                        };

/// The end of the life of records (`policy::in_records`). The engine disposes of nothing that a caller may still see:
/// - `retire(thread_record, value words)`, inside the guard under which the caller took the words out: the caller gives the record
/// to the
///    engine, which disposes of it after all guards of now have ended. Allocates nothing. Each record is retired at most once.
///  - `stop_worker()`, at the table's end, by one thread alone: the engine's own thread ends; later calls do its work.
///  - `dispose_retired()`, after that, while no guard is held: disposes of every retired record; whether there was one.
///    Destructors of users run in it, and may call the table.
template <class E>
concept retiring = requires(E& e, thread_record& s, const stored_value_of<E>& words) {
  e.retire(s, words);
  { e.stop_worker() } noexcept;
  { e.dispose_retired() } -> std::same_as<bool>;
};

/// An engine: it tells how each operation ended. All operations are linearizable for each key, and hold no lock and no bin while a
/// function of the caller runs. `slots().is_legal(probe)` holds for every insert.
/// - `insert(thread_record, probe, value words)`, inside a guard: the entry becomes visible, or the outcome says why not. On
/// `inserted`
///    a record belongs to the table. On anything else it stays the caller's (see `insert_result`).
/// - `mutate(thread_record, probe, f)`, inside a guard: shows `f` the value words of the visible entry and does what it decides, if
/// the
///    entry is still the same; otherwise `f` runs again with the new words. So `f` may run any number of times, and its last
///    decision is the one that counts. `f` may call the table, but must not change this entry. What it throws leaves the
/// entry. A record that was replaced or erased is `before` in the answer, and *the caller retires it*, inside the same guard. The
///    new words of a `replace` belong to the table when `done` is `replace`, else to the caller.
template <class E>
concept engine = lookup_engine<E> && (!E::policy::in_records || retiring<E>) &&
                 requires(E& e, thread_record& s, const typename E::probe& probe, const stored_value_of<E>& words,
                          any_decider<E> f) {
                   { e.insert(s, probe, words) } -> insert_result;
                   { e.mutate(s, probe, f) } -> std::same_as<mutated_as<stored_value_of<E>>>;
                 };

/// `find_many(thread_record, n, make, take)`, inside a guard: `take(i, found)` once for each i below n, where found answers
/// `make(i)`, a probe. Probes that are equal are answered in their order, others in any. `make` is first called in the order of i, and
/// may be called again for an i until 64 later ones have been asked for (two groups of prefetch_group.hpp). No lock is held while
/// they run. What they throw ends the call.
template <class E>
concept many_finding = lookup_engine<E> && requires(E& e, thread_record& s, any_asker<E> make, any_taker<E> take) {
  e.find_many(s, std::size_t{}, make, take);
};
/// Batches: of lookups through `find_many`, of mixed operations one after the other, through `find`, `insert` and `mutate`.
template <class E> concept batched = engine<E> && many_finding<E>;

/// Hints, without effect on any result. Inside a guard.
///  - `prefetch(probe)`: asks memory for the line where a lookup begins, and waits for nothing
///  - `prefetch_record(probe)`, of records, when that line has had time to come: asks for the record of the entry that the
///    line shows. Reads the line.
///  - `prefetch_second(probe)`, of words, if the engine has it: then as well, asks for a second line that the first one leads to
template <class E>
concept prefetching = lookup_engine<E> && requires(E& e, const typename E::probe& probe) {
  { e.prefetch(probe) } noexcept;
  requires !E::policy::in_records || requires {
    { e.prefetch_record(probe) } noexcept;
  };
};

template <class E>
concept prefetching_second =
    prefetching<E> && !E::policy::in_records && requires(E& e, const typename E::probe& probe) {
      { e.prefetch_second(probe) } noexcept;
    };

/// `reserve(thread_record, entries)`, outside a guard or inside one, on which it never waits: makes the table large enough for so many entries. False: no memory, or the
/// bound of a `fixed` table is smaller; the table works on as it was.
template <class E>
concept growable = lookup_engine<E> && requires(E& e, thread_record& s) {
  { e.reserve(s, std::size_t{}) } -> std::same_as<bool>;
};
/// `shrink_to_fit(thread_record)`, outside a guard or inside one, on which it never waits: gives memory back, down to
/// `options.capacity`, and disposes of what is retired and out of every guard. Under `shrink_policy::never` it only does the latter. False: no memory for a smaller index; the table works on as it was.
template <class E>
concept shrinkable = lookup_engine<E> && requires(E& e, thread_record& s) {
  { e.shrink_to_fit(s) } -> std::same_as<bool>;
};
/// `collect(thread_record)`, outside a guard or inside one: disposes at once of what is retired and out of every guard. Tests ask for it; each
/// engine also does it in passing.
template <class E> concept collecting = lookup_engine<E> && requires(E& e, thread_record& s) { e.collect(s); };

/// `for_each(thread_record, f)`, inside a guard: `f(key words, value words)` for visible entries, with no lock held, so that `f`
/// may call the table and change this very entry. An entry that is there all the time is shown at least once (`scans_once`: exactly
/// once); one that comes or goes meanwhile may be shown or not. What `f` throws ends the call.
template <class E>
concept iterable = lookup_engine<E> && requires(E& e, thread_record& s, any_visitor<E> f) { e.for_each(s, f); };

/// `snapshot(thread_record, begin, sink)`, inside a guard: `begin(bound)` once, where `bound` is at least the number of entries;
/// then `sink(key words, value words)` for each entry that is visible at one point in time between. Writers wait meanwhile, so
/// neither function may call the table or throw. False: `begin` answered false, or the engine had no memory.
template <class E>
concept snapshotting = engine<E> && requires(E& e, thread_record& s, any_bound begin, any_visitor<E> sink) {
  { e.snapshot(s, begin, sink) } -> std::same_as<bool>;
};

/// Entries that are inserted and hidden. All three run inside a guard; it need not be the same one.
/// - `shadow_insert(thread_record, probe, value words)`: as `insert`, but no lookup, mutate, scan or snapshot sees the entry. Other
/// inserts
///    of the key answer `exists`.
///  - `shadow_commit(thread_record, probe, value words)`: shows it. Then it is an entry like any other.
///  - `shadow_abort(thread_record, probe, value words)`: takes it out. *The caller retires its record*, inside the same guard.
/// One of the two ends each reservation, once.
template <class E>
concept reserving =
    engine<E> && requires(E& e, thread_record& s, const typename E::probe& probe, const stored_value_of<E>& words) {
      { e.shadow_insert(s, probe, words) } -> insert_result;
      e.shadow_commit(s, probe, words);
      e.shadow_abort(s, probe, words);
    };

/// `modify(probe, f)`, inside a guard: as `mutate`, but `f` runs once at most, while no other change of this entry goes on:
/// those wait. Lookups, and operations on other keys, go on. *The caller retires* `before`, as after `mutate`.
template <class E>
concept exclusive = engine<E> && requires(E& e, const typename E::probe& probe, any_decider<E> f) {
  { e.modify(probe, f) } -> std::same_as<mutated_as<stored_value_of<E>>>;
};

/// Requests that stay pending. A `course` says how far a pending request has come; it is good inside the guard in which it was
/// made, and no longer.
///  - `aim(probe)`: a course at its beginning; touches no line of the table
///  - `ask(course)`: asks memory for the first line
///  - `advance(course, probe)`: true: the lines that the request needs have been asked for, and it may be carried out with `find`,
///    `insert` or `mutate`. False: one more line has been asked for; the caller returns later.
///  - `find_along(course, probe, out)`, of entries without records: the same, and on true `out` is the answer of `find`
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
/// A pipelined engine may also change entries on the way to them: `mutate_along(thread_record, course, probe, f, out)`, inside a
/// guard. False: as for `advance`. True: `out` is the answer of `mutate`; `f` may have run several times.
template <class E>
concept mutating_along =
    pipelined<E> && requires(E& e, thread_record& s, typename E::course& course, const typename E::probe& probe,
                             any_decider<E>& f, mutated_as<stored_value_of<E>>& out) {
      { e.mutate_along(s, course, probe, f, out) } -> std::same_as<bool>;
    };

/// Engines whose writes are sent and not answered. A `sender` belongs to one thread at a time.
///  - `open_sender()`: null without memory. `close_sender(sender)` flushes it and gives it back.
/// - `insert_or_assign`, `insert_or_add`, `erase`: what one sender sends about one key is carried out in the order in which it was
/// sent
///  - `flush(sender)`: returns when all of it has been carried out. False: some of it was dropped for lack of memory.
///  - `partitions()`, `partition_of(probe)`: how many parts there are, and which one a key is in
///  - `look_after(sender, partition, whether)`, `serve(sender)`: the sender's thread carries out what has come for the partitions
///    that it looks after; `serve` answers how many writes it has carried out.
/// No word is ever retired: entries have no records.
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

/// `histogram()`: how full bins are, of engines that count it. Outside a guard; looks at the whole table.
template <class E> concept counting_bins = lookup_engine<E> && requires(const E& e) { e.histogram(); };

} // namespace contract

} // namespace cubby::inline v0::detail
