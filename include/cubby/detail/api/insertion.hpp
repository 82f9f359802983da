// SPDX-License-Identifier: Apache-2.0
// Many inserts in one call (DLHT section 3.3): carried out in the order given, each one on its own, while the memory of those that
// follow is asked ahead. Used by `insert_batch` and `insert_range` of maps and sets.
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

#include <cubby/detail/api/batch.hpp>

namespace cubby::inline v0::detail {

/// What a table may be asked with as it is: its own type of keys, or what a lookup takes.
template <class Q, class K, class Codec>
concept direct_key = std::same_as<std::remove_cvref_t<Q>, K> || Codec::template accepts<std::remove_cvref_t<Q>>;
/// What an element of a range may have as its key.
template <class Q, class K, class Codec> concept element_key = direct_key<Q, K, Codec> || std::convertible_to<Q, K>;
/// That key as the table may be asked with it: itself, or a key made of it.
template <class Codec, class Q> CUBBY_ALWAYS_INLINE decltype(auto) asked_key(const Q& key) {
  using K = typename Codec::key_type;
  if constexpr (direct_key<Q, K, Codec>) return (key);
  else return static_cast<K>(key);
}

template <class R>
concept range = requires(R& elements) {
  { std::begin(elements) } -> std::input_iterator;
  { std::end(elements) } -> std::sentinel_for<decltype(std::begin(elements))>;
};
template <class R> using reference_of = decltype(*std::begin(std::declval<R&>()));

/// `place`, of a key that may lie in a namespace that no table has.
template <class Engine, class Q, class... A>
CUBBY_ALWAYS_INLINE outcome place_legal(context<Engine> s, const typename Engine::probe& p, const Q& key, A&&... args) {
  if (!s.codec().is_legal(p)) [[unlikely]] {
    fail::with_bad_namespace();
    return outcome::full;
  }
  return place(s, p, key, std::forward<A>(args)...);
}

/// How many keys were inserted, and what ended the call: `done` if nothing did.
struct insertions {
  std::size_t count = 0;
  outcome end = outcome::done;
  /// Counts one; false when the table has no space for it.
  bool take(outcome how) noexcept {
    count += how == outcome::done ? 1 : 0;
    if (how == outcome::done || how == outcome::exists) return true;
    end = how;
    return false;
  }
};

template <class It, class End> std::size_t length_of(It first, End last) {
  if constexpr (std::sized_sentinel_for<End, It>) return static_cast<std::size_t>(last - first);
  std::size_t n = 0;
  for (; first != last; ++first) ++n;
  return n;
}

/// Whether memory can be asked ahead for elements: they can be read again, and what a probe may point to stays where it is.
template <class Engine, class It, class KeyOf>
inline constexpr bool can_ask_ahead =
    std::forward_iterator<It> && (!Engine::policy::in_records ||
                                  (std::is_lvalue_reference_v<std::iter_reference_t<It>> &&
                                   std::is_lvalue_reference_v<std::invoke_result_t<KeyOf, std::iter_reference_t<It>>>));

/// Inserts the elements from `first` to `last`: `insert(context, probe, element)` with the probe of `key_of(element)`. Ends at the
/// first one that the table has no space for. Reads an element twice if it asks memory ahead, else once.
template <class Engine, std::input_iterator It, std::sentinel_for<It> End, class KeyOf, class Insert>
insertions insert_elements(context<Engine> s, It first, End last, KeyOf key_of, Insert insert) {
  const auto& codec = s.codec();
  insertions all;
  if constexpr (can_ask_ahead<Engine, It, KeyOf>) {
    prefetch_group::ring<It> at;
    const std::size_t n = length_of(first, last);
    const auto make = [&](std::size_t i) { // once for each i, in order
      at[i] = first;
      decltype(auto) element = *first;
      ++first;
      return codec.probe_of(key_of(element));
    };
    const auto act = [&](std::size_t i, const typename Engine::probe& p)
                         CUBBY_INLINED { return all.take(insert(s, p, *at[i])); };
    in_order(s, n, make, act);
  } else {
    for (; first != last; ++first) {
      decltype(auto) element = *first;
      decltype(auto) key = key_of(element);
      if (!all.take(insert(s, codec.probe_of(key), element))) break;
    }
  }
  return all;
}

} // namespace cubby::inline v0::detail
