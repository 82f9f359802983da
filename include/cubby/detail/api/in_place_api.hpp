// SPDX-License-Identifier: Apache-2.0
// The verbs of `in_place_map`, over a map of held values. A function that is shown an entry holds it: readers together, a writer
// alone. Each function runs at most once for an entry. It may call the map about other entries, as code that holds a lock may take
// another one. Two threads that hold one entry each and ask for the other's wait for ever. A call about the entry itself would wait for
// itself; debug builds throw `self_deadlock`.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <cubby/detail/api/in_place_entry.hpp>
#include <cubby/detail/api/map_api.hpp>
#include <cubby/detail/api/refused_calls.hpp>

namespace cubby::inline v0::detail {

/// `Derived` has `asked() const`: the map of held values, or a handle of it.
template <class Derived, class Map, class V> class in_place_api : public refused_in_place<Derived> {
public:
  using key_type = typename Map::key_type;
  using mapped_type = V;
  using hasher = typename Map::hasher;
  using allocator_type = typename Map::allocator_type;
  using engine_type = typename Map::engine_type;
  using codec_type = typename engine_type::policy;
  /// What the engine can do, without what only entries that nobody holds allow.
  static constexpr capability_set capabilities = [] {
    capability_set of_map = Map::capabilities;
    of_map.lock_free_find = of_map.lock_free_insert = false;
    of_map.snapshot = of_map.shadow_insert = of_map.pipelined = of_map.prefetch = false;
    of_map.exclusive_modify = true;
    return of_map;
  }();

  /// A copy of the value, or nothing if the key is absent. Blocks while another thread changes the entry; so does `visit`.
  [[nodiscard]] std::optional<V> find(const key_type& k) const { return copy_of(k); }
  template <lookup_key<codec_type> Q> [[nodiscard]] std::optional<V> find(const Q& k) const { return copy_of(k); }
  /// Whether the key is in the map. Blocks only while another thread builds the value of a new entry.
  [[nodiscard]] bool contains(const key_type& k) const { return has(k); }
  template <lookup_key<codec_type> Q> [[nodiscard]] bool contains(const Q& k) const { return has(k); }
  /// Calls `f(const V&)` if the key is there, and returns 1; else returns 0. Other readers go on; changes of the entry wait for `f`.
  template <class F> std::size_t visit(const key_type& k, F&& f) const { return look(k, f); }
  template <lookup_key<codec_type> Q, class F> std::size_t visit(const Q& k, F&& f) const { return look(k, f); }

  /// Calls `f(V&)` once if the key is there, on the value itself, while no other thread reads or changes it; false if the key is
  /// absent. Blocks while others read or change the entry. Operations on other entries go on. An exception of `f` passes through,
  /// and what `f` has done to the value stays.
  template <class F> bool modify(const key_type& k, F&& f) { return alter(k, changes<F>(f)); }
  template <lookup_key<codec_type> Q, class F> bool modify(const Q& k, F&& f) { return alter(k, changes<F>(f)); }
  /// `modify` if the key is there, else inserts a value constructed from `args`. True: inserted. Throws like `insert`.
  template <class F, class... A> bool insert_or_modify(const key_type& k, F&& f, A&&... args) {
    return alter_or_add(k, changes<F>(f), std::forward<A>(args)...);
  }
  template <lookup_key<codec_type> Q, class F, class... A> bool insert_or_modify(const Q& k, F&& f, A&&... args) {
    return alter_or_add(k, changes<F>(f), std::forward<A>(args)...);
  }

  /// Inserts a value constructed from `args` if the key is absent, then calls `f(V&)` once in either case, in the same hold. True:
  /// inserted. If `f` throws on a new value, the key was never there. Throws like `insert`.
  template <class F, class... A> bool emplace_and_modify(const key_type& k, F&& f, A&&... args) {
    return add_and_alter(k, f, std::forward<A>(args)...);
  }
  template <lookup_key<codec_type> Q, class F, class... A> bool emplace_and_modify(const Q& k, F&& f, A&&... args) {
    return add_and_alter(k, f, std::forward<A>(args)...);
  }

  /// Inserts if the key is absent. The value is built once, by the thread that inserts, while the entry is held: other calls about
  /// this key wait, and no argument is moved from in vain. If its constructor throws, the key was never there. False if the key was
  /// there. Throws table_full, table_crowded or std::bad_alloc if there is no space; without exceptions it then returns false, and
  /// `try_insert` tells the cases apart.
  template <class U = V>
    requires std::constructible_from<V, U>
  bool insert(const key_type& k, U&& v) {
    return report_failure(add(k, std::forward<U>(v)));
  }
  template <lookup_key<codec_type> Q, class U = V>
    requires std::constructible_from<V, U>
  bool insert(const Q& k, U&& v) {
    return report_failure(add(k, std::forward<U>(v)));
  }
  auto insert(const std::pair<const key_type, V>&) = delete; // use insert(key, value)
  template <std::input_iterator It>
    requires(!std::convertible_to<It, key_type> && !lookup_key<It, codec_type>)
  auto insert(It, It) = delete; // use insert_range(pairs), or try_insert of each
  /// The same, with a value constructed from `args`.
  template <class... A>
    requires std::constructible_from<V, A...>
  bool try_emplace(const key_type& k, A&&... args) {
    return report_failure(add(k, std::forward<A>(args)...));
  }
  template <lookup_key<codec_type> Q, class... A>
    requires std::constructible_from<V, A...>
  bool try_emplace(const Q& k, A&&... args) {
    return report_failure(add(k, std::forward<A>(args)...));
  }
  /// The same, but returns how it ended, and does not throw for want of space.
  template <class... A>
    requires std::constructible_from<V, A...>
  outcome try_insert(const key_type& k, A&&... args) {
    return add(k, std::forward<A>(args)...);
  }
  template <lookup_key<codec_type> Q, class... A>
    requires std::constructible_from<V, A...>
  outcome try_insert(const Q& k, A&&... args) {
    return add(k, std::forward<A>(args)...);
  }

  /// Gives the key this value if the key is there, by the assignment of V; false if it is not.
  template <class U = V>
    requires std::assignable_from<V&, U>
  bool assign(const key_type& k, U&& v) {
    return alter(k, [&v](V& there) { there = std::forward<U>(v); });
  }
  template <lookup_key<codec_type> Q, class U = V>
    requires std::assignable_from<V&, U>
  bool assign(const Q& k, U&& v) {
    return alter(k, [&v](V& there) { there = std::forward<U>(v); });
  }
  /// Gives the key this value, whether the key is there or not. True: inserted. Throws like `insert`.
  template <class U = V>
    requires(std::assignable_from<V&, U> && std::constructible_from<V, U>)
  bool insert_or_assign(const key_type& k, U&& v) {
    return alter_or_add(k, [&v](V& there) { there = std::forward<U>(v); }, std::forward<U>(v));
  }
  template <lookup_key<codec_type> Q, class U = V>
    requires(std::assignable_from<V&, U> && std::constructible_from<V, U>)
  bool insert_or_assign(const Q& k, U&& v) {
    return alter_or_add(k, [&v](V& there) { there = std::forward<U>(v); }, std::forward<U>(v));
  }

  /// Removes the key; true if it was there. Blocks while others read or change the entry; so do the calls below.
  bool erase(const key_type& k) { return take_out(k, always); }
  template <lookup_key<codec_type> Q> bool erase(const Q& k) { return take_out(k, always); }
  /// Calls `p(V&)` once if the key is there, and erases the entry if it holds; true if it did. `p` may change the value.
  template <class P> bool erase_if(const key_type& k, P&& p) { return take_out(k, that_decides<V>(p)); }
  template <lookup_key<codec_type> Q, class P> bool erase_if(const Q& k, P&& p) {
    return take_out(k, that_decides<V>(p));
  }
  /// Erases the entry and returns the value that left, which is moved, or nothing if the key was absent.
  std::optional<V> extract(const key_type& k) { return pull(k); }
  template <lookup_key<codec_type> Q> std::optional<V> extract(const Q& k) { return pull(k); }

  /// Calls `f(i, const V*)` once for each key, with null if key i is absent, and returns the number found. Memory is asked ahead. Keys: a
  /// contiguous range of keys, or of a type with which keys can be looked up. A repeated key is shown as often as it is there.
  template <class F> std::size_t visit_batch(std::span<const key_type> keys, F&& f) const { return show_each(keys, f); }
  template <lookup_range<codec_type> Keys, class F> std::size_t visit_batch(const Keys& keys, F&& f) const {
    return show_each(elements_of<Keys>(keys), f);
  }
  /// The same, with `f(i, V*)`, which may change the value. Each entry is held for its own call of `f` alone.
  template <class F> std::size_t modify_batch(std::span<const key_type> keys, F&& f) { return alter_each(keys, f); }
  template <lookup_range<codec_type> Keys, class F> std::size_t modify_batch(const Keys& keys, F&& f) {
    return alter_each(elements_of<Keys>(keys), f);
  }

  /// Calls `f(const K&, const V&)` for each entry. O(capacity). Weak, as `visit_all` of cubby::map. Holds one entry at a time.
  template <class F> void visit_all(F f) const { asked().visit_all(shown_to(f)); }
  /// The same in several threads, for engines that split a scan: `visit_all` of cubby::map.
  template <class F> void visit_all(threads by, F f) const { asked().visit_all(by, shown_to(f)); }
  /// Calls `f` as `visit_all(f)` does, until it returns false: whether it never did.
  template <class F> bool visit_while(F f) const { return asked().visit_while(shown_until(f)); }
  /// `visit_all` with `f(const K&, V&)`, which may change the value. `f` may run twice for an entry where `visit_all` shows one twice.
  template <class F> void modify_all(F f) { asked().visit_all(given_to(f)); }
  template <class F> void modify_all(threads by, F f) { asked().visit_all(by, given_to(f)); }
  /// Erases each entry that `modify_all` would show and for which `p(const K&, V&)` holds, and returns their number. O(capacity).
  template <class P> std::size_t erase_if(P p) {
    std::size_t count = 0;
    in_place_access::about_all(asked(), [&](const auto& s, std::uint64_t key, std::uint64_t value) {
      const key_type& k = s.codec().key(key, value);
      const auto leaves = [&](V& v) { return static_cast<bool>(that_selects<key_type, V, true>(p)(k, v)); };
      if (erase_held<V>(s, s.codec().probe_of_slot(key, value), value, leaves)) ++count;
    });
    return count;
  }
  /// Erases each entry that is present throughout. Keeps the space. O(capacity).
  void clear() {
    erase_if([](const key_type&, const V&) { return true; });
  }

  /// `insert` of each pair of a range, in its order: the number inserted. Copies `second`, or moves it out of a pair that is an rvalue, as
  /// a `std::move_iterator` gives it. Throws like `insert` at the first pair without space; without exceptions it ends there.
  template <class Pairs> std::size_t insert_range(Pairs&& pairs) {
    std::size_t count = 0;
    for (auto&& pair : pairs) {
      using pair_type = decltype(pair);
      const outcome how = add(asked_key<codec_type>(pair.first), std::forward<pair_type>(pair).second);
      if (report_failure(how)) ++count;
      else if (how != outcome::exists) break;
    }
    return count;
  }
  /// Moves each entry of `source`, another `in_place_map` of these keys and values or a handle of one, whose key is absent here. The
  /// number moved. An entry is in `source`, then in both, then here, and nobody reads it in `source` while its value is moved. Throws
  /// like `insert`; what was moved before stays moved. O(capacity of `source`). Two threads that merge two maps into each other may
  /// wait for ever.
  template <class Source> std::size_t merge(Source&& source) {
    using from = std::remove_reference_t<Source>;
    constexpr bool fits = !std::is_const_v<from> && requires {
      source.identity();
      requires std::is_same_v<typename from::key_type, key_type> && std::is_same_v<typename from::mapped_type, V>;
    };
    static_assert(fits, "merge takes an in_place_map of the same keys and the same values, not const");
    if constexpr (fits) {
      if (source.identity() == identity()) return 0;
      (void)reserve(size() + source.size());
      return source.erase_if([this](const key_type& k, V& v) { return insert(k, std::move(v)); });
    } else {
      return 0;
    }
  }
  /// A container of copies of all entries: `m.to<std::unordered_map<K, V>>()`. O(capacity). It has what `visit_all` meets.
  template <class Container> [[nodiscard]] Container to() const { return copied_to<Container, key_type, V>(*this); }

  /// The number of entries, those included whose value is being built. Exact while no thread writes.
  [[nodiscard]] std::size_t size() const { return asked().size(); }
  [[nodiscard]] bool empty() const { return asked().empty(); }
  [[nodiscard]] std::size_t capacity() const { return asked().capacity(); }
  [[nodiscard]] auto stats() const { return asked().stats(); }
  /// As in cubby::map.
  bool reserve(std::size_t entries) { return asked().reserve(entries); }
  bool shrink_to_fit() { return asked().shrink_to_fit(); }
  [[nodiscard]] hasher hash_function() const { return asked().hash_function(); }
  [[nodiscard]] allocator_type get_allocator() const { return asked().get_allocator(); }

protected:
  in_place_api() = default;
  ~in_place_api() = default;
  in_place_api(const in_place_api&) = default;
  in_place_api& operator=(const in_place_api&) = default;

private:
  template <class, class, class> friend class in_place_api;
  using entry = held_value<V>;
  static_assert(codec_type::in_records, "this engine does not keep entries in records, so no value stays where it is");

  [[nodiscard]] auto& asked() const { return static_cast<const Derived&>(*this).asked(); }
  /// The same for a map and its handles.
  [[nodiscard]] const void* identity() const { return in_place_access::identity_of(asked()); }
  static constexpr auto always = [](V&) { return true; };

  template <class Q, class F> decltype(auto) about(const Q& k, F f) const {
    return in_place_access::about(asked(), k, f);
  }
  /// Calls `f(entry)`, which answers whether the entry is alive. A dead one has left the table since the lookup began, and its key was
  /// absent at that moment. So the answer is "absent" then, without another lookup.
  template <class F> static bool hold(const auto& s, const auto& p, F f) {
    const auto seen = s.engine.find(s.at, p);
    return seen.found && f(s.codec().value(seen.word));
  }
  template <class F> static bool look_at(const auto& s, const auto& p, F& f) {
    return hold(s, p, [&f](const entry& e) {
      const shared_hold<V> mine(e);
      if (mine) f(std::as_const(e.value())); // linearization: any moment of the hold
      return static_cast<bool>(mine);
    });
  }
  template <class F> static bool alter_at(const auto& s, const auto& p, F& f) {
    return hold(s, p, [&f](const entry& e) {
      const lone_hold<V> mine(e);
      if (mine) f(e.value()); // linearization: the end of the hold
      return static_cast<bool>(mine);
    });
  }
  static bool is_there(const auto& s, const auto& p) {
    return hold(s, p, [](const entry& e) {
      if (e.lock().is_built()) return e.lock().wait_until_built();
      const noted_hold<> noted(&e); // this thread may be the one that builds it
      return e.lock().wait_until_built();
    });
  }
  template <class Q, class F> std::size_t look(const Q& k, F& given) const {
    auto& f = that_looks<V>(given);
    return about(k, [&f](const auto& s, const auto& p) { return look_at(s, p, f); }) ? 1 : 0;
  }
  template <class Q, class F> bool alter(const Q& k, F&& f) {
    return about(k, [&f](const auto& s, const auto& p) { return alter_at(s, p, f); });
  }
  /// What a scan calls.
  template <class F> static auto shown_to(F& given) {
    auto& f = that_scans<key_type, const V, true>(given);
    return [&f](const key_type& k, const entry& e) {
      if (const shared_hold<V> mine(e); mine) f(k, std::as_const(e.value()));
    };
  }
  template <class F> static auto shown_until(F& given) {
    auto& f = that_selects<key_type, const V, true>(given);
    return [&f](const key_type& k, const entry& e) -> bool {
      const shared_hold<V> mine(e);
      return !mine || f(k, std::as_const(e.value()));
    };
  }
  template <class F> static auto given_to(F& given) {
    auto& f = that_scans<key_type, V, true>(given);
    return [&f](const key_type& k, const entry& e) {
      if (const lone_hold<V> mine(e); mine) f(k, e.value());
    };
  }
  /// A function that changes a value; its result would be lost.
  template <class F> static auto& changes(std::remove_reference_t<F>& given) {
    auto& f = that_changes<V>(given);
    static_assert(std::is_void_v<decltype(f(std::declval<V&>()))>,
                  "the function changes the value where it is, V& in and nothing out: what it returns would be lost");
    return f;
  }
  template <class Q> std::optional<V> copy_of(const Q& k) const {
    constexpr bool copied = std::copy_constructible<V>;
    static_assert(copied, "find copies the value, and this type cannot be copied: use visit");
    if constexpr (!copied) {
      return std::nullopt;
    } else {
      std::optional<V> copy;
      const auto take = [&copy](const V& value) { copy.emplace(value); };
      look(k, take);
      return copy;
    }
  }
  template <class Q> bool has(const Q& k) const {
    return about(k, [](const auto& s, const auto& p) { return is_there(s, p); });
  }
  template <class Q, class P> bool take_out(const Q& k, P&& leaves) {
    return about(k, [&leaves](const auto& s, const auto& p) {
      const auto seen = s.engine.find(s.at, p);
      return seen.found && erase_held<V>(s, s.codec().aimed_at(p, seen.word), seen.word, leaves);
    });
  }
  template <class Q> std::optional<V> pull(const Q& k) {
    constexpr bool moved = std::move_constructible<V>;
    static_assert(moved, "extract moves the value out, and this type cannot be moved: use erase_if, which shows it");
    if constexpr (!moved) {
      return std::nullopt;
    } else {
      std::optional<V> out;
      take_out(k, [&out](V& value) {
        out.emplace(std::move(value));
        return true;
      });
      return out;
    }
  }

  static constexpr auto nothing = [](V&) {};
  template <class Q, class... A> outcome add(const Q& k, A&&... args) {
    return in_place_access::about_new(asked(), k, outcome::full, [&](const auto& s, const auto& p) {
      for (;;) {
        const outcome how = insert_held<V>(s, p, k, nothing, std::forward<A>(args)...);
        if (how != outcome::exists || is_there(s, p)) return how;
      }
    });
  }
  /// Changes the value by `f` if the key is there, else inserts one and calls `then` about it.
  template <class Q, class F, class G, class... A>
  bool alter_or_build(const Q& k, F& f, const G& then, A&&... args) {
    constexpr bool makes = std::constructible_from<V, A...>;
    constexpr bool told = std::same_as<F, decltype(unfit<void>)>; // of a function that does not fit
    static_assert(makes || told, "this call takes a key, then a function f(V&), and last what a new value is made of");
    if constexpr (!makes) return false;
    else
      return report_failure(in_place_access::about_new(asked(), k, outcome::full, [&](const auto& s, const auto& p) {
        for (;;) {
          if (alter_at(s, p, f)) return outcome::exists;
          const outcome how = insert_held<V>(s, p, k, then, std::forward<A>(args)...);
          if (how != outcome::exists) return how;
        }
      }));
  }
  template <class Q, class F, class... A> bool alter_or_add(const Q& k, F&& f, A&&... args) {
    return alter_or_build(k, f, nothing, std::forward<A>(args)...);
  }
  template <class Q, class F, class... A> bool add_and_alter(const Q& k, F& f, A&&... args) {
    auto& then = changes<F&>(f);
    return alter_or_build(k, then, [&then](V& v) { then(v); }, std::forward<A>(args)...);
  }

  template <class Q, class F> std::size_t show_each(std::span<const Q> keys, F& f) const {
    return each<const V*, shared_hold<V>>(keys, f);
  }
  template <class Q, class F> std::size_t alter_each(std::span<const Q> keys, F& f) {
    return each<V*, lone_hold<V>>(keys, f);
  }
  template <class Pointer, class Hold, class Q, class F> std::size_t each(std::span<const Q> keys, F& given) const {
    auto& f = that_looks_at_each<Pointer>(given);
    std::size_t count = 0;
    asked().visit_batch(keys, [&](std::size_t i, const entry* e) {
      if (e != nullptr) {
        if (const Hold mine(*e); mine) {
          ++count;
          f(i, static_cast<Pointer>(e->place()));
          return;
        }
      }
      f(i, static_cast<Pointer>(nullptr));
    });
    return count;
  }
};

} // namespace cubby::inline v0::detail
