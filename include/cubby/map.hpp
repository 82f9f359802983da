// SPDX-License-Identifier: Apache-2.0
/// @file
/// cubby::map<K, V>: a concurrent map. Any number of threads may call any verb at the same time. No thread registers.
/// The verbs are in map_api.hpp and table_api.hpp. The types choose the storage mode: keys and values of at most 8 bytes lie in
/// the table, all others in records (see `storage_mode`). With std::allocator, records of up to 1,024 bytes lie in huge pages of the library (not
/// those of seph), which go back when no record is in them. With any other allocator their memory comes from that. The engine cubby::dramhit_tuples
/// stores plain keys and values of at most 56 bytes together in the table. docs/processes.md describes use across shared
/// libraries and in the child of a fork.
#pragma once

#include <concepts>
#include <initializer_list>
#include <iterator>
#include <utility>

#include <cubby/detail/api/ending.hpp>
#include <cubby/detail/api/engine_access.hpp>
#include <cubby/detail/api/handle.hpp>
#include <cubby/detail/api/map_api.hpp>
#include <cubby/detail/api/moving.hpp>
#include <cubby/detail/api/refused_calls.hpp>
#include <cubby/detail/api/refused_types.hpp>
#include <cubby/detail/engines/dlht/dlht.hpp>

namespace cubby::inline v0 {

/// K: any type with a hash and operator==. The map owns its keys. It compares them by their bits or bytes if their type says so,
/// else by their operator== (docs/guarantees/keys.md; `bits_are_equality`, `stored_as_bytes`, `always_in_record`).
/// V: any type whose destructor does not throw.
/// Engine: a tag such as cubby::dlht. Hash: see cubby/hash.hpp. Allocator: for records; any thread may call it. KeyEqual: see
/// `cubby::equal`; with one of yours each entry is in a record.
/// A map cannot be copied; an idle one can be moved. It must outlive its handles, its reservations and the calls of other threads.
template <class K, class V, class Engine = dlht, class Hash = hash<K>, class Allocator = std::allocator<std::byte>,
          class KeyEqual = equal<K>>
class map : public detail::map_api<
                map<K, V, Engine, Hash, Allocator, KeyEqual>,
                typename Engine::template engine<detail::codec_in<Engine, K, V, Hash, Allocator, KeyEqual>>> {
public:
  using engine_type = typename Engine::template engine<detail::codec_in<Engine, K, V, Hash, Allocator, KeyEqual>>;
  using key_equal = KeyEqual;
  using handle_type = cubby::handle<detail::map_api, engine_type>;
  /// `cubby::options`, and the options that only this engine has.
  using options_type = typename engine_type::options_type;
  /// How entries are stored. It follows from the types.
  static constexpr storage_mode mode = detail::mode_in<Engine, K, V, Hash, KeyEqual>;

  /// An empty map. Throws std::bad_alloc if there is no memory for the first index; without exceptions, `ok` then answers false.
  map() : map(options{}) {}
  /// The same, with options that all tables have, a hash and an allocator.
  explicit map(const options& wanted, const Hash& h = Hash(), const Allocator& a = Allocator())
      : map(detail::contract::options_for<engine_type>(wanted), made_with{}, h, a) {}
  /// The same, with the engine's own options: `map(cubby::dlht::options{{.capacity = 1000}, {.move_bins = 16}})`.
  template <detail::contract::options_of<engine_type> O>
  explicit map(const O& wanted, const Hash& h = Hash(), const Allocator& a = Allocator())
      : map(detail::contract::options_for<engine_type>(wanted), made_with{}, h, a) {}
  /// The same, with a hash, or with an allocator and a hash made by default: `map(&resource)` with a `std::pmr` allocator.
  template <std::same_as<Hash> H> explicit map(const H& h) : map(options{}, h) {}
  template <detail::contract::given_allocator<Allocator> A>
  explicit map(const A& a) : map(options{}, Hash(), a) {}
  template <detail::contract::given_allocator<Allocator> A>
  explicit map(const options& wanted, const A& a) : map(wanted, Hash(), a) {}
  template <detail::contract::options_of<engine_type> O, detail::contract::given_allocator<Allocator> A>
  explicit map(const O& wanted, const A& a) : map(wanted, Hash(), a) {}
  /// A map of the pairs from `first` to `last`, inserted in their order; of equal keys the first stays. With iterators whose difference is
  /// a number it asks for space first. Throws like the first constructor and like `insert`.
  template <std::input_iterator It, std::sentinel_for<It> End, detail::contract::given_options<engine_type> O = options>
    requires std::copyable<It>
  map(It first, End last, const O& wanted = {}, const Hash& h = Hash(), const Allocator& a = Allocator())
      : map(wanted, h, a) {
    detail::whole::fill(*this, std::move(first), std::move(last));
  }
  template <std::input_iterator It, std::sentinel_for<It> End, detail::contract::given_allocator<Allocator> A>
    requires std::copyable<It>
  map(It first, End last, const A& a) : map(std::move(first), std::move(last), options{}, Hash(), a) {}
  template <std::input_iterator It, std::sentinel_for<It> End, detail::contract::given_options<engine_type> O = options,
            detail::contract::given_allocator<Allocator> A>
    requires std::copyable<It>
  map(It first, End last, const O& wanted, const A& a) : map(std::move(first), std::move(last), wanted, Hash(), a) {}
  /// The same, of a list: `{{k, v}, {k, v}}`.
  template <detail::contract::given_options<engine_type> O = options>
  map(std::initializer_list<std::pair<const K, V>> entries, const O& wanted = {}, const Hash& h = Hash(),
      const Allocator& a = Allocator())
      : map(entries.begin(), entries.end(), wanted, h, a) {}
  template <detail::contract::given_allocator<Allocator> A>
  map(std::initializer_list<std::pair<const K, V>> entries, const A& a) : map(entries, options{}, Hash(), a) {}
  template <detail::contract::given_options<engine_type> O = options, detail::contract::given_allocator<Allocator> A>
  map(std::initializer_list<std::pair<const K, V>> entries, const O& wanted, const A& a)
      : map(entries, wanted, Hash(), a) {}
  /// Destroys all entries. No other thread may use the map any more. The destructors of keys and values may still call every verb
  /// of this map. Entries that they insert are destroyed, too, so a destructor that always inserts keeps this one from ending.
  ~map() {
    if (ok()) detail::empty_at_end(engine_);
  }
  /// Moves an idle map: no other thread calls it, and no handle, guard, reservation or scan of it lives. No entry moves. What waits for
  /// its end is destroyed: a destructor may call either. `from` is then empty, with its options but without the space that was asked
  /// for. Without memory or a thread for that, its `ok` answers false. Not for a hash or an allocator whose copy may throw.
  template <detail::moving<map> M>
    requires detail::contract::movable<engine_type>
  map(M&& from) noexcept : engine_(std::move(static_cast<map&>(from).engine_)) {}
  template <detail::moving<map> M>
    requires(!detail::contract::movable<engine_type>)
  map(M&&) = delete; // a copy of its hash or allocator may throw: keep a std::unique_ptr to it
  /// The same, into a map that is idle, too. Its entries are destroyed.
  map& operator=(map&& from) noexcept
    requires detail::contract::movable<engine_type>
  {
    if (this != &from) detail::assign_engine(engine_, from.engine_);
    return *this;
  }
  map& operator=(map&&)
    requires(!detail::contract::movable<engine_type>)
  = delete; // a copy of its hash or allocator may throw: keep a std::unique_ptr to it
  /// Swaps two idle maps.
  void swap(map& other) noexcept
    requires detail::contract::movable<engine_type>
  {
    detail::swap_engines(engine_, other.engine_);
  }
  friend void swap(map& one, map& other) noexcept
    requires detail::contract::movable<engine_type>
  {
    one.swap(other);
  }
  template <detail::range R>
    requires(!std::is_convertible_v<const R&, Allocator> && !std::is_convertible_v<const R&, Hash> &&
             !std::derived_from<std::remove_cvref_t<R>, map>)
  explicit map(R&&) = delete; // use map(range.begin(), range.end())
  template <std::same_as<map> M, class A>
  map(M&&, const A&) = delete; // the allocator moves with the entries: use map(std::move(other))
  template <detail::number N, class... A>
  explicit map(N, const A&...) = delete; // a number is no capacity: use map({.capacity = n})
  // Not `const map&`: g++ would take `{.capacity = n}` for a map that is made of a number.
  map(map&) = delete; // no copies: std::move it, or keep a std::unique_ptr to it
  template <std::same_as<map> M>
  map(const M&) = delete;              // no copies: std::move it, or keep a std::unique_ptr to it
  map& operator=(const map&) = delete; // no copies: std::move it, or keep a std::unique_ptr to it

  /// Whether both have the same keys with equal values. O(capacity of one). Exact while no thread writes to either.
  [[nodiscard]] friend bool operator==(const map& one, const map& other)
    requires requires(const V& v) { static_cast<bool>(v == v); }
  {
    return detail::whole::has_same_entries(one, other);
  }

  /// False if the map could not be made, in builds without exceptions, or if a move has left it so. Such a map may only be destroyed,
  /// moved and assigned to.
  [[nodiscard]] bool ok() const noexcept { return engine_.ok(); }

  /// A handle with a thread record of its own: the same verbs, a little faster, and `find_ref`. Throws std::bad_alloc if there is no
  /// memory for the record.
  [[nodiscard]] handle_type handle() { return handle_type(engine_); }

  /// The same as `handle::guard`, for calls of this thread without a handle. It must end in the same thread.
  [[nodiscard]] auto guard() const {
    return detail::table_guard<engine_type>(engine_, detail::caller_thread_record(engine_));
  }

  [[nodiscard]] static detail::thread_record* own_thread_record() noexcept { return nullptr; }
  static constexpr bool has_own_thread_record = false;

private:
  friend struct detail::engine_access;
  [[nodiscard]] detail::context<engine_type> context() const {
    return {engine_, detail::caller_thread_record(engine_)};
  }
  struct made_with {}; // what the options of the engine are handed over with
  map(const options_type& wanted, made_with, const Hash& h, const Allocator& a)
      : engine_(wanted, typename engine_type::policy(h, a, detail::contract::seed_for(wanted))) {}

  static_assert(detail::contract::codec<typename engine_type::policy>,
                "the codec of this table lacks something: see contract::codec");
  static_assert(detail::contract::engine<engine_type>,
                "this engine lacks something that each table needs: see contract::engine");

  mutable engine_type engine_;
};

/// Of these types there is no map: its use ends in one readable error.
template <class K, class V, class Engine, class Hash, class Allocator, class KeyEqual>
  requires detail::refused_types<Engine, K, V>
class map<K, V, Engine, Hash, Allocator, KeyEqual> : detail::refused_table<Engine, K, V> {
public:
  template <class... A> explicit map(A&&...) {}
};

} // namespace cubby::inline v0
