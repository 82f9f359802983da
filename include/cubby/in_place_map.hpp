// SPDX-License-Identifier: Apache-2.0
/// @file
/// cubby::in_place_map<K, V>: a concurrent map whose values are changed where they lie. `modify` gives a function the value itself,
/// once, while no other thread reads or changes it. So a vector is not copied to push one element, and values that only move can
/// be changed, taken out and replaced. The price: a lookup holds its entry (two locked instructions), and waits while another
/// thread changes that entry. In `cubby::map` lookups wait for nothing, and a change makes a new value.
#pragma once

#include <concepts>
#include <initializer_list>
#include <iterator>
#include <utility>

#include <cubby/detail/api/in_place_api.hpp>
#include <cubby/detail/api/refused_calls.hpp>
#include <cubby/map.hpp>

namespace cubby::inline v0 {

/// A handle of an `in_place_map`, with a thread record of its own: the same verbs, a little faster. For one thread at a time. The map
/// must outlive it.
template <class Map, class V>
class in_place_handle : public detail::in_place_api<in_place_handle<Map, V>, Map, V> {
public:
  explicit in_place_handle(typename Map::handle_type of) noexcept : table_(std::move(of)) {}

private:
  friend class detail::in_place_api<in_place_handle, Map, V>;
  friend class detail::in_place_inserts<in_place_handle, Map, V>;
  [[nodiscard]] auto& asked() const noexcept { return table_; }

  mutable typename Map::handle_type table_;
};

/// The parameters are those of cubby::map. Any engine will do that keeps entries in records.
/// A map cannot be copied; an idle one can be moved. It must outlive its handles and the calls of other threads.
template <class K, class V, class Engine = dlht, class Hash = hash<K>, class Allocator = std::allocator<std::byte>,
          class KeyEqual = equal<K>>
class in_place_map : public detail::in_place_api<in_place_map<K, V, Engine, Hash, Allocator, KeyEqual>,
                                                 map<K, detail::held_value<V>, Engine, Hash, Allocator, KeyEqual>, V> {
  using table_type = map<K, detail::held_value<V>, Engine, Hash, Allocator, KeyEqual>;

public:
  using key_equal = KeyEqual;
  using handle_type = in_place_handle<table_type, V>;
  /// `cubby::options`, and the options that only this engine has.
  using options_type = typename table_type::options_type;

  /// An empty map. Throws std::bad_alloc if there is no memory for the first index; without exceptions, `ok` then answers false.
  in_place_map() : in_place_map(options{}) {}
  /// The same, with options that all tables have, a hash and an allocator.
  explicit in_place_map(const options& wanted, const Hash& h = Hash(), const Allocator& a = Allocator())
      : table_(wanted, h, a) {}
  /// The same, with the engine's own options, as for cubby::map.
  template <detail::contract::options_of<typename table_type::engine_type> O>
  explicit in_place_map(const O& wanted, const Hash& h = Hash(), const Allocator& a = Allocator())
      : table_(wanted, h, a) {}
  /// The same, with a hash, or with an allocator and a hash made by default: `in_place_map(&resource)` with a `std::pmr` allocator.
  template <std::same_as<Hash> H> explicit in_place_map(const H& h) : in_place_map(options{}, h) {}
  template <detail::contract::given_allocator<Allocator> A>
  explicit in_place_map(const A& a) : in_place_map(options{}, Hash(), a) {}
  template <detail::contract::given_allocator<Allocator> A>
  explicit in_place_map(const options& wanted, const A& a) : in_place_map(wanted, Hash(), a) {}
  template <detail::contract::options_of<typename table_type::engine_type> O,
            detail::contract::given_allocator<Allocator> A>
  explicit in_place_map(const O& wanted, const A& a) : in_place_map(wanted, Hash(), a) {}

  /// A map of the pairs from `first` to `last`, inserted in their order; of equal keys the first stays. With iterators whose difference is
  /// a number it asks for space first. `std::move_iterator`s move the values. Throws like the first constructor and like `insert`.
  template <std::input_iterator It, std::sentinel_for<It> End,
            detail::contract::given_options<typename table_type::engine_type> O = options>
    requires std::copyable<It>
  in_place_map(It first, End last, const O& wanted = {}, const Hash& h = Hash(), const Allocator& a = Allocator())
      : in_place_map(wanted, h, a) {
    detail::whole::fill(*this, std::move(first), std::move(last));
  }
  template <std::input_iterator It, std::sentinel_for<It> End, detail::contract::given_allocator<Allocator> A>
    requires std::copyable<It>
  in_place_map(It first, End last, const A& a)
      : in_place_map(std::move(first), std::move(last), options{}, Hash(), a) {}
  template <std::input_iterator It, std::sentinel_for<It> End,
            detail::contract::given_options<typename table_type::engine_type> O = options,
            detail::contract::given_allocator<Allocator> A>
    requires std::copyable<It>
  in_place_map(It first, End last, const O& wanted, const A& a)
      : in_place_map(std::move(first), std::move(last), wanted, Hash(), a) {}
  /// The same, of a list, whose values are copied: `{{k, v}, {k, v}}`.
  template <detail::contract::given_options<typename table_type::engine_type> O = options>
  in_place_map(std::initializer_list<std::pair<const K, V>> entries, const O& wanted = {}, const Hash& h = Hash(),
               const Allocator& a = Allocator())
      : in_place_map(entries.begin(), entries.end(), wanted, h, a) {}
  template <detail::contract::given_allocator<Allocator> A>
  in_place_map(std::initializer_list<std::pair<const K, V>> entries, const A& a)
      : in_place_map(entries, options{}, Hash(), a) {}
  template <detail::contract::given_options<typename table_type::engine_type> O = options,
            detail::contract::given_allocator<Allocator> A>
  in_place_map(std::initializer_list<std::pair<const K, V>> entries, const O& wanted, const A& a)
      : in_place_map(entries, wanted, Hash(), a) {}
  /// Moves an idle map: no other thread calls it, and no handle, guard, reservation or scan of it lives. No entry moves. What waits for
  /// its end is destroyed: a destructor may call either. `from` is then empty, with its options but without the space that was asked
  /// for. Without memory or a thread for that, its `ok` answers false. Not for a hash or an allocator whose copy may throw.
  template <detail::moving<in_place_map> M>
    requires detail::contract::movable<typename table_type::engine_type>
  in_place_map(M&& from) noexcept : table_(std::move(static_cast<in_place_map&>(from).table_)) {}
  template <detail::moving<in_place_map> M>
    requires(!detail::contract::movable<typename table_type::engine_type>)
  in_place_map(M&&) = delete; // a copy of its hash or allocator may throw: keep a std::unique_ptr to it
  /// The same, into a map that is idle, too. Its entries are destroyed.
  in_place_map& operator=(in_place_map&& from) noexcept
    requires detail::contract::movable<typename table_type::engine_type>
  {
    table_ = std::move(from.table_);
    return *this;
  }
  in_place_map& operator=(in_place_map&&)
    requires(!detail::contract::movable<typename table_type::engine_type>)
  = delete; // a copy of its hash or allocator may throw: keep a std::unique_ptr to it
  /// Swaps two idle maps.
  void swap(in_place_map& other) noexcept
    requires detail::contract::movable<typename table_type::engine_type>
  {
    table_.swap(other.table_);
  }
  friend void swap(in_place_map& one, in_place_map& other) noexcept
    requires detail::contract::movable<typename table_type::engine_type>
  {
    one.swap(other);
  }
  template <detail::range R>
    requires(!std::is_convertible_v<const R&, Allocator> && !std::is_convertible_v<const R&, Hash> &&
             !std::derived_from<std::remove_cvref_t<R>, in_place_map>)
  explicit in_place_map(R&&) = delete; // use in_place_map(range.begin(), range.end())
  template <std::same_as<in_place_map> M, class A>
  in_place_map(M&&, const A&) = delete; // the allocator moves with the entries: use in_place_map(std::move(other))
  template <detail::number N, class... A>
  explicit in_place_map(N, const A&...) = delete; // a number is no capacity: use in_place_map({.capacity = n})
  // Not `const in_place_map&`: g++ would take `{.capacity = n}` for an in_place_map that is made of a number.
  in_place_map(in_place_map&) = delete; // no copies: std::move it, or keep a std::unique_ptr to it
  template <std::same_as<in_place_map> M>
  in_place_map(const M&) = delete;                       // no copies: std::move it, or keep a std::unique_ptr to it
  in_place_map& operator=(const in_place_map&) = delete; // no copies: std::move it, or keep a std::unique_ptr to it

  /// False if the map could not be made, in builds without exceptions, or if a move has left it so. Such a map may only be destroyed,
  /// moved and assigned to.
  [[nodiscard]] bool ok() const noexcept { return table_.ok(); }
  /// A handle for the calling thread. Throws std::bad_alloc if there is no memory for its record.
  [[nodiscard]] handle_type handle() { return handle_type(table_.handle()); }

private:
  friend class detail::in_place_api<in_place_map, table_type, V>;
  friend class detail::in_place_inserts<in_place_map, table_type, V>;
  [[nodiscard]] auto& asked() const noexcept { return table_; }

  mutable table_type table_;
};

/// Of these types there is no map: its use ends in one readable error.
template <class K, class V, class Engine, class Hash, class Allocator, class KeyEqual>
  requires detail::refused_types<Engine, K, V>
class in_place_map<K, V, Engine, Hash, Allocator, KeyEqual> : detail::refused_table<Engine, K, V> {
public:
  template <class... A> explicit in_place_map(A&&...) {}
};

} // namespace cubby::inline v0
