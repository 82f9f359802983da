// SPDX-License-Identifier: Apache-2.0
// What concerns all entries of tables at once: from a range or a list into a table, from one table into another, into a container,
// and whether two tables hold the same. The calls read or copy each entry. They are exact for tables that no other thread changes.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

#include <cubby/detail/api/engine_access.hpp>
#include <cubby/detail/api/table_api.hpp>

namespace cubby::inline v0::detail {

/// Two iterators as a range.
template <class It, class End> struct iterator_pair {
  It first;
  End last;
  [[nodiscard]] It begin() const { return first; }
  [[nodiscard]] End end() const { return last; }
};

// In a namespace of their own: an unqualified call of a function of the user, with a map, would find them here.
namespace whole {
/// The first step of a table that is made from a range: space for all of it, and its elements in their order.
template <class Table, class It, class End> void fill(Table& table, It first, End last) {
  if (!table.ok()) return;
  if constexpr (std::sized_sentinel_for<End, It> && contract::growable<typename Table::engine_type>)
    (void)table.reserve(static_cast<std::size_t>(last - first));
  table.insert_range(iterator_pair<It, End>{std::move(first), std::move(last)});
}

/// Whether each entry of one table is in the other one, and there are as many.
template <class Table> bool has_same_entries(const Table& one, const Table& other) {
  if (&one == &other) return true;
  if (one.size() != other.size()) return false;
  bool same = true;
  if constexpr (Table::engine_type::policy::has_values) {
    using V = typename Table::mapped_type;
    one.visit_all([&](const auto& k, const V& v) {
      bool is_there = false;
      if (same) other.visit(k, [&](const V& w) { is_there = static_cast<bool>(w == v); });
      same = same && is_there;
    });
  } else {
    one.visit_all([&](const auto& k) { same = same && other.contains(k); });
  }
  return same;
}
} // namespace whole

/// Containers that are filled by `emplace(key, value)`, or `emplace(key)`.
template <class C, class K, class V>
concept takes_entries = std::is_default_constructible_v<C> && requires(C& out, const K& k, const V& v) {
  requires(std::is_same_v<V, no_value> && requires { out.emplace(k); }) || requires { out.emplace(k, v); };
};

/// What `to` does.
template <class Container, class K, class V> Container copied_to(const auto& table) {
  constexpr bool copied =
      std::is_copy_constructible_v<K> && (std::is_same_v<V, no_value> || std::is_copy_constructible_v<V>);
  static_assert(copied, "to<C>() copies every key and value, and this type cannot be copied: use visit_all");
  constexpr bool fits = !copied || takes_entries<Container, K, V>;
  static_assert(fits, "to<C>() makes a container that is filled by emplace(key, value), such as std::unordered_map; "
                      "that of a set by emplace(key)");
  Container out;
  if constexpr (fits && copied) {
    if constexpr (requires { out.reserve(std::size_t{}); }) out.reserve(table.size());
    if constexpr (std::is_same_v<V, no_value>) table.visit_all([&out](const K& k) { out.emplace(k); });
    else table.visit_all([&out](const K& k, const V& v) { out.emplace(k, v); });
  }
  return out;
}

template <class Derived, class Engine> class contents_api : public table_api<Derived, Engine> {
  using K = typename Engine::policy::key_type;
  using V = typename Engine::policy::mapped_type;
  static constexpr bool has_values = Engine::policy::has_values;

public:
  /// Moves each entry of `source` whose key is absent here to this table: it is inserted here as a copy, then erased there. The others
  /// stay in `source`. The number moved. O(capacity of `source`). Asks for space for all entries of `source` first. Other threads may use this
  /// table meanwhile. If they also use `source`, an entry may be seen in both or in one, never in none. If they change or merge an entry of
  /// `source` meanwhile, both tables may keep it, with different values. Throws like
  /// `insert`; what was moved before stays moved. `source`: a table or a handle of the same keys and values, of any engine.
  template <class Source> std::size_t merge(Source&& source) {
    using from = std::remove_reference_t<Source>;
    constexpr bool fits = requires {
      requires !std::is_const_v<from>;
      typename from::engine_type;
      requires std::is_same_v<typename from::engine_type::policy::key_type, K>;
      requires std::is_same_v<typename from::engine_type::policy::mapped_type, V>;
    };
    static_assert(fits, "merge takes a table of the same keys and the same values, which is not const");
    constexpr bool copied = !has_values || std::is_copy_constructible_v<V>;
    static_assert(copied, "merge copies each value, and this type cannot be copied");
    if constexpr (fits && copied) {
      auto& self = static_cast<Derived&>(*this);
      if constexpr (std::is_same_v<typename from::engine_type, Engine>) {
        if (&engine_access::context_of(self).engine == &engine_access::context_of(source).engine) return 0;
      }
      if constexpr (contract::growable<Engine>) (void)self.reserve(self.size() + source.size());
      if constexpr (has_values) return source.erase_if([&self](const K& k, const V& v) { return self.insert(k, v); });
      else return source.erase_if([&self](const K& k) { return self.insert(k); });
    } else {
      return 0;
    }
  }

  /// A container of copies of all entries: `m.to<std::unordered_map<K, V>>()`. O(capacity). It has what `visit_all` meets.
  template <class Container> [[nodiscard]] Container to() const { return copied_to<Container, K, V>(*this); }
};

} // namespace cubby::inline v0::detail
