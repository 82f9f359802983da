// SPDX-License-Identifier: Apache-2.0
// Keys that are handed over: a key which is an object is moved into its record, not copied. From then on the probe must not look at
// the caller's key, so it is aimed at that of the record. Keys that are words or bytes have nothing to move.
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>
#include <utility>

#include <cubby/detail/api/contents.hpp>

namespace cubby::inline v0::detail {

/// What a value is made of or assigned from, as in std::map: text in a std::string_view for a std::string.
template <class U, class V>
concept value_source = std::convertible_to<U, V> || (std::constructible_from<V, U> && std::is_assignable_v<V&, U>);

/// Whether the records of a table have their keys as objects.
template <class Codec> inline constexpr bool has_object_keys = false;
template <class Codec>
  requires Codec::in_records
inline constexpr bool has_object_keys<Codec> = Codec::keys_can_differ;

/// The probe to go on with when a record has been made of a key: that of the record, if the key was handed over.
template <class Q, class Engine>
typename Engine::probe probe_behind(context<Engine> s, const typename Engine::probe& p,
                                    const fresh_word<Engine>& made) {
  if constexpr (has_object_keys<typename Engine::policy> && std::same_as<Q, typename Engine::policy::key_type>) {
    if (made.is_made()) return s.codec().aimed_at(p, made.word());
  }
  return p;
}

/// `insert_entry` of a key that is handed over. The key is left alone if it is in the table when the call begins.
template <class Engine, class K, class... A>
insert_outcome insert_moved(context<Engine> s, const typename Engine::probe& p, K&& key, A&&... args) {
  if (s.engine.find(s.at, p).found) return insert_outcome::exists;
  fresh_word<Engine> next(s, p, std::forward<K>(key), std::forward<A>(args)...);
  return next.ok() ? next.insert(probe_behind<K>(s, p, next)) : insert_outcome::no_memory;
}

/// `assign_or_insert` of a key that is handed over. The key is left alone if it is in the table when the call begins.
template <class Engine, class K, class U>
upserted assign_or_insert_moved(context<Engine> s, const typename Engine::probe& p, K&& key, U&& value) {
  if (const auto seen = s.engine.find(s.at, p); seen.found)
    return put_record(s, p, s.codec().kept_key(seen.word, key), std::forward<U>(value));
  refuse_shown(s.engine, p);
  const made_word made = s.codec().make(p, std::forward<K>(key), std::forward<U>(value));
  if (!made.ok) [[unlikely]] {
    free_retired(s.engine, s.at);
    return {insert_outcome::no_memory};
  }
  return put_absent(s.engine, s.at, s.codec().aimed_at(p, made.word), made);
}

/// The verbs of a map that take a key by `K&&`. They exist for keys that are objects in records; all other keys have the verbs
/// that take `const K&`.
template <class Derived, class Engine> class moved_key_api : public contents_api<Derived, Engine> {
  using base = contents_api<Derived, Engine>;
  using K = typename base::key_type;
  using V = typename Engine::policy::mapped_type;
  static constexpr bool moves = has_object_keys<typename Engine::policy>;

public:
  /// The same as `insert` and so on of a `const K&`, and moves the key into the table instead of copying it. The key is left as it was
  /// if the table has it when the call begins. Otherwise it may be moved from, also if the call then finds no space, a
  /// constructor of the value throws, or another thread inserts the key at the same time.
  template <class U = V>
    requires(moves && value_source<U, V>)
  bool insert(K&& k, U&& v) {
    return detail::report_failure(add_moved(k, std::forward<U>(v)));
  }
  template <class... A>
    requires(moves && std::constructible_from<V, A...>)
  bool try_emplace(K&& k, A&&... args) {
    return detail::report_failure(add_moved(k, std::forward<A>(args)...));
  }
  template <class... A>
    requires(moves && std::constructible_from<V, A...>)
  outcome try_insert(K&& k, A&&... args) {
    return add_moved(k, std::forward<A>(args)...);
  }
  template <class U = V>
    requires(moves && value_source<U, V>)
  bool insert_or_assign(K&& k, U&& v) {
    return this->about_new(k, false, [&](const auto& s, const auto& p) {
      return detail::report_failure(detail::assign_or_insert_moved(s, p, std::move(k), std::forward<U>(v)).how);
    });
  }

  auto insert(const std::pair<const K, V>&) = delete; // use insert(key, value)
  template <std::input_iterator It>
    requires(!std::convertible_to<It, K> && !lookup_key<It, typename Engine::policy>)
  auto insert(It, It) = delete; // use insert_range(pairs), or try_insert of each

private:
  template <class... A> insert_outcome add_moved(K& k, A&&... args) {
    return this->about_new(k, insert_outcome::full, [&](const auto& s, const auto& p) {
      return detail::insert_moved(s, p, std::move(k), std::forward<A>(args)...);
    });
  }
};

} // namespace cubby::inline v0::detail
