// SPDX-License-Identifier: Apache-2.0
// cubby::delegated_map<K, V>: a map that any thread reads and whose writes are carried out by one thread for each part of it
// (DRAMHiT-P). A write goes through a handle, is answered by nothing but `done` or `full`, and is seen by everybody, its
// sender included, at the latest when its handle's `flush` has returned. What tells how it ended (insert, assign, update,
// extract, ...) is not there: it would need a message back. Experimental: its gain on many cores has not been measured.
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
#include <cubby/detail/core/codec.hpp>
#include <cubby/detail/engines/partitioned/partitioned.hpp>
#include <cubby/map.hpp>

namespace cubby::inline v0 {

/// Whether values of this type may be added up by `insert_or_add` of a `delegated_map`. A thread that carries the addition out has the
/// partition to itself meanwhile, so a `+` that comes back to the map would wait for itself for ever. That of numbers does not; a
/// type of one's own says by `template <> inline constexpr bool cubby::adds_in_place<T> = true;` that its `operator+` is
/// short, uses no map and waits for nobody. Say so before the first use of the map.
template <class V> inline constexpr bool adds_in_place = std::is_arithmetic_v<V>;

namespace detail {

/// What can be asked, of the map itself (the calling thread's record) and of a handle. Every call is linearizable per key, takes
/// no lock, and waits for nobody but where it says so.
template <class Derived, contract::delegating Engine> class delegated_reads {
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
  [[nodiscard]] bool contains(const key_type& k) const {
    const auto s = here();
    [[maybe_unused]] const auto pin = s.engine.pin(s.at);
    return s.engine.find(s.at, s.codec().probe_of(k)).found;
  }
  /// Looks all keys up; values[i] is written where found[i] becomes true. The number found. Takes as many keys as there are
  /// keys, values and found. Equal keys are looked up in their order.
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
  /// `f(const K&, const V&)` for each entry. Weak: an entry that is there all the time is seen once, one that comes or goes
  /// meanwhile may be seen or not, and twice if it comes back. `f` may use the map.
  template <class F> void visit_all(F f) const {
    const auto s = here();
    [[maybe_unused]] const auto pin = s.engine.pin(s.at);
    s.engine.for_each(s.at, [&](std::uint64_t key, std::uint64_t value) {
      const key_type k = s.codec().key(key, value);
      const mapped_type v = s.codec().value(value);
      f(k, v);
    });
  }
  /// Asks memory for the key's line and goes on. A hint.
  void prefetch(const key_type& k) const {
    const auto s = here();
    [[maybe_unused]] const auto pin = s.engine.pin(s.at);
    s.engine.prefetch(s.codec().probe_of(k));
  }
  /// `co_await` finds the key while other tasks of the same runner go on; include <cubby/coro.hpp>.
  [[nodiscard]] auto async_find(const key_type& k) const {
    return async_lookup<Derived>(static_cast<const Derived&>(*this), k);
  }

  /// Entries that have been carried out; exact when nothing is on its way.
  [[nodiscard]] std::size_t size() const { return here().engine.size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  /// Slots; a partition grows before all of its own are used. Like `stats`, waits for the writer of each partition in turn.
  [[nodiscard]] std::size_t capacity() const { return here().engine.capacity(); }
  [[nodiscard]] typename Engine::stats_type stats() const { return here().engine.stats(); }
  /// Makes space for this many entries; waits for the writers. False: no memory, or the table is `fixed`.
  bool reserve(std::size_t entries) {
    const auto s = here();
    return s.engine.reserve(s.at, entries);
  }
  /// Gives space back that the entries do not need; waits for the writers. False: no memory for a smaller array.
  bool shrink_to_fit() {
    const auto s = here();
    return s.engine.shrink_to_fit(s.at);
  }
  /// How many partitions there are, and which one a key is in.
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
  [[nodiscard]] detail::context<Engine> here() const { return static_cast<const Derived&>(*this).context(); }
};

} // namespace detail

/// A thread record and a channel to each partition. Move-only; used by one thread at a time; must not outlive its map. What it
/// sends about one key is carried out in the order in which it was sent. Its end flushes.
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
  /// False when there was no memory for the channels, in builds without exceptions; then only destroy it.
  [[nodiscard]] bool ok() const noexcept { return from_ != nullptr; }

  /// Gives the key this value, there or not.
  outcome insert_or_assign(const key_type& k, const mapped_type& v) {
    const auto s = context();
    return s.engine.insert_or_assign(*from_, s.codec().probe_of(k), detail::bits_of_value(v));
  }
  /// Adds `n` to the value, or inserts `n`. Of numbers, and of types that say so: `adds_in_place`.
  outcome insert_or_add(const key_type& k, const mapped_type& n)
    requires requires(const mapped_type& v) {
      { static_cast<mapped_type>(v + v) } noexcept; // it is made where nobody could be told
    }
  {
    static_assert(adds_in_place<mapped_type>,
                  "insert_or_add of cubby::delegated_map runs operator+ while nobody else writes to the partition: "
                  "specialise cubby::adds_in_place<V> if that of V is short and uses no map");
    const auto s = context();
    return s.engine.insert_or_add(*from_, s.codec().probe_of(k), detail::bits_of_value(n));
  }
  /// Takes the key out if it is there; of a full map, too.
  void erase(const key_type& k) {
    const auto s = context();
    s.engine.erase(*from_, s.codec().probe_of(k));
  }
  /// Returns when everything that this handle sent before has been carried out; carries out itself what nobody else does. False:
  /// some of what was sent since the last call was dropped, because there was no memory for a larger array.
  bool flush() { return thread_record_.engine().flush(*from_); }

  /// From now on this handle looks after a partition: whenever it has filled a section for anybody, waits, or is told to
  /// `serve`, it carries out what has come there. Several may look after one. There are `partitions()`; another number means none.
  void own(std::size_t partition) { thread_record_.engine().look_after(*from_, partition, true); }
  void disown(std::size_t partition) { thread_record_.engine().look_after(*from_, partition, false); }
  /// Carries out what has come for the partitions that this handle looks after, a section from each sender; the number of
  /// writes. 0: there was none, or somebody else was at it.
  std::size_t serve() { return thread_record_.engine().serve(*from_); }

  [[nodiscard]] detail::context<Engine> context() const { return {thread_record_.engine(), thread_record_.at()}; }

private:
  detail::owned_thread_record<Engine> thread_record_;
  typename Engine::sender* from_;
};

/// The map. `partitions` and `owners` of its `options_type` say how many parts it has and how many threads of its own serve
/// them; with no owners, handles do: those that `own`, and any that would have to wait. What is on its way when the bound
/// of a `fixed` one is met still comes in: up to 512 entries a handle in each part. The hash is called for each write while
/// its partition is held: it must be short and use no map, nor may the `+` of values (`adds_in_place`). Neither copied nor
/// moved; it must outlive its handles and the calls of other threads.
template <class K, class V, class Hash = hash<K>, class Allocator = std::allocator<std::byte>>
class delegated_map : public detail::delegated_reads<delegated_map<K, V, Hash, Allocator>,
                                                     detail::partitioned_engine<detail::codec<K, V, Hash, Allocator>>> {
  static_assert(
      mode_of<K, V> == storage_mode::words,
      "cubby::delegated_map holds keys and values of at most 8 bytes that are their own bits: a message to an owner "
      "has 16 bytes; cubby::dramhit and cubby::dlht hold any");

public:
  using engine_type = detail::partitioned_engine<detail::codec<K, V, Hash, Allocator>>;
  using handle_type = delegated_handle<engine_type>;
  /// `cubby::options` and those that only this engine reads.
  using options_type = typename engine_type::options_type;
  static constexpr storage_mode mode = mode_of<K, V>;

  /// Throws std::bad_alloc when there is no memory for the first arrays, or no thread for an owner (without exceptions: see `ok`).
  explicit delegated_map(const options& wanted = {}, const Hash& h = Hash(), const Allocator& a = Allocator())
      : delegated_map(detail::contract::options_for<engine_type>(wanted), made_with{}, h, a) {}
  /// The same with the options of the engine: `delegated_map(cubby::partitioned::options{{.capacity = 1000}, {.owners = 2}})`.
  template <detail::contract::options_of<engine_type> O>
  explicit delegated_map(const O& wanted, const Hash& h = Hash(), const Allocator& a = Allocator())
      : delegated_map(detail::contract::options_for<engine_type>(wanted), made_with{}, h, a) {}
  delegated_map(const delegated_map&) = delete;
  delegated_map& operator=(const delegated_map&) = delete;

  /// False when the map could not be made, in builds without exceptions; then only destroy it.
  [[nodiscard]] bool ok() const noexcept { return engine_.ok(); }
  /// What writes go through; costs channels to all partitions, which a later handle uses again. Throws std::bad_alloc without
  /// memory.
  [[nodiscard]] handle_type handle() { return handle_type(engine_); }
  [[nodiscard]] detail::context<engine_type> context() const {
    return {engine_, detail::caller_thread_record(engine_)};
  }

private:
  friend struct detail::engine_access;
  struct made_with {}; // what the options of the engine are handed over with
  delegated_map(const options_type& wanted, made_with, const Hash& h, const Allocator& a)
      : engine_(wanted, detail::codec<K, V, Hash, Allocator>(h, a, wanted.seed)) {}

  static_assert(detail::contract::codec<typename engine_type::policy>,
                "the codec of this table lacks something: see contract::codec");
  static_assert(detail::contract::delegating<engine_type>,
                "this engine lacks something that a delegated map needs: see "
                "contract::delegating");

  mutable engine_type engine_;
};

/// There is no map of this engine: its use ends in one readable error.
template <class K, class V, class Hash, class Allocator> class map<K, V, partitioned, Hash, Allocator> {
  static_assert(!std::same_as<K, K>,
                "cubby::partitioned is no engine of cubby::map, because its writes are not answered: write "
                "cubby::delegated_map<K, V>");

public:
  template <class... A> explicit map(A&&...) {}
};

template <class K, class Engine, class Hash, class Allocator> class set;

/// There is no set of this engine: its use ends in one readable error.
template <class K, class Hash, class Allocator> class set<K, partitioned, Hash, Allocator> {
  static_assert(
      !std::same_as<K, K>,
      "cubby::partitioned is no engine of cubby::set, because its writes are not answered: it is the engine of "
      "cubby::delegated_map<K, V> alone");

public:
  template <class... A> explicit set(A&&...) {}
};

} // namespace cubby::inline v0
