// SPDX-License-Identifier: Apache-2.0
/// @file
/// cubby::delegated_map<K, V>: any thread reads the map; one thread at a time writes to each partition (DRAMHiT-P, sections 3.2 to
/// 3.4). A write is a message that a handle sends. It answers `done` (sent) or `full`. All threads, the sender included, see its
/// effect at the latest when `flush` of that handle has returned. Verbs that report the old entry (insert, assign, update,
/// extract, ...) do not exist here, because they would need an answer. Experimental: nobody has measured it on many cores.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <cubby/detail/api/batch.hpp>
#include <cubby/detail/api/engine_access.hpp>
#include <cubby/detail/api/handle.hpp>
#include <cubby/detail/api/refused_calls.hpp>
#include <cubby/detail/api/refused_types.hpp>
#include <cubby/detail/core/codec.hpp>
#include <cubby/detail/engines/partitioned/partitioned.hpp>
#include <cubby/map.hpp>

namespace cubby::inline v0 {

/// Whether `insert_or_add` of a `delegated_map` may add values of this type. The addition runs while its thread holds the
/// partition's lock, so an `operator+` that calls the map would wait for itself for ever. Numbers may be added. For your own type,
/// write `template <> inline constexpr bool cubby::adds_in_place<T> = true;` before the first use of the map, if its `operator+` is
/// short, uses no map and never waits.
template <class V> inline constexpr bool adds_in_place = std::is_arithmetic_v<V>;

namespace detail {

/// The read verbs, for the map itself (with the calling thread's record) and for a handle. Each call is linearizable per key. It
/// takes no lock and never waits, unless its comment says so.
template <class Derived, contract::delegating Engine> class delegated_reads : public refused_by_delegated<Derived> {
public:
  using codec_type = typename Engine::policy;
  using key_type = typename codec_type::key_type;
  using mapped_type = typename codec_type::mapped_type;
  using engine_type = Engine;
  static constexpr capability_set capabilities = contract::capabilities_of<Engine>;

  [[nodiscard]] std::optional<mapped_type> find(const key_type& k) const {
    const auto s = here();
    [[maybe_unused]] const auto pin = s.engine.pin(s.at);
    const found_word seen = s.engine.find(s.at, s.codec().probe_of(k));
    return seen.found ? std::optional<mapped_type>(s.codec().value(seen.word)) : std::nullopt;
  }
  template <class Q, class Out>
  auto find(const Q&, Out&) const = delete; // use find(key), whose result is optional
  [[nodiscard]] bool contains(const key_type& k) const {
    const auto s = here();
    [[maybe_unused]] const auto pin = s.engine.pin(s.at);
    return s.engine.find(s.at, s.codec().probe_of(k)).found;
  }
  /// Looks up all keys, and returns the number found. Sets found[i] for each i, and values[i] where found[i] is true. It looks up
  /// as many keys as the shortest of the three spans has. Equal keys are looked up in their order.
  std::size_t find_batch(std::span<const key_type> keys, std::span<mapped_type> values, std::span<bool> found) const {
    const auto s = here();
    [[maybe_unused]] const auto pin = s.engine.pin(s.at);
    std::size_t count = 0;
    const auto take = [&](std::size_t i, const found_word& seen) {
      found[i] = seen.found;
      count += seen.found ? 1 : 0;
      if (seen.found) values[i] = s.codec().value(seen.word);
    };
    detail::find_keys(s, keys.first(detail::least_of(keys.size(), values.size(), found.size())), take);
    return count;
  }
  /// Calls `f(const K&, const V&)` for each entry. O(capacity). Weak: an entry that is present throughout is seen once. An entry that
  /// is inserted or erased meanwhile may be seen or not; one that is erased and inserted again may be seen twice. `f` may use the map.
  template <class F> void visit_all(F f) const {
    const auto s = here();
    [[maybe_unused]] const auto pin = s.engine.pin(s.at);
    s.engine.for_each(s.at, [&](std::uint64_t key, std::uint64_t value) {
      const key_type k = s.codec().key(key, value);
      const mapped_type v = s.codec().value(value);
      f(k, v);
    });
  }
  /// Prefetches the key's cache line and returns at once. A hint without effect on results.
  void prefetch(const key_type& k) const {
    const auto s = here();
    [[maybe_unused]] const auto pin = s.engine.pin(s.at);
    s.engine.prefetch(s.codec().probe_of(k));
  }
  /// The awaitable of a find: other tasks of the same runner go on meanwhile. Include <cubby/coro.hpp>.
  [[nodiscard]] auto async_find(const key_type& k) const {
    return async_lookup<Derived>(static_cast<const Derived&>(*this), k);
  }

  /// The number of entries. Exact while no write is pending. O(partitions).
  [[nodiscard]] std::size_t size() const { return here().engine.size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  /// The number of slots. A partition grows before all of its slots are used. Blocks, as `stats` does, for the writer of each partition
  /// in turn.
  [[nodiscard]] std::size_t capacity() const { return here().engine.capacity(); }
  [[nodiscard]] typename Engine::stats_type stats() const { return here().engine.stats(); }
  /// Makes space for this many entries. Blocks for the writers. False: no memory, or the table is `fixed` and smaller.
  bool reserve(std::size_t entries) {
    const auto s = here();
    return s.engine.reserve(s.at, entries);
  }
  /// Gives back space that the entries do not need. Blocks for the writers. False: no memory for a smaller array.
  bool shrink_to_fit() {
    const auto s = here();
    return s.engine.shrink_to_fit(s.at);
  }
  /// The number of partitions, and the number of a key's partition.
  [[nodiscard]] std::size_t partitions() const noexcept { return here().engine.partitions(); }
  [[nodiscard]] std::size_t partition_of(const key_type& k) const {
    const auto s = here();
    return s.engine.partition_of(s.codec().probe_of(k));
  }

protected:
  delegated_reads() = default;
  ~delegated_reads() = default;
  delegated_reads(const delegated_reads&) = default;
  delegated_reads& operator=(const delegated_reads&) = default;
  [[nodiscard]] detail::context<Engine> here() const {
    return detail::engine_access::context_of(static_cast<const Derived&>(*this));
  }
};

} // namespace detail

/// A thread record, and a channel to each partition. Move-only; one thread at a time uses it; it must not outlive its map. Its
/// writes of one key are carried out in the order in which it sent them. The destructor flushes.
template <detail::contract::delegating Engine> class delegated_handle
    : public detail::delegated_reads<delegated_handle<Engine>, Engine> {
  using base = detail::delegated_reads<delegated_handle<Engine>, Engine>;

public:
  using key_type = typename base::key_type;
  using mapped_type = typename base::mapped_type;

  explicit delegated_handle(Engine& e) : thread_record_(e), from_(e.open_sender()) {
    if (from_ == nullptr) detail::fail::with_no_memory();
  }
  delegated_handle(delegated_handle&& other) noexcept
      : base(other), thread_record_(std::move(other.thread_record_)), from_(std::exchange(other.from_, nullptr)) {}
  delegated_handle& operator=(delegated_handle&& other) noexcept {
    std::swap(thread_record_, other.thread_record_);
    std::swap(from_, other.from_);
    return *this;
  }
  ~delegated_handle() {
    if (from_ != nullptr) thread_record_.engine().close_sender(*from_);
  }
  /// False if there was no memory for the channels, in builds without exceptions. Such a handle may only be destroyed.
  [[nodiscard]] bool ok() const noexcept { return from_ != nullptr; }

  /// Sends a write that gives the key this value, whether the key is there or not. While the partition's queue is full it carries
  /// out writes itself or waits for the thread that does. `full`: a `fixed` table is at its bound and has not this key.
  outcome insert_or_assign(const key_type& k, const mapped_type& v) {
    const auto s = context();
    return s.engine.insert_or_assign(*from_, s.codec().probe_of(k), detail::bits_of_value(v));
  }
  /// Sends a write that adds `n` to the value, or inserts `n`. For numbers and types with `adds_in_place`. It answers and waits as
  /// `insert_or_assign` does.
  outcome insert_or_add(const key_type& k, const mapped_type& n)
    requires requires(const mapped_type& v) {
      {
        static_cast<mapped_type>(v + v)
      } noexcept; // the addition runs in another thread, which could not report an exception
    }
  {
    static_assert(adds_in_place<mapped_type>,
                  "insert_or_add of cubby::delegated_map runs operator+ while no other thread writes to the partition: "
                  "specialise cubby::adds_in_place<V> if that of V is short and uses no map");
    const auto s = context();
    return s.engine.insert_or_add(*from_, s.codec().probe_of(k), detail::bits_of_value(n));
  }
  /// Sends an erase. A full table takes erases, too. It waits as `insert_or_assign` does.
  void erase(const key_type& k) {
    const auto s = context();
    s.engine.erase(*from_, s.codec().probe_of(k));
  }
  /// Returns when all writes that this handle has sent are carried out. Blocks; it carries out writes itself if no other thread
  /// does. False: some writes since the last call were dropped, because there was no memory for a larger array.
  bool flush() { return thread_record_.engine().flush(*from_); }

  /// Makes this handle an owner of the partition: it carries out writes of the partition whenever it has filled a section, waits, or
  /// is told to `serve`. A partition may have several owners. A number of `partitions()` or more has no effect.
  void own(std::size_t partition) { thread_record_.engine().look_after(*from_, partition, true); }
  void disown(std::size_t partition) { thread_record_.engine().look_after(*from_, partition, false); }
  /// Carries out pending writes of the partitions that this handle owns, at most one section of each sender, and returns their
  /// number. 0: there were none, or other threads were writing to those partitions. Never blocks.
  std::size_t serve() { return thread_record_.engine().serve(*from_); }

private:
  friend struct detail::engine_access;
  [[nodiscard]] detail::context<Engine> context() const { return {thread_record_.engine(), thread_record_.at()}; }
  detail::owned_thread_record<Engine> thread_record_;
  typename Engine::sender* from_;
};

namespace detail {
template <class K, class V>
concept delegated_types = held_type<K> && held_type<V> && mode_of<K, V> == storage_mode::words;
} // namespace detail

/// The map. Its `options_type` has `partitions`, and `owners`, the number of threads that the table starts to carry out writes. Without
/// owners the handles do so: those that `own` a partition, and any that would have to wait. Writes that are pending when a `fixed`
/// table reaches its bound are still carried out: at most 512 more entries for each handle and partition. The hash of each write
/// runs while the partition's lock is held: it must be short and use no map. So must the `+` of values (`adds_in_place`). The map
/// cannot be copied or moved. It must outlive its handles and the calls of other threads.
template <class K, class V, class Hash = hash<K>, class Allocator = std::allocator<std::byte>>
class delegated_map : public detail::delegated_reads<delegated_map<K, V, Hash, Allocator>,
                                                     detail::partitioned_engine<detail::codec<K, V, Hash, Allocator>>> {
public:
  using engine_type = detail::partitioned_engine<detail::codec<K, V, Hash, Allocator>>;
  using handle_type = delegated_handle<engine_type>;
  /// `cubby::options`, and the options that only this engine has.
  using options_type = typename engine_type::options_type;
  static constexpr storage_mode mode = mode_of<K, V>;

  /// An empty map. Throws std::bad_alloc if there is no memory for the first arrays or no thread for an owner; without exceptions,
  /// `ok` then answers false.
  delegated_map() : delegated_map(options{}) {}
  /// The same, with options that all tables have, a hash and an allocator.
  explicit delegated_map(const options& wanted, const Hash& h = Hash(), const Allocator& a = Allocator())
      : delegated_map(detail::contract::options_for<engine_type>(wanted), made_with{}, h, a) {}
  /// The same, with the engine's own options: `delegated_map(cubby::partitioned::options{{.capacity = 1000}, {.owners = 2}})`.
  template <detail::contract::options_of<engine_type> O>
  explicit delegated_map(const O& wanted, const Hash& h = Hash(), const Allocator& a = Allocator())
      : delegated_map(detail::contract::options_for<engine_type>(wanted), made_with{}, h, a) {}
  template <detail::number N, class... A>
  explicit delegated_map(N, const A&...) = delete; // a number is no capacity: use delegated_map({.capacity = n})
  // Not `const delegated_map&`: g++ would take `{.capacity = n}` for a delegated_map that is made of a number.
  delegated_map(delegated_map&) = delete; // it stays where it is made: keep a std::unique_ptr to it
  template <std::same_as<delegated_map> M>
  delegated_map(const M&) = delete; // it stays where it is made: keep a std::unique_ptr to it
  delegated_map& operator=(const delegated_map&) = delete;

  /// False if the map could not be made, in builds without exceptions. Such a map may only be destroyed.
  [[nodiscard]] bool ok() const noexcept { return engine_.ok(); }
  /// A handle, through which writes go. It allocates a channel to each partition; a later handle uses the channels again. Throws
  /// std::bad_alloc if there is no memory for them.
  [[nodiscard]] handle_type handle() { return handle_type(engine_); }

private:
  friend struct detail::engine_access;
  [[nodiscard]] detail::context<engine_type> context() const {
    return {engine_, detail::caller_thread_record(engine_)};
  }
  struct made_with {}; // what the options of the engine are handed over with
  delegated_map(const options_type& wanted, made_with, const Hash& h, const Allocator& a)
      : engine_(wanted, detail::codec<K, V, Hash, Allocator>(h, a, detail::contract::seed_for(wanted))) {}

  static_assert(detail::contract::codec<typename engine_type::policy>,
                "the codec of this table lacks something: see contract::codec");
  static_assert(detail::contract::delegating<engine_type>,
                "this engine lacks something that a delegated map needs: see "
                "contract::delegating");

  mutable engine_type engine_;
};

/// Of these types there is no delegated map: its use ends in one readable error.
template <class K, class V, class Hash, class Allocator>
  requires(!detail::delegated_types<K, V>)
class delegated_map<K, V, Hash, Allocator> {
  static_assert(
      !std::same_as<K, K>,
      "cubby::delegated_map holds keys and values of at most 8 bytes that are their own bits: a message to an owner "
      "has 16 bytes; cubby::dramhit and cubby::dlht hold any");

public:
  template <class... A> explicit delegated_map(A&&...) {}
};

/// There is no map of this engine: its use ends in one readable error.
template <class K, class V, class Hash, class Allocator, class KeyEqual>
class map<K, V, partitioned, Hash, Allocator, KeyEqual> {
  static_assert(!std::same_as<K, K>,
                "cubby::partitioned is no engine of cubby::map, because its writes are not answered: write "
                "cubby::delegated_map<K, V>");

public:
  template <class... A> explicit map(A&&...) {}
};

template <class K, class Engine, class Hash, class Allocator, class KeyEqual> class set;

/// There is no set of this engine: its use ends in one readable error.
template <class K, class Hash, class Allocator, class KeyEqual>
class set<K, partitioned, Hash, Allocator, KeyEqual> {
  static_assert(
      !std::same_as<K, K>,
      "cubby::partitioned is no engine of cubby::set, because its writes are not answered: it is the engine of "
      "cubby::delegated_map<K, V> alone");

public:
  template <class... A> explicit set(A&&...) {}
};

} // namespace cubby::inline v0
