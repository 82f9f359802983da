// SPDX-License-Identifier: Apache-2.0
// The verbs of maps that concern values, beside those of table_api.hpp. A user's function gets a `const V&` that does not change
// until the function returns, and may call the table. A function that computes a new value may run again if another thread
// changes the entry meanwhile, so it should have no other effect; the function of `modify` runs once. A function must not change
// the entry that it is shown: such a call would wait for itself, and throws `self_deadlock` in debug builds. It may erase it, except in
// `modify`. An exception of a user's function or constructor passes through and leaves the table as it was.
#pragma once

#include <algorithm>
#include <concepts>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <cubby/detail/api/callbacks.hpp>
#include <cubby/detail/api/get_or_create.hpp>
#include <cubby/detail/api/insertion.hpp>
#include <cubby/detail/api/table_api.hpp>

namespace cubby::inline v0::detail {

template <class Derived, class Engine> class map_api : public get_or_create_api<Derived, Engine> {
  using base = get_or_create_api<Derived, Engine>;
  using K = typename base::key_type;
  using V = typename Engine::policy::mapped_type;
  using codec_type = typename base::codec_type;

public:
  using mapped_type = V;
  using base::find, base::visit;                                                   // refused ones
  using base::insert, base::insert_or_assign, base::try_emplace, base::try_insert; // those that take `K&&`
  using base::insert_or_update, base::insert_or_add, base::compute;                // the same

  /// A copy of the value, or nothing if the key is absent. The value's type must be copyable.
  [[nodiscard]] CUBBY_ALWAYS_INLINE std::optional<V> find(const K& k) const { return copy_of(k); }
  template <lookup_key<codec_type> Q> [[nodiscard]] CUBBY_ALWAYS_INLINE std::optional<V> find(const Q& k) const {
    return copy_of(k);
  }

  /// Calls `f(const V&)` if the key is there, and returns 1; else returns 0.
  template <class F> std::size_t visit(const K& k, F&& f) const { return look(k, f); }
  template <lookup_key<codec_type> Q, class F> std::size_t visit(const Q& k, F&& f) const { return look(k, f); }

  /// Inserts if the key is absent, and only then builds the value. False if the key was there. Throws table_full, table_crowded or
  /// std::bad_alloc if there is no space; without exceptions it then returns false, and `try_insert` tells the cases apart.
  template <class U = V>
    requires value_source<U, V>
  CUBBY_ALWAYS_INLINE bool insert(const K& k, U&& v) {
    return detail::report_failure(this->add(k, std::forward<U>(v)));
  }
  template <lookup_key<codec_type> Q, class U = V>
    requires value_source<U, V>
  bool insert(const Q& k, U&& v) {
    return detail::report_failure(this->add(k, std::forward<U>(v)));
  }
  /// The same, with a value constructed from `args`.
  template <class... A>
    requires std::constructible_from<V, A...>
  bool try_emplace(const K& k, A&&... args) {
    return detail::report_failure(this->add(k, std::forward<A>(args)...));
  }
  template <lookup_key<codec_type> Q, class... A>
    requires std::constructible_from<V, A...>
  bool try_emplace(const Q& k, A&&... args) {
    return detail::report_failure(this->add(k, std::forward<A>(args)...));
  }
  /// The same, but returns how it ended, and does not throw for want of space.
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

  /// Gives the key this value if the key is there; false if it is not. DLHT's Put (section 3.2.4), in every storage mode. Throws
  /// std::bad_alloc if there is no memory for a record; without exceptions it then returns false.
  template <class U = V>
    requires value_source<U, V>
  CUBBY_ALWAYS_INLINE bool assign(const K& k, U&& v) {
    return put_if_present(k, std::forward<U>(v));
  }
  template <lookup_key<codec_type> Q, class U = V>
    requires value_source<U, V>
  bool assign(const Q& k, U&& v) {
    return put_if_present(k, std::forward<U>(v));
  }
  /// Gives the key this value, whether the key is there or not. True: inserted. If two equal keys differ, the table keeps the first
  /// one, here and in every other change. Throws like `insert`.
  template <class U = V>
    requires value_source<U, V>
  bool insert_or_assign(const K& k, U&& v) {
    return put_anyway(k, std::forward<U>(v));
  }
  template <lookup_key<codec_type> Q, class U = V>
    requires value_source<U, V>
  bool insert_or_assign(const Q& k, U&& v) {
    return put_anyway(k, std::forward<U>(v));
  }

  /// Replaces the value by `f(const V&) -> V` if the key is there; false if it is not. `f` may run again. Throws like `assign`.
  template <class F> bool update(const K& k, F&& f) { return renew(k, f); }
  template <lookup_key<codec_type> Q, class F> bool update(const Q& k, F&& f) { return renew(k, f); }
  /// Calls `f(V&)` exactly once if the key is there, on a copy that then replaces the value; false if the key is absent. Blocks: threads
  /// that change or erase this entry wait until `f` has returned, and this call waits for other `modify` calls of the entry. Lookups
  /// and operations on other entries go on. `f` must not wait for a thread that may want this entry. So it must not change the
  /// entry, call `clear` or `erase_if` over all entries, or change an entry that another `modify` or a reservation holds. An
  /// exception of `f` leaves the entry as it was. Throws like `assign`. Only in engines with `exclusive_modify`.
  template <class F> bool modify(const K& k, F&& f) { return alter(k, f); }
  template <lookup_key<codec_type> Q, class F> bool modify(const Q& k, F&& f) { return alter(k, f); }
  /// `update` if the key is there, else inserts a value constructed from `args`. True: inserted. `f` may run again. Throws like `insert`.
  template <class F, class... A> bool insert_or_update(const K& k, F&& f, A&&... args) {
    return this->renew_anyway(k, f, std::forward<A>(args)...);
  }
  template <lookup_key<codec_type> Q, class F, class... A> bool insert_or_update(const Q& k, F&& f, A&&... args) {
    return this->renew_anyway(k, f, std::forward<A>(args)...);
  }
  /// Adds `n` to the value, or inserts `n`. True: inserted. The `+` may run again. Throws like `insert`.
  bool insert_or_add(const K& k, const V& n)
    requires addable<V>
  {
    return this->add_anyway(k, n);
  }
  template <lookup_key<codec_type> Q>
    requires addable<V>
  bool insert_or_add(const Q& k, const V& n) {
    return this->add_anyway(k, n);
  }
  /// Calls `f(const V*)`, with null if the key is absent, and carries out the computed<V> that it returns: keep, erase, or a new value.
  /// `f` may run again. The last result is carried out, about exactly the value that `f` has seen. Throws like `insert`.
  template <class F> change compute(const K& k, F&& f) { return this->computed_by(k, f); }
  template <lookup_key<codec_type> Q, class F> change compute(const Q& k, F&& f) { return this->computed_by(k, f); }

  using base::erase_if;
  /// Erases the entry if `p(const V&)` holds for it; true if it did. `p` may run again.
  template <class P> bool erase_if(const K& k, P&& p) { return take_out_if(k, p); }
  template <lookup_key<codec_type> Q, class P> bool erase_if(const Q& k, P&& p) { return take_out_if(k, p); }
  /// Erases the entry and returns the value that left, or nothing if the key was absent. The result is a copy, because other threads
  /// may still read the value.
  std::optional<V> extract(const K& k) { return pull(k); }
  template <lookup_key<codec_type> Q> std::optional<V> extract(const Q& k) { return pull(k); }

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
  template <no_batch_of_keys<codec_type> Keys, class... A> std::size_t insert_batch(const Keys&, A&&...) {
    return detail::keys_fit<Keys>();
  }
  /// `insert` of each pair of a range, `first` with a copy of `second`, in the range's order, while memory is asked ahead. The number
  /// inserted. Throws like `insert`, and without exceptions ends, at the first pair without space; those before it stay. A pair is
  /// read twice. Memory is not asked ahead for a range that can be passed only once. In record mode it is not asked ahead either
  /// for pairs that are made when they are read, or whose keys must be converted.
  template <class Pairs> std::size_t insert_range(Pairs&& pairs) {
    constexpr bool fits = pairs_for<Pairs, K, V, codec_type>;
    static_assert(fits, "insert_range takes a range of pairs, each of a key of this map and its value");
    if constexpr (fits) return insert_pairs(pairs);
    else return 0;
  }

  /// Looks up all keys and returns the number found. Sets found[i] for each i, and values[i] where found[i] is true. It looks up as
  /// many keys as the shortest of the three spans has. Equal keys are looked up in their order, other keys in any order. Keys: a
  /// contiguous range of K, or of a type with which keys can be looked up, such as std::string_view.
  template <class E = Engine>
  std::size_t find_batch(std::span<const K> keys, std::span<V> values, std::span<bool> found) const {
    return find_each(keys, values, found);
  }
  template <lookup_range<codec_type> Keys>
  std::size_t find_batch(const Keys& keys, std::span<V> values, std::span<bool> found) const {
    return find_each(detail::elements_of<Keys>(keys), values, found);
  }
  template <class Keys, class Found>
    requires(!std::convertible_to<Found&, std::span<bool>> && !no_batch_of_keys<Keys, codec_type>)
  std::size_t find_batch(const Keys&, std::span<V>, Found&&) const {
    return detail::answers_fit<Found>();
  }
  std::size_t find_batch(std::initializer_list<K> keys, std::span<V> values, std::span<bool> found) const
    requires takes_lists<K>
  {
    return find_each(elements_of<std::initializer_list<K>>(keys), values, found);
  }
  template <no_batch_of_keys<codec_type> Keys, class... A> std::size_t find_batch(const Keys&, A&&...) const {
    return detail::keys_fit<Keys>();
  }
  /// Calls `f(i, const V*)` once for each key, with null if key i is absent, and returns the number found. Equal keys come in their
  /// order, other keys in any order. `f` may call the table. Keys as in `find_batch`.
  template <class F> std::size_t visit_batch(std::span<const K> keys, F&& f) const { return visit_each(keys, f); }
  template <lookup_range<codec_type> Keys, class F> std::size_t visit_batch(const Keys& keys, F&& f) const {
    return visit_each(detail::elements_of<Keys>(keys), f);
  }
  template <class F>
    requires takes_lists<K>
  std::size_t visit_batch(std::initializer_list<K> keys, F&& f) const {
    return visit_each(elements_of<std::initializer_list<K>>(keys), f);
  }
  template <no_batch_of_keys<codec_type> Keys, class F> std::size_t visit_batch(const Keys&, F&&) const {
    return detail::keys_fit<Keys>();
  }

  /// The awaitable of a find: other tasks of the same runner go on meanwhile. Include <cubby/coro.hpp>.
  template <class E = Engine> [[nodiscard]] auto async_find(const K& k) const { return this->lookup_of(k); }
  template <lookup_key<codec_type> Q> [[nodiscard]] auto async_find(const Q& k) const { return this->lookup_of(k); }

  /// Inserts the key hidden (DLHT section 3.2.2): no lookup finds it until `commit`, and no other thread can insert it.
  template <class... A, class E = Engine>
    requires std::constructible_from<V, A...>
  [[nodiscard]] reservation_of<E> shadow_insert(const K& k, A&&... args) {
    return this->add_hidden(k, std::forward<A>(args)...);
  }
  template <lookup_key<codec_type> Q, class... A, class E = Engine>
    requires std::constructible_from<V, A...>
  [[nodiscard]] reservation_of<E> shadow_insert(const Q& k, A&&... args) {
    return this->add_hidden(k, std::forward<A>(args)...);
  }
  template <class... A, class E = Engine>
    requires(has_object_keys<codec_type> && std::constructible_from<V, A...>)
  [[nodiscard]] reservation_of<E> shadow_insert(K&& k, A&&... args) {
    return this->add_hidden(std::move(k), std::forward<A>(args)...);
  }

private:
  template <class Q>
  std::size_t insert_each(std::span<const Q> keys, std::span<const V> values, std::span<outcome> results) {
    static_assert(contract::batched<Engine>, "this engine takes no batches; ask it one by one");
    constexpr bool copied = std::is_copy_constructible_v<V>;
    static_assert(copied,
                  "insert_batch copies values, and this type cannot be copied: use insert_range of move iterators");
    const auto s = this->here();
    const std::size_t n = detail::least_of(keys.size(), values.size(), results.size());
    std::fill_n(results.begin(), n, outcome::not_executed); // however the call ends
    std::size_t count = 0;
    for (std::size_t begin = 0; begin < n; begin += detail::elements_in_pin) {
      [[maybe_unused]] const auto pin = s.engine.pin(s.at);
      detail::in_order<ahead::of_inserts>(
          s, (std::min)(n - begin, detail::elements_in_pin),
          [&](std::size_t i) { return s.codec().probe_of(keys[begin + i]); },
          [&](std::size_t i, const auto& p) CUBBY_INLINED {
            outcome& result = results[begin + i];
            if constexpr (copied) result = detail::insert_legal(s, p, keys[begin + i], values[begin + i]);
            if (result == outcome::done) ++count;
            return true;
          });
    }
    return count;
  }
  template <class Pairs> std::size_t insert_pairs(Pairs& pairs) {
    static_assert(contract::batched<Engine>, "this engine takes no batches; ask it one by one");
    const auto s = this->here();
    const auto key_of = [](const auto& pair) -> decltype(auto) { return detail::asked_key<codec_type>(pair.first); };
    const auto insert = [](const auto& to, const auto& p, auto&& pair) CUBBY_INLINED {
      using element = detail::readable_as<decltype(pair)>; // of two members, one is moved, then the other
      return detail::insert_legal(to, p, detail::asked_key<codec_type>(static_cast<element>(pair).first),
                                  static_cast<element>(pair).second);
    };
    const auto all = detail::insert_elements(s, std::begin(pairs), std::end(pairs), key_of, insert);
    if (all.end != outcome::done) detail::report(all.end);
    return all.count;
  }

  template <class Q> std::size_t find_each(std::span<const Q> keys, std::span<V> values, std::span<bool> found) const {
    static_assert(contract::batched<Engine>, "this engine takes no batches; ask it one by one");
    constexpr bool copied = std::is_copy_assignable_v<V>;
    static_assert(copied, "find_batch copies values, and this type cannot be copied: use visit_batch");
    const auto s = this->here();
    [[maybe_unused]] const auto pin = s.engine.pin(s.at);
    const std::size_t n = detail::least_of(keys.size(), values.size(), found.size());
    std::size_t count = 0;
    detail::find_keys(s, keys.first(n), [&, to = values.data(), was = found.data()](std::size_t i, const auto& seen) {
      was[i] = seen.found;
      if (!seen.found) return;
      ++count;
      if constexpr (copied) to[i] = s.codec().value(seen.word);
    });
    return count;
  }
  template <class Q, class F> std::size_t visit_each(std::span<const Q> keys, F& given) const {
    auto& f = detail::that_looks_at_each<const V*>(given);
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

  /// Inlined for tables of words, so that the answer stays in registers.
  template <class Q> CUBBY_ALWAYS_INLINE std::optional<V> copy_of(const Q& k) const {
    constexpr bool copied = std::copy_constructible<V>;
    static_assert(copied, "find copies the value, and this type cannot be copied: use visit");
    if constexpr (!copied) return std::nullopt;
    else if constexpr (codec_type::in_records) return copy_of_record(k);
    else return this->about_lookup(k, copy_found);
  }
  template <class Q> std::optional<V> copy_of_record(const Q& k) const { return this->about(k, copy_found); }
  static constexpr auto copy_found = [](const auto& s, const auto& p) CUBBY_INLINED -> std::optional<V> {
    auto seen = s.engine.find(s.at, p);
    if (!seen.found) return std::nullopt;
    return std::optional<V>(s.codec().value(seen.word));
  };
  template <class Q, class F> std::size_t look(const Q& k, F& given) const {
    auto& f = detail::that_looks<V>(given);
    return this->about_visit(k, [&](const auto& s, const auto& p) -> std::size_t {
      const auto seen = s.engine.find(s.at, p);
      if (!seen.found) return 0;
      const V& value = s.codec().value(seen.word);
      f(value);
      return 1;
    });
  }
  static bool report_failure(detail::changed how) {
    if (how == detail::changed::no_memory) fail::with_no_memory();
    return how == detail::changed::done;
  }
  template <class Q, class U> CUBBY_ALWAYS_INLINE bool put_if_present(const Q& k, U&& v) {
    if constexpr (codec_type::in_records) {
      return put_record(k, std::forward<U>(v));
    } else {
      return report_failure(this->about_change(
          k, [&](const auto& s, const auto& p) CUBBY_INLINED { return s.codec().make(p, k, std::forward<U>(v)).word; },
          [](const auto& s, const auto& p, const auto& word)
              CUBBY_INLINED { return detail::assign_word(s, p, word); }));
    }
  }
  template <class Q, class U> bool put_record(const Q& k, U&& v) {
    return report_failure(this->about(
        k, [&](const auto& s, const auto& p) { return detail::assign_value(s, p, k, std::forward<U>(v)); }));
  }
  template <class Q, class U> CUBBY_ALWAYS_INLINE bool put_anyway(const Q& k, U&& v) {
    if constexpr (codec_type::in_records) {
      return put_record_anyway(k, std::forward<U>(v));
    } else {
      return detail::report_failure(this->about_change(
          k, [&](const auto& s, const auto& p) CUBBY_INLINED { return s.codec().make(p, k, std::forward<U>(v)).word; },
          [](const auto& s, const auto& p, const auto& word)
              CUBBY_INLINED { return detail::assign_or_insert_word(s, p, word).how; }));
    }
  }
  template <class Q, class U> bool put_record_anyway(const Q& k, U&& v) {
    return this->about_new(k, false, [&](const auto& s, const auto& p) {
      return detail::report_failure(detail::assign_or_insert(s, p, k, std::forward<U>(v)).how);
    });
  }
  template <class Q, class F> bool renew(const Q& k, F& given) {
    auto& f = detail::that_renews<V>(given);
    return report_failure(
        this->about(k, [&](const auto& s, const auto& p) { return detail::replace_value(s, p, k, f); }));
  }
  template <class Q, class F> bool alter(const Q& k, F& given) {
    auto& f = detail::that_changes<V>(given);
    static_assert(contract::exclusive<Engine>,
                  "this engine gives no entry to one caller alone; use update, or cubby::in_place_map");
    constexpr bool copied = std::copy_constructible<V>;
    static_assert(copied || !contract::exclusive<Engine>,
                  "modify changes a copy, and this type cannot be copied: use cubby::in_place_map");
    if constexpr (!copied) return false;
    else
      return report_failure(
          this->about(k, [&](const auto& s, const auto& p) { return detail::modify_value(s, p, k, f); }));
  }
  template <class Q, class P> bool take_out_if(const Q& k, P& given) {
    auto& p = detail::that_decides<const V>(given);
    return this->about(k, [&](const auto& s, const auto& where) {
      return detail::erase_word(s, where, [&](const auto& word) {
        const V& value = s.codec().value(word);
        return static_cast<bool>(p(value));
      });
    });
  }
  template <class Q> std::optional<V> pull(const Q& k) {
    constexpr bool copied = std::copy_constructible<V>;
    static_assert(copied, "extract copies the value, and this type cannot be copied: use cubby::in_place_map");
    if constexpr (!copied) return std::nullopt;
    else return this->about(k, [](const auto& s, const auto& p) { return detail::extract_value(s, p); });
  }
};

} // namespace cubby::inline v0::detail
