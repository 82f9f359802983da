// SPDX-License-Identifier: Apache-2.0
// The verbs of maps, beside those of table_api.hpp: what has to do with values. A function that is given a value gets
// `const V&` that stays as it is until the function returns; it may call the table again. Functions that make a new
// value out of the old one may run again when another thread was faster, so they should have no other effect; that of `modify` runs once.
// They must not change the entry that they are shown: that never ends, and throws `self_deadlock` in debug builds.
// What a user's function or constructor throws passes through and leaves the table as it was.
#pragma once

#include <algorithm>
#include <concepts>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include <cubby/detail/api/insertion.hpp>
#include <cubby/detail/api/table_api.hpp>

namespace cubby::inline v0::detail {

/// A range of pairs, of what becomes a key or what a lookup takes, and of what becomes a value.
template <class R, class K, class V, class Codec>
concept pairs_for = range<R> && element_key<decltype((std::declval<reference_of<R>>().first)), K, Codec> &&
                    std::convertible_to<decltype((std::declval<reference_of<R>>().second)), V>;

template <class Derived, class Engine> class map_api : public table_api<Derived, Engine> {
  using base = table_api<Derived, Engine>;
  using K = typename base::key_type;
  using V = typename Engine::policy::mapped_type;
  using codec_type = typename base::codec_type;

public:
  using mapped_type = V;

  /// A copy of the value, whose type must have one.
  [[nodiscard]] CUBBY_ALWAYS_INLINE std::optional<V> find(const K& k) const { return copy_of(k); }
  template <lookup_key<codec_type> Q> [[nodiscard]] CUBBY_ALWAYS_INLINE std::optional<V> find(const Q& k) const {
    return copy_of(k);
  }

  /// `f(const V&)` if the key is there. 1 if so, else 0.
  template <class F> std::size_t visit(const K& k, F&& f) const { return look(k, f); }
  template <lookup_key<codec_type> Q, class F> std::size_t visit(const Q& k, F&& f) const { return look(k, f); }

  /// Inserts if the key is absent; the value is built only then. False if it was there. Throws table_full,
  /// table_crowded or std::bad_alloc when there is no space (without exceptions: false; `try_insert` tells them apart).
  template <class U = V>
    requires std::convertible_to<U, V>
  CUBBY_ALWAYS_INLINE bool insert(const K& k, U&& v) {
    return detail::settle(this->add(k, std::forward<U>(v)));
  }
  template <lookup_key<codec_type> Q, class U = V>
    requires std::convertible_to<U, V>
  bool insert(const Q& k, U&& v) {
    return detail::settle(this->add(k, std::forward<U>(v)));
  }
  /// The same with a value made of `args`.
  template <class... A>
    requires std::constructible_from<V, A...>
  bool try_emplace(const K& k, A&&... args) {
    return detail::settle(this->add(k, std::forward<A>(args)...));
  }
  template <lookup_key<codec_type> Q, class... A>
    requires std::constructible_from<V, A...>
  bool try_emplace(const Q& k, A&&... args) {
    return detail::settle(this->add(k, std::forward<A>(args)...));
  }
  /// The same, telling how it ended; a lack of space does not throw.
  template <class... A>
    requires std::constructible_from<V, A...>
  outcome try_insert(const K& k, A&&... args) {
    return this->add(k, std::forward<A>(args)...);
  }
  template <lookup_key<codec_type> Q, class... A>
    requires std::constructible_from<V, A...>
  outcome try_insert(const Q& k, A&&... args) {
    return this->add(k, std::forward<A>(args)...);
  }

  /// Gives the key this value if it is there. DLHT's Put (section 3.2.4), in every mode. Throws std::bad_alloc when
  /// there is no memory for a record (without exceptions: false).
  template <class U = V>
    requires std::convertible_to<U, V>
  CUBBY_ALWAYS_INLINE bool assign(const K& k, U&& v) {
    return put(k, std::forward<U>(v));
  }
  template <lookup_key<codec_type> Q, class U = V>
    requires std::convertible_to<U, V>
  bool assign(const Q& k, U&& v) {
    return put(k, std::forward<U>(v));
  }
  /// Gives the key this value, there or not. True: inserted. Of keys that are equal and yet differ the first one stays,
  /// here and in every other change. Throws like `insert`.
  template <class U = V>
    requires std::convertible_to<U, V>
  bool insert_or_assign(const K& k, U&& v) {
    return put_anyway(k, std::forward<U>(v));
  }
  template <lookup_key<codec_type> Q, class U = V>
    requires std::convertible_to<U, V>
  bool insert_or_assign(const Q& k, U&& v) {
    return put_anyway(k, std::forward<U>(v));
  }

  /// Replaces the value by `f(const V&) -> V` if the key is there; `f` may run again. Throws like `assign`.
  template <class F> bool update(const K& k, F&& f) { return renew(k, f); }
  template <lookup_key<codec_type> Q, class F> bool update(const Q& k, F&& f) { return renew(k, f); }
  /// `f(V&)`, called exactly once if the key is there, on a copy that then takes the value's place. Blocks: a thread that wants to
  /// change or erase this entry waits until `f` has returned; lookups, and all that is about other entries, go on. `f` must not
  /// wait for anybody who may want this entry: no change of it, no `clear` or `erase_if` over all, no change of an entry that
  /// another `modify` or a reservation holds. What it throws leaves the entry as it was. Throws like `assign`. Of engines that have
  /// `exclusive_modify`: `relativistic`.
  template <class F>
    requires std::copy_constructible<V>
  bool modify(const K& k, F&& f) {
    return alter(k, f);
  }
  template <lookup_key<codec_type> Q, class F>
    requires std::copy_constructible<V>
  bool modify(const Q& k, F&& f) {
    return alter(k, f);
  }
  /// `update`, or inserts a value made of `args`. True: inserted.
  template <class F, class... A> bool insert_or_update(const K& k, F&& f, A&&... args) {
    return renew_anyway(k, f, std::forward<A>(args)...);
  }
  template <lookup_key<codec_type> Q, class F, class... A> bool insert_or_update(const Q& k, F&& f, A&&... args) {
    return renew_anyway(k, f, std::forward<A>(args)...);
  }
  /// Adds `n` to the value, or inserts `n`. True: inserted.
  bool insert_or_add(const K& k, const V& n)
    requires requires(const V& v) { static_cast<V>(v + v); }
  {
    return renew_anyway(k, [&n](const V& v) { return static_cast<V>(v + n); }, n);
  }
  template <lookup_key<codec_type> Q>
    requires requires(const V& v) { static_cast<V>(v + v); }
  bool insert_or_add(const Q& k, const V& n) {
    return renew_anyway(k, [&n](const V& v) { return static_cast<V>(v + n); }, n);
  }
  /// `f(const V*)`, null when absent, returns a computed<V>: keep, erase, or a value. `f` may run again; the last
  /// answer is the one that is carried out, about exactly the value that it was shown.
  template <class F> change compute(const K& k, F&& f) { return computed_by(k, f); }
  template <lookup_key<codec_type> Q, class F> change compute(const Q& k, F&& f) { return computed_by(k, f); }

  using base::erase_if;
  /// Erases the entry if `p(const V&)` holds for it; `p` may run again.
  template <class P> bool erase_if(const K& k, P&& p) { return take_out_if(k, p); }
  template <lookup_key<codec_type> Q, class P> bool erase_if(const Q& k, P&& p) { return take_out_if(k, p); }
  /// Erases the entry and returns the very value that left (a copy: others may be reading it).
  std::optional<V> extract(const K& k)
    requires std::copy_constructible<V>
  {
    return pull(k);
  }
  template <lookup_key<codec_type> Q>
    requires std::copy_constructible<V>
  std::optional<V> extract(const Q& k) {
    return pull(k);
  }

  /// Inserts keys[i] with values[i] for each i, in this order, as `try_insert` does, while memory is asked ahead (DLHT section 3.3).
  /// results[i] says how that ended; no lack of space throws. The number inserted. Takes as many as there are keys, values and
  /// results. Each insert takes effect on its own. Keys as in `find_batch`.
  template <class E = Engine>
  std::size_t insert_batch(std::span<const K> keys, std::span<const V> values, std::span<outcome> results) {
    return insert_each(keys, values, results);
  }
  template <lookup_range<codec_type> Keys>
  std::size_t insert_batch(const Keys& keys, std::span<const V> values, std::span<outcome> results) {
    return insert_each(detail::elements_of<Keys>(keys), values, results);
  }
  /// `insert` of each pair of a range, `first` with a copy of `second`, in the range's order, while memory is asked ahead. The number
  /// inserted. Throws like `insert`, and without exceptions ends, at the first pair without space; those before it stay. A pair is
  /// read twice. Memory is not asked ahead for a range that can be passed only once, nor in record mode for pairs that are made
  /// when they are read, or whose keys must be converted.
  template <class Pairs> std::size_t insert_range(Pairs&& pairs) {
    constexpr bool fits = pairs_for<Pairs, K, V, codec_type>;
    static_assert(fits, "insert_range takes a range of pairs, each of a key of this map and its value");
    if constexpr (fits) return insert_pairs(pairs);
    else return 0;
  }

  /// Looks all keys up; values[i] is written where found[i] becomes true. The number found. Takes as many keys as there are
  /// keys, values and found. Equal keys are looked up in their order, others in none. Keys: a contiguous range of K, or of what a
  /// lookup takes, such as std::string_view.
  template <class E = Engine>
    requires std::is_copy_assignable_v<V>
  std::size_t find_batch(std::span<const K> keys, std::span<V> values, std::span<bool> found) const {
    return find_each(keys, values, found);
  }
  template <lookup_range<codec_type> Keys>
    requires std::is_copy_assignable_v<V>
  std::size_t find_batch(const Keys& keys, std::span<V> values, std::span<bool> found) const {
    return find_each(detail::elements_of<Keys>(keys), values, found);
  }
  /// `f(i, const V*)` once for each key, null where absent, equal keys in their order, others in none: i tells which. The number
  /// found. `f` may call the table. Keys as in `find_batch`.
  template <class F> std::size_t visit_batch(std::span<const K> keys, F&& f) const { return visit_each(keys, f); }
  template <lookup_range<codec_type> Keys, class F> std::size_t visit_batch(const Keys& keys, F&& f) const {
    return visit_each(detail::elements_of<Keys>(keys), f);
  }

  /// `co_await` finds the key while other tasks of the same runner go on; include <cubby/coro.hpp>.
  template <class E = Engine> [[nodiscard]] auto async_find(const K& k) const {
    static_assert(contract::prefetching<E>, "this engine cannot ask memory for an entry ahead; use find");
    return async_lookup<Derived>(self(), k);
  }
  template <lookup_key<codec_type> Q> [[nodiscard]] auto async_find(const Q& k) const {
    static_assert(contract::prefetching<Engine>, "this engine cannot ask memory for an entry ahead; use find");
    return async_lookup<Derived>(self(), k);
  }

  /// Inserts the key hidden: nobody finds it until `commit`, nobody else can insert it (DLHT section 3.2.2).
  template <class... A>
    requires std::constructible_from<V, A...>
  [[nodiscard]] reservation<Engine> shadow_insert(const K& k, A&&... args) {
    return this->add_hidden(k, std::forward<A>(args)...);
  }
  template <lookup_key<codec_type> Q, class... A>
    requires std::constructible_from<V, A...>
  [[nodiscard]] reservation<Engine> shadow_insert(const Q& k, A&&... args) {
    return this->add_hidden(k, std::forward<A>(args)...);
  }

private:
  [[nodiscard]] const Derived& self() const noexcept { return static_cast<const Derived&>(*this); }

  template <class Q>
  std::size_t insert_each(std::span<const Q> keys, std::span<const V> values, std::span<outcome> results) {
    static_assert(contract::batched<Engine>, "this engine takes no batches; ask it one by one");
    const auto s = this->here();
    [[maybe_unused]] const auto pin = s.engine.pin(s.at);
    const std::size_t n = detail::least_of(keys.size(), values.size(), results.size());
    std::fill_n(results.begin(), n, outcome::not_executed); // however the call ends
    std::size_t count = 0;
    detail::in_order(
        s, n, [&](std::size_t i) { return s.codec().probe_of(keys[i]); },
        [&](std::size_t i, const auto& p) CUBBY_INLINED {
          results[i] = detail::place_legal(s, p, keys[i], values[i]);
          count += results[i] == outcome::done ? 1 : 0;
          return true;
        });
    return count;
  }
  template <class Pairs> std::size_t insert_pairs(Pairs& pairs) {
    static_assert(contract::batched<Engine>, "this engine takes no batches; ask it one by one");
    const auto s = this->here();
    const auto key_of = [](const auto& pair) -> decltype(auto) { return detail::asked_key<codec_type>(pair.first); };
    const auto insert = [key_of](const auto& to, const auto& p, const auto& pair)
                            CUBBY_INLINED { return detail::place_legal(to, p, key_of(pair), pair.second); };
    const auto all = detail::insert_elements(s, std::begin(pairs), std::end(pairs), key_of, insert);
    if (all.end != outcome::done) detail::report(all.end);
    return all.count;
  }

  template <class Q> std::size_t find_each(std::span<const Q> keys, std::span<V> values, std::span<bool> found) const {
    static_assert(contract::batched<Engine>, "this engine takes no batches; ask it one by one");
    const auto s = this->here();
    [[maybe_unused]] const auto pin = s.engine.pin(s.at);
    const auto& codec = s.codec();
    const std::size_t n = detail::least_of(keys.size(), values.size(), found.size());
    std::size_t count = 0;
    detail::find_keys(s, keys.first(n), [&](std::size_t i, const auto& seen) {
      found[i] = seen.found;
      count += seen.found ? 1 : 0;
      if (seen.found) values[i] = codec.value(seen.word);
    });
    return count;
  }
  template <class Q, class F> std::size_t visit_each(std::span<const Q> keys, F& f) const {
    static_assert(contract::batched<Engine>, "this engine takes no batches; ask it one by one");
    const auto s = this->here();
    [[maybe_unused]] const auto pin = s.engine.pin(s.at);
    const auto& codec = s.codec();
    std::size_t count = 0;
    detail::find_keys(s, keys, [&](std::size_t i, const auto& seen) {
      if (!seen.found) {
        f(i, static_cast<const V*>(nullptr));
        return;
      }
      ++count;
      const V& value = codec.value(seen.word);
      f(i, &value);
    });
    return count;
  }

  /// Inlined where words are copied: then the answer needs no memory.
  template <class Q> CUBBY_ALWAYS_INLINE std::optional<V> copy_of(const Q& k) const {
    constexpr bool copied = std::copy_constructible<V>;
    static_assert(copied, "find copies the value, and this type cannot be copied: use visit");
    if constexpr (!copied) return std::nullopt;
    else if constexpr (codec_type::in_records) return copy_of_record(k);
    else return this->about_lookup(k, copy_found);
  }
  template <class Q> std::optional<V> copy_of_record(const Q& k) const { return this->about(k, copy_found); }
  static constexpr auto copy_found = [](const auto& s, const auto& p) CUBBY_INLINED -> std::optional<V> {
    const auto seen = s.engine.find(s.at, p);
    if (!seen.found) return std::nullopt;
    return std::optional<V>(s.codec().value(seen.word));
  };
  template <class Q, class F> std::size_t look(const Q& k, F& f) const {
    return this->about(k, [&](const auto& s, const auto& p) -> std::size_t {
      const auto seen = s.engine.find(s.at, p);
      if (!seen.found) return 0;
      const V& value = s.codec().value(seen.word);
      f(value);
      return 1;
    });
  }
  static bool settle(detail::changed how) {
    if (how == detail::changed::no_memory) fail::with_no_memory();
    return how == detail::changed::done;
  }
  template <class Q, class U> CUBBY_ALWAYS_INLINE bool put(const Q& k, U&& v) {
    if constexpr (codec_type::in_records) {
      return put_record(k, std::forward<U>(v));
    } else {
      return settle(this->about_change(
          k, [&](const auto& s, const auto& p) CUBBY_INLINED { return s.codec().make(p, k, std::forward<U>(v)).word; },
          [](const auto& s, const auto& p, const auto& word)
              CUBBY_INLINED { return detail::assign_word(s, p, word); }));
    }
  }
  template <class Q, class U> bool put_record(const Q& k, U&& v) {
    return settle(this->about(
        k, [&](const auto& s, const auto& p) { return detail::assign_value(s, p, k, std::forward<U>(v)); }));
  }
  template <class Q, class U> bool put_anyway(const Q& k, U&& v) {
    return this->about_new(k, false, [&](const auto& s, const auto& p) {
      return detail::settle(detail::assign_or_insert(s, p, k, std::forward<U>(v)).how);
    });
  }
  template <class Q, class F> bool renew(const Q& k, F& f) {
    return settle(this->about(k, [&](const auto& s, const auto& p) { return detail::replace_value(s, p, k, f); }));
  }
  template <class Q, class F> bool alter(const Q& k, F& f) {
    static_assert(contract::exclusive<Engine>, "this engine gives no entry to one caller alone; use update");
    return settle(this->about(k, [&](const auto& s, const auto& p) { return detail::modify_value(s, p, k, f); }));
  }
  template <class Q, class F, class... A> bool renew_anyway(const Q& k, F&& f, A&&... args) {
    return this->about_new(k, false, [&](const auto& s, const auto& p) {
      return detail::settle(detail::update_or_insert(s, p, k, f, std::forward<A>(args)...).how);
    });
  }
  template <class Q, class F> change computed_by(const Q& k, F& f) {
    return this->about_new(k, change::none,
                           [&](const auto& s, const auto& p) { return detail::compute_value(s, p, k, f); });
  }
  template <class Q, class P> bool take_out_if(const Q& k, P& p) {
    return this->about(k, [&](const auto& s, const auto& where) {
      return detail::erase_word(s, where, [&](const auto& word) {
        const V& value = s.codec().value(word);
        return static_cast<bool>(p(value));
      });
    });
  }
  template <class Q> std::optional<V> pull(const Q& k) {
    return this->about(k, [](const auto& s, const auto& p) { return detail::extract_value(s, p); });
  }
};

} // namespace cubby::inline v0::detail
