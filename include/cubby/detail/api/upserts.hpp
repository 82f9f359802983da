// SPDX-License-Identifier: Apache-2.0
// Inserts of keys that may be handed over, and the changes that insert an absent key. A key that is handed over (`K&&`) and is an
// object is moved into its record, not copied. From then on the probe must not look at the caller's key, so it is aimed at that of
// the record. Keys that are words or bytes have nothing to move.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

#include <cubby/detail/api/operations.hpp>

namespace cubby::inline v0::detail {

/// What a value is made of or assigned from, as in std::map: text in a std::string_view for a std::string.
template <class U, class V>
concept value_source = std::convertible_to<U, V> || (std::constructible_from<V, U> && std::is_assignable_v<V&, U>);

template <class V> concept addable = requires(const V& v) { static_cast<V>(v + v); };

/// Whether the records of a table have their keys as objects.
template <class Codec> inline constexpr bool has_object_keys = false;
template <class Codec>
  requires Codec::in_records
inline constexpr bool has_object_keys<Codec> = Codec::keys_can_differ;

/// Whether a key that a function takes as `Q&&` moves into its record.
template <class Q, class Engine>
inline constexpr bool is_handed_over =
    has_object_keys<typename Engine::policy> && std::same_as<Q, typename Engine::policy::key_type>;

/// The probe to go on with when a record has been made of a key: that of the record, if the key was handed over.
template <class Q, class Engine>
typename Engine::probe probe_behind(context<Engine> s, const typename Engine::probe& p,
                                    const fresh_word<Engine>& made) {
  if constexpr (is_handed_over<Q, Engine>) {
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

/// `make(const V&) -> V` if the key is present, else a value constructed from `args`. That value is built once, because its constructor
/// may move from `args`, and another round is necessary if the entry appears and disappears meanwhile.
template <class Engine, class Q, class F, class... A>
upserted update_or_insert(context<Engine> s, typename Engine::probe p, Q&& key, F&& make, A&&... args) {
  const auto change_it = [&] { return replace_value(s, p, key, make); };
  if constexpr (!Engine::policy::in_records) {
    std::optional<word_of_value<Engine>> built;
    return change_or_insert(s, p, change_it, [&] {
      if (!built) built.emplace(s.codec().make(p, key, std::forward<A>(args)...).word);
      return s.engine.insert(s.at, p, *built).outcome;
    });
  } else {
    std::optional<fresh_word<Engine>> first;
    return change_or_insert(s, p, change_it, [&] {
      if (!first) {
        first.emplace(s, p, std::forward<Q>(key), std::forward<A>(args)...);
        p = probe_behind<Q>(s, p, *first);
      }
      return first->ok() ? first->insert(p) : insert_outcome::no_memory;
    });
  }
}

/// The inserts of one `compute` call. A key that is handed over moves into the first record. If another thread was faster, the next
/// record gets a copy of it from there.
template <class Engine, class Q> class computed_insert {
public:
  template <class V> insert_outcome run(context<Engine> s, typename Engine::probe& p, Q& key, V&& value) {
    if constexpr (is_handed_over<Q, Engine>) {
      if (!first_) {
        first_.emplace(s, p, std::move(key), std::forward<V>(value));
        p = probe_behind<Q>(s, p, *first_);
        return first_->ok() ? first_->insert(p) : insert_outcome::no_memory;
      }
      fresh_word<Engine> next(s, p, s.codec().kept_key(first_->word(), key), std::forward<V>(value));
      return next.ok() ? next.insert(p) : insert_outcome::no_memory;
    } else {
      fresh_word<Engine> next(s, p, key, std::forward<V>(value));
      return next.ok() ? next.insert(p) : insert_outcome::no_memory;
    }
  }

private:
  struct nothing {};
  [[no_unique_address]] std::conditional_t<is_handed_over<Q, Engine>, std::optional<fresh_word<Engine>>, nothing>
      first_;
};

/// Any read-modify-write: `f(const V* or null) -> computed<V>`, which may run again.
template <class Engine, class Q, class F>
change compute_value(context<Engine> s, typename Engine::probe p, Q&& key, F&& f) {
  using V = value_of<Engine>;
  const auto& codec = s.codec();
  computed_insert<Engine, Q> inserts;
  for (sync::backoff wait;; wait.pause()) {
    const auto seen = s.engine.find(s.at, p);
    if (!seen.found) {
      computed<V> wanted = f(static_cast<const V*>(nullptr));
      if (wanted.what() != action::replace) return change::none;
      const insert_outcome how = inserts.run(s, p, key, std::move(wanted.get()));
      if (how != insert_outcome::exists) return report_failure(how) ? change::inserted : change::none;
      refuse_own_wait(s.engine, p);
      continue;
    }
    const V& old = codec.value(seen.word);
    computed<V> wanted = [&]() -> computed<V> {
      [[maybe_unused]] const shown_entry<Engine> shown(s.engine, p, seen.word);
      return f(&old);
    }();
    if (wanted.what() == action::keep) return change::none;
    refuse_shown(s.engine, p, wanted.what() == action::erase);
    if (wanted.what() == action::erase) {
      if (swap_word(s, p, seen.word, {action::erase})) return change::erased;
      continue;
    }
    fresh_word<Engine> next(s, p, codec.kept_key(seen.word, key), std::move(wanted.get()));
    if (!next.ok()) {
      fail::with_no_memory();
      return change::none;
    }
    if (next.replace(p, seen.word)) return change::replaced;
  }
}

} // namespace cubby::inline v0::detail
