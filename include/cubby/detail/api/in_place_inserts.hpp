// SPDX-License-Identifier: Apache-2.0
// The verbs of `in_place_map` that insert or assign. Each is written for `const K&`, for what only compares equal to a key, and for a key
// that is handed over (`K&&`): an object is then moved into the map. It stays with the caller if the key is there when the call begins.
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

#include <cubby/detail/api/in_place_entry.hpp>
#include <cubby/detail/api/map_api.hpp>
#include <cubby/detail/api/refused_calls.hpp>

namespace cubby::inline v0::detail {

/// `Derived` has `asked() const`: the map of held values, or a handle of it.
template <class Derived, class Map, class V> class in_place_inserts : public refused_in_place<Derived> {
  static constexpr bool moves = has_object_keys<typename Map::engine_type::policy>;

public:
  using key_type = typename Map::key_type;
  using mapped_type = V;
  using engine_type = typename Map::engine_type;
  using codec_type = typename engine_type::policy;

  /// `modify` if the key is there, else inserts a value constructed from `args`. True: inserted. Throws like `insert`.
  template <class F, class... A>
  bool insert_or_modify(const key_type& k, F&& f, A&&... args) {
    return alter_or_add(k, changes_in_place<V, F>(f), std::forward<A>(args)...);
  }
  template <lookup_key<codec_type> Q, class F, class... A>
  bool insert_or_modify(const Q& k, F&& f, A&&... args) {
    return alter_or_add(k, changes_in_place<V, F>(f), std::forward<A>(args)...);
  }
  template <class F, class... A>
    requires(moves)
  bool insert_or_modify(key_type&& k, F&& f, A&&... args) {
    return alter_or_add(std::move(k), changes_in_place<V, F>(f), std::forward<A>(args)...);
  }

  /// Inserts a value constructed from `args` if the key is absent, then calls `f(V&)` once in either case, in the same hold. True:
  /// inserted. If `f` throws on a new value, the key was never there. Throws like `insert`.
  template <class F, class... A>
  bool emplace_and_modify(const key_type& k, F&& f, A&&... args) {
    return add_and_alter(k, f, std::forward<A>(args)...);
  }
  template <lookup_key<codec_type> Q, class F, class... A>
  bool emplace_and_modify(const Q& k, F&& f, A&&... args) {
    return add_and_alter(k, f, std::forward<A>(args)...);
  }
  template <class F, class... A>
    requires(moves)
  bool emplace_and_modify(key_type&& k, F&& f, A&&... args) {
    return add_and_alter(std::move(k), f, std::forward<A>(args)...);
  }

  /// Inserts if the key is absent. The value is built once, by the thread that inserts, while the entry is held: other calls about
  /// this key wait, and no argument is moved from in vain. If its constructor throws, the key was never there. False if the key was
  /// there. Throws table_full, table_crowded or std::bad_alloc if there is no space; without exceptions it then returns false, and
  /// `try_insert` tells the cases apart.
  template <class U = V>
    requires(std::constructible_from<V, U>)
  bool insert(const key_type& k, U&& v) {
    return report_failure(add(k, std::forward<U>(v)));
  }
  template <lookup_key<codec_type> Q, class U = V>
    requires(std::constructible_from<V, U>)
  bool insert(const Q& k, U&& v) {
    return report_failure(add(k, std::forward<U>(v)));
  }
  template <class U = V>
    requires(moves && std::constructible_from<V, U>)
  bool insert(key_type&& k, U&& v) {
    return report_failure(add(std::move(k), std::forward<U>(v)));
  }
  auto insert(const std::pair<const key_type, V>&) = delete; // use insert(key, value)
  template <std::input_iterator It>
    requires(!std::convertible_to<It, key_type> && !lookup_key<It, codec_type>)
  auto insert(It, It) = delete; // use insert_range(pairs), or try_insert of each
  /// The same, with a value constructed from `args`.
  template <class... A>
    requires(std::constructible_from<V, A...>)
  bool try_emplace(const key_type& k, A&&... args) {
    return report_failure(add(k, std::forward<A>(args)...));
  }
  template <lookup_key<codec_type> Q, class... A>
    requires(std::constructible_from<V, A...>)
  bool try_emplace(const Q& k, A&&... args) {
    return report_failure(add(k, std::forward<A>(args)...));
  }
  template <class... A>
    requires(moves && std::constructible_from<V, A...>)
  bool try_emplace(key_type&& k, A&&... args) {
    return report_failure(add(std::move(k), std::forward<A>(args)...));
  }
  /// The same, but returns how it ended, and does not throw for want of space.
  template <class... A>
    requires(std::constructible_from<V, A...>)
  outcome try_insert(const key_type& k, A&&... args) {
    return add(k, std::forward<A>(args)...);
  }
  template <lookup_key<codec_type> Q, class... A>
    requires(std::constructible_from<V, A...>)
  outcome try_insert(const Q& k, A&&... args) {
    return add(k, std::forward<A>(args)...);
  }
  template <class... A>
    requires(moves && std::constructible_from<V, A...>)
  outcome try_insert(key_type&& k, A&&... args) {
    return add(std::move(k), std::forward<A>(args)...);
  }

  /// Gives the key this value if the key is there, by the assignment of V; false if it is not.
  template <class U = V>
    requires std::is_assignable_v<V&, U>
  bool assign(const key_type& k, U&& v) {
    return alter(k, [&v](V& there) { there = std::forward<U>(v); });
  }
  template <lookup_key<codec_type> Q, class U = V>
    requires std::is_assignable_v<V&, U>
  bool assign(const Q& k, U&& v) {
    return alter(k, [&v](V& there) { there = std::forward<U>(v); });
  }
  /// Gives the key this value, whether the key is there or not. True: inserted. Throws like `insert`.
  template <class U = V>
    requires(std::is_assignable_v<V&, U> && std::constructible_from<V, U>)
  bool insert_or_assign(const key_type& k, U&& v) {
    return alter_or_add(k, [&v](V& there) { there = std::forward<U>(v); }, std::forward<U>(v));
  }
  template <lookup_key<codec_type> Q, class U = V>
    requires(std::is_assignable_v<V&, U> && std::constructible_from<V, U>)
  bool insert_or_assign(const Q& k, U&& v) {
    return alter_or_add(k, [&v](V& there) { there = std::forward<U>(v); }, std::forward<U>(v));
  }
  template <class U = V>
    requires(moves && std::is_assignable_v<V&, U> && std::constructible_from<V, U>)
  bool insert_or_assign(key_type&& k, U&& v) {
    return alter_or_add(std::move(k), [&v](V& there) { there = std::forward<U>(v); }, std::forward<U>(v));
  }

  /// `insert` of each pair of a range, in its order: the number inserted. Copies key and value, or moves them out of a pair that is an
  /// rvalue, as a `std::move_iterator` gives it. Throws like `insert` at the first pair without space; without exceptions it ends there.
  template <class Pairs> std::size_t insert_range(Pairs&& pairs) {
    std::size_t count = 0;
    for (auto&& pair : pairs) {
      using pair_type = decltype(pair);
      const outcome how =
          add(asked_key<codec_type>(std::forward<pair_type>(pair).first), std::forward<pair_type>(pair).second);
      if (report_failure(how)) ++count;
      else if (how != outcome::exists) break;
    }
    return count;
  }

protected:
  in_place_inserts() = default;
  ~in_place_inserts() = default;
  in_place_inserts(const in_place_inserts&) = default;
  in_place_inserts& operator=(const in_place_inserts&) = default;

  template <class Q, class F> bool alter(const Q& k, F&& f) {
    return in_place_access::about(asked(), k, [&f](const auto& s, const auto& p) { return alter_held<V>(s, p, f); });
  }

private:
  static constexpr auto nothing = [](V&) {};
  [[nodiscard]] auto& asked() const { return static_cast<const Derived&>(*this).asked(); }

  template <class Q, class... A> outcome add(Q&& k, A&&... args) {
    return in_place_access::about_new(asked(), k, outcome::full, [&](const auto& s, auto p) {
      held_insert<V, engine_type, Q> inserts(s, p);
      for (;;) {
        const outcome how = inserts.run(std::forward<Q>(k), nothing, std::forward<A>(args)...);
        if (how != outcome::exists || is_held_there<V>(s, p)) return how;
      }
    });
  }
  /// Changes the value by `f` if the key is there, else inserts one and calls `then` about it.
  template <class Q, class F, class G, class... A> bool alter_or_build(Q&& k, F& f, const G& then, A&&... args) {
    constexpr bool makes = std::constructible_from<V, A...>;
    constexpr bool told = std::same_as<F, decltype(unfit<void>)>; // of a function that does not fit
    static_assert(makes || told, "this call takes a key, then a function f(V&), and last what a new value is made of");
    if constexpr (!makes) return false;
    else
      return report_failure(in_place_access::about_new(asked(), k, outcome::full, [&](const auto& s, auto p) {
        held_insert<V, engine_type, Q> inserts(s, p);
        for (;;) {
          if (alter_held<V>(s, p, f)) return outcome::exists;
          const outcome how = inserts.run(std::forward<Q>(k), then, std::forward<A>(args)...);
          if (how != outcome::exists) return how;
        }
      }));
  }
  template <class Q, class F, class... A> bool alter_or_add(Q&& k, F&& f, A&&... args) {
    return alter_or_build(std::forward<Q>(k), f, nothing, std::forward<A>(args)...);
  }
  template <class Q, class F, class... A> bool add_and_alter(Q&& k, F& f, A&&... args) {
    auto& then = changes_in_place<V, F&>(f);
    return alter_or_build(std::forward<Q>(k), then, [&then](V& v) { then(v); }, std::forward<A>(args)...);
  }
};

} // namespace cubby::inline v0::detail
