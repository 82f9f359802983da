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
#include <cubby/detail/api/upserts.hpp>

namespace cubby::inline v0::detail {

/// What a table may be asked with as it is: its own type of keys, or what a lookup takes.
template <class Q, class K, class Codec>
concept direct_key = std::same_as<std::remove_cvref_t<Q>, K> || Codec::template accepts<std::remove_cvref_t<Q>>;
/// What an element of a range may have as its key.
template <class Q, class K, class Codec> concept element_key = direct_key<Q, K, Codec> || std::convertible_to<Q, K>;
/// That key as the table may be asked with it: itself, or a key made of it.
template <class Codec, class Q> CUBBY_ALWAYS_INLINE decltype(auto) asked_key(Q&& key) {
  using K = typename Codec::key_type;
  if constexpr (direct_key<Q, K, Codec>) return std::forward<Q>(key);
  else return static_cast<K>(std::forward<Q>(key));
}

template <class R>
concept range = requires(R& elements) {
  { std::begin(elements) } -> std::input_iterator;
  { std::end(elements) } -> std::sentinel_for<decltype(std::begin(elements))>;
};
/// An element as the inserts take it: copied from, and moved from if the iterator gives an rvalue, as std::move_iterator does.
template <class E>
using readable_as =
    std::conditional_t<std::is_lvalue_reference_v<E>, const std::remove_reference_t<E>&, std::remove_reference_t<E>&&>;
template <class R>
using read_element_of = readable_as<decltype(*std::begin(std::declval<R&>()))>;

/// A range of what becomes a key, or of what a lookup takes.
template <class R, class K, class Codec> concept keys_for = range<R> && element_key<read_element_of<R>, K, Codec>;

/// A range of pairs of that, and of what becomes a value.
template <class R, class K, class V, class Codec>
concept pairs_for = range<R> && element_key<decltype((std::declval<read_element_of<R>>().first)), K, Codec> &&
                    value_source<decltype((std::declval<read_element_of<R>>().second)), V>;

/// `insert_entry`, of a key that may lie in a namespace that no table has.
template <class Engine, class Q, class... A>
CUBBY_ALWAYS_INLINE outcome insert_legal(context<Engine> s, const typename Engine::probe& p, Q&& key, A&&... args) {
  if (!s.codec().is_legal(p)) [[unlikely]] {
    fail::with_bad_namespace();
    return outcome::full;
  }
  if constexpr (is_handed_over<Q, Engine>) return insert_moved(s, p, std::forward<Q>(key), std::forward<A>(args)...);
  else return insert_entry(s, p, key, std::forward<A>(args)...);
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

/// Elements that are inserted inside one pin. What a table retires meanwhile is freed later. A range of millions inside one pin
/// kept every index that the table had grown out of (bench_populations: 4.1 million inserts a second instead of 10). A resize of
/// `relativistic` goes on only where the pin ends, and chains become long before that.
inline constexpr std::size_t elements_in_pin = 1024;

/// Elements from `first` to `last`, but not more than `most`.
template <class It, class End> std::size_t count_of(It first, End last, std::size_t most) {
  if constexpr (std::sized_sentinel_for<End, It>) {
    const auto all = static_cast<std::size_t>(last - first);
    return all < most ? all : most;
  } else {
    std::size_t n = 0;
    for (; n < most && first != last; ++first) ++n;
    return n;
  }
}

/// Whether a probe may point to the key that it was made of.
template <class Codec>
inline constexpr bool probes_refer = Codec::in_records || key_owning_policy<Codec>;

/// Whether memory can be asked ahead for elements: they can be read again, and what a probe may point to stays where it is.
template <class Engine, class It, class KeyOf>
inline constexpr bool can_ask_ahead =
    std::forward_iterator<It> && (!probes_refer<typename Engine::policy> ||
                                  (std::is_lvalue_reference_v<std::iter_reference_t<It>> &&
                                   std::is_lvalue_reference_v<std::invoke_result_t<KeyOf, std::iter_reference_t<It>>>));

/// Inserts `n` elements from `first` on: `insert(context, probe, element)` with the probe of `key_of(element)`. If it asks memory ahead,
/// it reads an element twice, inside one pin for all. Else it reads an element once, before the pin, because the next element of a
/// stream may be long in coming. False: the table has no space for one, where it ended.
template <class Engine, class It, class KeyOf, class Insert>
bool insert_some(context<Engine> s, It& first, std::size_t n, const KeyOf& key_of, const Insert& insert,
                 insertions& all) {
  const auto& codec = s.codec();
  if constexpr (can_ask_ahead<Engine, It, KeyOf>) {
    [[maybe_unused]] const auto pin = s.engine.pin(s.at);
    prefetch_group::ring<It> at;
    const auto make = [&](std::size_t i) { // once for each i, in order
      at[i] = first;
      decltype(auto) element = *first;
      ++first;
      return codec.probe_of(key_of(element));
    };
    const auto act = [&](std::size_t i, const typename Engine::probe& p)
                         CUBBY_INLINED { return all.take(insert(s, p, *at[i])); };
    in_order<ahead::of_inserts>(s, n, make, act);
    return all.end == outcome::done;
  } else {
    for (; n != 0; --n, ++first) {
      decltype(auto) element = *first;
      decltype(auto) key = key_of(element);
      [[maybe_unused]] const auto pin = s.engine.pin(s.at);
      if (!all.take(insert(s, codec.probe_of(key), std::forward<decltype(element)>(element)))) return false;
    }
    return true;
  }
}

/// Inserts the elements from `first` to `last`, as `insert_some` does. Ends at the first one that the table has no space for.
template <class Engine, std::input_iterator It, std::sentinel_for<It> End, class KeyOf, class Insert>
insertions insert_elements(context<Engine> s, It first, End last, const KeyOf& key_of, const Insert& insert) {
  insertions all;
  while (first != last) {
    std::size_t n = 1; // of a range that can be passed once: it is not known whether there is another
    if constexpr (std::forward_iterator<It>) n = count_of(first, last, elements_in_pin);
    if (!insert_some(s, first, n, key_of, insert, all)) break;
  }
  return all;
}

} // namespace cubby::inline v0::detail
