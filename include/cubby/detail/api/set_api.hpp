// SPDX-License-Identifier: Apache-2.0
// The verbs of sets, beside those of table_api.hpp. A set of keys that fit in a slot stores only them (DLHT section 3.1, HashSet
// mode). A lock manager can lock a key by inserting it and unlock it by erasing it (section 5.3.3).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include <cubby/detail/api/contents.hpp>
#include <cubby/detail/api/insertion.hpp>
#include <cubby/detail/api/moved_keys.hpp>
#include <cubby/detail/api/table_api.hpp>

namespace cubby::inline v0::detail {

template <class Derived, class Engine> class set_api : public contents_api<Derived, Engine> {
  using base = contents_api<Derived, Engine>;
  using K = typename base::key_type;
  using codec_type = typename base::codec_type;

public:
  /// Inserts if the key is absent; true if it was. Throws table_full, table_crowded or std::bad_alloc if there is no space; without
  /// exceptions it then returns false.
  bool insert(const K& k) { return detail::report_failure(this->add(k)); }
  template <lookup_key<codec_type> Q> bool insert(const Q& k) { return detail::report_failure(this->add(k)); }
  /// The same, and moves the key into the table, as the verbs of maps do (moved_keys.hpp).
  bool insert(K&& k)
    requires has_object_keys<codec_type>
  {
    return detail::report_failure(add_moved(k));
  }
  template <class Q, std::size_t N>
    requires(N > 1 && std::convertible_to<const Q&, K> && std::convertible_to<const Q&, std::string_view>)
  auto insert(const Q (&&)[N]) = delete; // two texts would be taken for the ends of one: use insert_range(keys)
  /// The same, but returns how it ended, and does not throw for want of space.
  outcome try_insert(const K& k) { return this->add(k); }
  template <lookup_key<codec_type> Q> outcome try_insert(const Q& k) { return this->add(k); }
  outcome try_insert(K&& k)
    requires has_object_keys<codec_type>
  {
    return add_moved(k);
  }

  /// Inserts keys[i] for each i, in this order, as `try_insert` does, while memory is asked ahead (DLHT section 3.3). results[i] says
  /// how that ended; no lack of space throws. The number inserted. Takes as many as there are keys and results. Each insert takes
  /// effect on its own. Keys as in `contains_batch`.
  template <class E = Engine> std::size_t insert_batch(std::span<const K> keys, std::span<outcome> results) {
    return insert_each(keys, results);
  }
  template <lookup_range<codec_type> Keys> std::size_t insert_batch(const Keys& keys, std::span<outcome> results) {
    return insert_each(detail::elements_of<Keys>(keys), results);
  }
  template <no_batch_of_keys<codec_type> Keys, class... A> std::size_t insert_batch(const Keys&, A&&...) {
    return detail::keys_fit<Keys>();
  }
  /// `insert` of each key of a range, in its order, while memory is asked ahead. The number inserted. Throws like `insert`, and
  /// without exceptions ends, at the first key without space; those before it stay. A key is read twice. Memory is not asked ahead
  /// for a range that can be passed only once, nor in record mode for keys that are made when they are read, or must be converted.
  template <class Keys> std::size_t insert_range(Keys&& keys) {
    constexpr bool fits = keys_for<Keys, K, codec_type>;
    static_assert(fits, "insert_range takes a range of keys of this set");
    if constexpr (fits) return insert_keys(keys);
    else return 0;
  }

  /// Sets found[i] if keys[i] is in the set, and returns the number found. It looks up as many keys as the shorter span has. Equal
  /// keys are looked up in their order, other keys in any order. Keys: a contiguous range of K, or of a type with which keys can
  /// be looked up, such as std::string_view.
  template <class E = Engine> std::size_t contains_batch(std::span<const K> keys, std::span<bool> found) const {
    return find_each(keys, found);
  }
  template <lookup_range<codec_type> Keys> std::size_t contains_batch(const Keys& keys, std::span<bool> found) const {
    return find_each(detail::elements_of<Keys>(keys), found);
  }

  template <class Keys, class Found>
    requires(!std::convertible_to<Found&, std::span<bool>> && !no_batch_of_keys<Keys, codec_type>)
  std::size_t contains_batch(const Keys&, Found&&) const {
    return detail::answers_fit<Found>();
  }
  std::size_t contains_batch(std::initializer_list<K> keys, std::span<bool> found) const
    requires takes_lists<K>
  {
    return find_each(elements_of<std::initializer_list<K>>(keys), found);
  }
  template <no_batch_of_keys<codec_type> Keys, class Found> std::size_t contains_batch(const Keys&, Found&&) const {
    return detail::keys_fit<Keys>();
  }
  /// Calls `f(i, bool)` once for each key: whether key i is in the set. Returns the number found. Equal keys come in their order, other
  /// keys in any order. `f` may call the set. Keys as in `contains_batch`.
  template <class F> std::size_t visit_batch(std::span<const K> keys, F&& f) const { return tell_each(keys, f); }
  template <lookup_range<codec_type> Keys, class F> std::size_t visit_batch(const Keys& keys, F&& f) const {
    return tell_each(detail::elements_of<Keys>(keys), f);
  }
  template <class F>
    requires takes_lists<K>
  std::size_t visit_batch(std::initializer_list<K> keys, F&& f) const {
    return tell_each(elements_of<std::initializer_list<K>>(keys), f);
  }
  template <no_batch_of_keys<codec_type> Keys, class F> std::size_t visit_batch(const Keys&, F&&) const {
    return detail::keys_fit<Keys>();
  }

  /// The awaitable of a `contains`: other tasks of the same runner go on meanwhile. Include <cubby/coro.hpp>.
  template <class E = Engine> [[nodiscard]] auto async_contains(const K& k) const { return this->lookup_of(k); }
  template <lookup_key<codec_type> Q> [[nodiscard]] auto async_contains(const Q& k) const { return this->lookup_of(k); }

  /// Inserts the key hidden (DLHT section 3.2.2): no lookup finds it until `commit`, and no other thread can insert it.
  template <class E = Engine> [[nodiscard]] reservation_of<E> shadow_insert(const K& k) { return this->add_hidden(k); }
  template <lookup_key<codec_type> Q, class E = Engine> [[nodiscard]] reservation_of<E> shadow_insert(const Q& k) {
    return this->add_hidden(k);
  }
  template <class E = Engine>
    requires has_object_keys<codec_type>
  [[nodiscard]] reservation_of<E> shadow_insert(K&& k) {
    return this->add_hidden(std::move(k));
  }

private:
  insert_outcome add_moved(K& k) {
    return this->about_new(k, insert_outcome::full,
                           [&](const auto& s, const auto& p) { return detail::insert_moved(s, p, std::move(k)); });
  }
  template <class Q> std::size_t insert_each(std::span<const Q> keys, std::span<outcome> results) {
    static_assert(contract::batched<Engine>, "this engine takes no batches; ask it one by one");
    const auto s = this->here();
    const std::size_t n = keys.size() < results.size() ? keys.size() : results.size();
    std::fill_n(results.begin(), n, outcome::not_executed); // however the call ends
    std::size_t count = 0;
    for (std::size_t begin = 0; begin < n; begin += detail::elements_in_pin) {
      [[maybe_unused]] const auto pin = s.engine.pin(s.at);
      detail::in_order<ahead::of_inserts>(
          s, (std::min)(n - begin, detail::elements_in_pin),
          [&](std::size_t i) { return s.codec().probe_of(keys[begin + i]); },
          [&](std::size_t i, const auto& p) CUBBY_INLINED {
            outcome& result = results[begin + i];
            result = detail::insert_legal(s, p, keys[begin + i]);
            if (result == outcome::done) ++count;
            return true;
          });
    }
    return count;
  }
  template <class Keys> std::size_t insert_keys(Keys& keys) {
    static_assert(contract::batched<Engine>, "this engine takes no batches; ask it one by one");
    const auto s = this->here();
    const auto key_of = [](const auto& key) -> decltype(auto) { return detail::asked_key<codec_type>(key); };
    const auto insert = [](const auto& to, const auto& p, auto&& key) CUBBY_INLINED {
      return detail::insert_legal(to, p,
                                  detail::asked_key<codec_type>(static_cast<detail::readable_as<decltype(key)>>(key)));
    };
    const auto all = detail::insert_elements(s, std::begin(keys), std::end(keys), key_of, insert);
    if (all.end != outcome::done) detail::report(all.end);
    return all.count;
  }
  template <class Q> std::size_t find_each(std::span<const Q> keys, std::span<bool> found) const {
    static_assert(contract::batched<Engine>, "this engine takes no batches; ask it one by one");
    const auto s = this->here();
    [[maybe_unused]] const auto pin = s.engine.pin(s.at);
    const std::size_t n = keys.size() < found.size() ? keys.size() : found.size();
    std::size_t count = 0;
    detail::find_keys(s, keys.first(n), [&count, was = found.data()](std::size_t i, const auto& seen) {
      was[i] = seen.found;
      count += seen.found ? 1 : 0;
    });
    return count;
  }
  template <class Q, class F> std::size_t tell_each(std::span<const Q> keys, F& given) const {
    auto& f = detail::that_looks_at_each<bool>(given);
    static_assert(contract::batched<Engine>, "this engine takes no batches; ask it one by one");
    const auto s = this->here();
    [[maybe_unused]] const auto pin = s.engine.pin(s.at);
    std::size_t count = 0;
    detail::find_keys(s, keys, [&](std::size_t i, const auto& seen) {
      count += seen.found ? 1 : 0;
      f(i, static_cast<bool>(seen.found));
    });
    return count;
  }
};

} // namespace cubby::inline v0::detail
