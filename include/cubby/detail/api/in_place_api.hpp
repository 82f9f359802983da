// SPDX-License-Identifier: Apache-2.0
// The verbs of `in_place_map`, over a map of held values. A function that is shown an entry holds it: readers together, a writer
// alone. Each function runs at most once for an entry. It may call the map about other entries, as code that holds a lock may take
// another one. Two threads that hold one entry each and ask for the other's wait for ever. A call about the entry itself would wait for
// itself; debug builds throw `self_deadlock`.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <cubby/detail/api/in_place_inserts.hpp>

namespace cubby::inline v0::detail {

/// `Derived` has `asked() const`: the map of held values, or a handle of it.
template <class Derived, class Map, class V> class in_place_api : public in_place_inserts<Derived, Map, V> {
  using base = in_place_inserts<Derived, Map, V>;

public:
  using base::find, base::visit; // refused ones
  using typename base::codec_type;
  using typename base::key_type;
  using hasher = typename Map::hasher;
  using allocator_type = typename Map::allocator_type;
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
  template <class F> bool modify(const key_type& k, F&& f) { return this->alter(k, changes_in_place<V, F>(f)); }
  template <lookup_key<codec_type> Q, class F> bool modify(const Q& k, F&& f) {
    return this->alter(k, changes_in_place<V, F>(f));
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
  template <class F>
    requires takes_lists<key_type>
  std::size_t visit_batch(std::initializer_list<key_type> keys, F&& f) const {
    return show_each(elements_of<std::initializer_list<key_type>>(keys), f);
  }
  template <no_batch_of_keys<codec_type> Keys, class F> std::size_t visit_batch(const Keys&, F&&) const {
    return keys_fit<Keys>();
  }
  /// The same, with `f(i, V*)`, which may change the value. Each entry is held for its own call of `f` alone.
  template <class F> std::size_t modify_batch(std::span<const key_type> keys, F&& f) { return alter_each(keys, f); }
  template <lookup_range<codec_type> Keys, class F> std::size_t modify_batch(const Keys& keys, F&& f) {
    return alter_each(elements_of<Keys>(keys), f);
  }
  template <class F>
    requires takes_lists<key_type>
  std::size_t modify_batch(std::initializer_list<key_type> keys, F&& f) {
    return alter_each(elements_of<std::initializer_list<key_type>>(keys), f);
  }
  template <no_batch_of_keys<codec_type> Keys, class F> std::size_t modify_batch(const Keys&, F&&) {
    return keys_fit<Keys>();
  }

  /// Calls `f(const K&, const V&)` for each entry. O(capacity). Weak, as `visit_all` of cubby::map. Holds one entry at a time.
  template <class F> void visit_all(F f) const { asked().visit_all(shown_to(f)); }
  /// The same in several threads, for engines that split a scan: `visit_all` of cubby::map.
  template <class By, class F> void visit_all(const By& by, F f) const { asked().visit_all(by, shown_to(f)); }
  /// Calls `f` as `visit_all(f)` does, until it returns false: whether it never did.
  template <class F> bool visit_while(F f) const { return asked().visit_while(shown_until(f)); }
  template <class By, class F> bool visit_while(const By& by, F f) const {
    return asked().visit_while(by, shown_until(f));
  }
  /// `visit_all` with `f(const K&, V&)`, which may change the value. `f` may run twice for an entry where `visit_all` shows one twice.
  template <class F> void modify_all(F f) { asked().visit_all(given_to(f)); }
  template <class By, class F> void modify_all(const By& by, F f) { asked().visit_all(by, given_to(f)); }
  /// Erases each entry that `modify_all` would show and for which `p(const K&, V&)` holds, and returns their number. O(capacity).
  template <class P> std::size_t erase_if(P p) {
    std::size_t count = 0;
    in_place_access::about_all(asked(), [&](const auto& s, std::uint64_t key, std::uint64_t value) {
      if (erase_shown(s, p, key, value)) ++count;
    });
    return count;
  }
  /// The same in several threads, as `visit_all(by, f)` of cubby::map. They call `p` at the same time, about different entries.
  template <workers By, class P> std::size_t erase_if(const By& by, P p) {
    sync::word<std::uint64_t> count;
    in_place_access::about_all(asked(), by, [&](const auto& s, std::uint64_t key, std::uint64_t value) {
      if (erase_shown(s, p, key, value)) count.fetch_add(1, sync::relaxed); // relaxed: read after their end
      return true;
    });
    return count.load(sync::relaxed); // relaxed: as above
  }
  /// Erases each entry that is present throughout. Keeps the space. O(capacity).
  void clear() {
    erase_if([](const key_type&, const V&) { return true; });
  }
  /// `clear`, then `shrink_to_fit`, whose answer it returns.
  bool clear_and_release() {
    clear();
    return shrink_to_fit();
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
      return source.erase_if([this](const key_type& k, V& v) { return this->insert(k, std::move(v)); });
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
  static_assert(codec_type::in_records, "this engine does not keep entries in records, so no value stays where it is: "
                                        "take cubby::dlht or cubby::iceberg");

  [[nodiscard]] auto& asked() const { return static_cast<const Derived&>(*this).asked(); }
  /// The same for a map and its handles.
  [[nodiscard]] const void* identity() const { return in_place_access::identity_of(asked()); }
  static constexpr auto always = [](V&) { return true; };

  template <class Q, class F> decltype(auto) about(const Q& k, F f) const {
    return in_place_access::about(asked(), k, f);
  }
  template <class Q, class F> std::size_t look(const Q& k, F& given) const {
    auto& f = that_looks<V>(given);
    return about(k, [&f](const auto& s, const auto& p) { return look_at_held<V>(s, p, f); }) ? 1 : 0;
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
  template <class P> static bool erase_shown(const auto& s, P& p, std::uint64_t key, std::uint64_t value) {
    const key_type& k = s.codec().key(key, value);
    const auto leaves = [&](V& v) { return static_cast<bool>(that_selects<key_type, V, true>(p)(k, v)); };
    return erase_held<V>(s, s.codec().probe_of_slot(key, value), value, leaves);
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
    return about(k, [](const auto& s, const auto& p) { return is_held_there<V>(s, p); });
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
          f(i, static_cast<Pointer>(e->address()));
          return;
        }
      }
      f(i, static_cast<Pointer>(nullptr));
    });
    return count;
  }
};

} // namespace cubby::inline v0::detail
