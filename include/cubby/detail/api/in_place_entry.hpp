// SPDX-License-Identifier: Apache-2.0
// How `in_place_map` uses the table below it. Each call is one pin, which lasts until the user's functions and constructors have returned.
// An entry leaves the table by the key of its own record: the caller's key may have changed, or be gone, when his function has run.
#pragma once

#include <cstdint>
#include <optional>
#include <scoped_allocator> // std::allocator_traits at a third of the price of <memory>
#include <type_traits>
#include <utility>

#include <cubby/detail/api/callbacks.hpp>
#include <cubby/detail/api/held_value.hpp>
#include <cubby/detail/api/shared_scan.hpp>
#include <cubby/detail/api/upserts.hpp>

namespace cubby::inline v0::detail {

struct in_place_access {
  /// Calls `f(context, probe)` in a pin.
  template <class Table, class Q, class F> static decltype(auto) about(const Table& in, const Q& k, F&& f) {
    return in.about(k, std::forward<F>(f));
  }
  /// The same for a call that may insert. Answers `otherwise` for a key that no table may hold.
  template <class Table, class Q, class R, class F> static R about_new(const Table& in, const Q& k, R otherwise,
                                                                       F&& f) {
    return in.about_new(k, otherwise, std::forward<F>(f));
  }
  /// The same for a map and its handles.
  template <class Table> [[nodiscard]] static const void* identity_of(const Table& in) { return &in.here().engine; }
  /// Calls `f(context, key word, value word)` for each entry, in a pin.
  template <class Table, class F> static void about_all(const Table& in, F&& f) {
    const auto s = in.here();
    [[maybe_unused]] const auto pin = s.engine.pin(s.at);
    const auto whole = [&s](auto& shown) { s.engine.for_each(s.at, shown); };
    scan_ahead(s.codec(), whole, [&](std::uint64_t key, std::uint64_t value) { f(s, key, value); });
  }
  template <class Table, class By, class F> static void about_all(const Table& in, const By& by, F f) {
    if constexpr (splits<typename Table::engine_type, By>()) scan_together(in.here(), by, f);
  }
};

/// Takes an entry out of the table. The calling thread holds it alone, so nobody else takes it out. `p` refers to its record. False only
/// if the hash or the equality of the keys has changed its answer.
template <class Engine>
[[nodiscard]] bool unlink(const context<Engine>& s, const typename Engine::probe& p, std::uint64_t word) noexcept {
  const auto m = s.engine.mutate(s.at, p, [word](std::uint64_t now) { // linearization of the erase
    return decision_of<Engine>{now == word ? action::erase : action::keep};
  });
  return m.found && m.done == action::erase;
}

/// Calls `leaves(V&)` once, unless the entry is dead, and erases the entry if it holds. The record is retired after the hold: that may
/// destroy other values, whose destructors may ask for this key. `p` refers to the record.
template <class V, class Engine, class P>
bool erase_held(const context<Engine>& s, const typename Engine::probe& p, std::uint64_t word, P& leaves) {
  const held_value<V>& e = s.codec().value(word);
  {
    lone_hold<V> mine(e);
    if (!mine || !leaves(e.value())) return false;
    if (!unlink(s, p, word)) return false;
    mine.end_dead();
  }
  s.engine.retire(s.at, word);
  return true;
}

/// An entry that this thread has inserted, and whose value it builds. Unless that ends well, the entry leaves the table. `p` refers to the
/// record.
template <class V, class Engine> class building {
  using traits = typename std::allocator_traits<typename Engine::policy::allocator_type>::template rebind_traits<V>;

public:
  building(const context<Engine>& s, const typename Engine::probe& p, std::uint64_t word)
      : left_{s, word}, p_(p), noted_(&held()) {}
  ~building() {
    if (built_) return;
    left_.is_out = unlink(left_.s, p_, left_.word);
    held().lock().unlock_dead();
  }
  building(const building&) = delete;
  building& operator=(const building&) = delete;
  /// Constructs the value, and calls `then(V&)`.
  template <class F, class... A> void build(const F& then, A&&... args) {
    auto own =
        typename traits::allocator_type(left_.s.codec().allocator()); // it may hand itself to the value, as in a record
    traits::construct(own, held().address(), std::forward<A>(args)...);
    left_.value = held().address();
    then(*left_.value);
    left_.value = nullptr;
    built_ = true;
    held().lock().unlock_built(); // linearization of the insert
  }

private:
  /// Destroys a value whose change has thrown, and retires the record that has left the table. The first member: after the hold, because
  /// a destructor may ask for this key.
  struct left {
    context<Engine> s;
    std::uint64_t word;
    bool is_out = false;
    V* value = nullptr;
    ~left() {
      if (value != nullptr) std::destroy_at(value);
      if (is_out) s.engine.retire(s.at, word);
    }
  };
  [[nodiscard]] const held_value<V>& held() const noexcept { return left_.s.codec().value(left_.word); }

  left left_;
  typename Engine::probe p_;
  [[no_unique_address]] noted_hold<> noted_;
  bool built_ = false;
};

/// The inserts of one call. They share one record, into which a key that is handed over (`K&&`) has moved; `p` then refers to it.
template <class V, class Engine, class Q> class held_insert {
public:
  held_insert(const context<Engine>& s, typename Engine::probe& p) : s_(s), p_(p) {}
  /// Inserts if the key is absent, then builds the value and calls `then(V&)`. `exists` if the key was there at some moment, maybe
  /// without a value yet. Moves from `args` only if it has inserted.
  template <class F, class... A> insert_outcome run(Q&& key, const F& then, A&&... args) {
    if (s_.engine.find(s_.at, p_).found) return insert_outcome::exists;
    if (!next_) {
      next_.emplace(s_, p_, std::forward<Q>(key), typename held_value<V>::claim{});
      p_ = probe_behind<Q>(s_, p_, *next_);
    }
    if (!next_->ok()) return insert_outcome::no_memory;
    const std::uint64_t word = next_->word();
    const insert_outcome how = next_->insert(p_);
    if (how == insert_outcome::inserted)
      building<V, Engine>(s_, s_.codec().aimed_at(p_, word), word).build(then, std::forward<A>(args)...);
    return how;
  }

private:
  context<Engine> s_;
  typename Engine::probe& p_;
  std::optional<fresh_word<Engine>> next_;
};

/// Calls `f(entry)`, which answers whether the entry is alive. A dead one has left the table since the lookup began, and its key was
/// absent at that moment. So the answer is "absent" then, without another lookup.
template <class Engine, class F> bool hold(const context<Engine>& s, const auto& p, F f) {
  const auto seen = s.engine.find(s.at, p);
  return seen.found && f(s.codec().value(seen.word));
}
template <class V, class F> bool look_at_held(const auto& s, const auto& p, F& f) {
  return hold(s, p, [&f](const held_value<V>& e) {
    const shared_hold<V> mine(e);
    if (mine) f(std::as_const(e.value())); // linearization: any moment of the hold
    return static_cast<bool>(mine);
  });
}
template <class V, class F> bool alter_held(const auto& s, const auto& p, F& f) {
  return hold(s, p, [&f](const held_value<V>& e) {
    const lone_hold<V> mine(e);
    if (mine) f(e.value()); // linearization: the end of the hold
    return static_cast<bool>(mine);
  });
}
template <class V> bool is_held_there(const auto& s, const auto& p) {
  return hold(s, p, [](const held_value<V>& e) {
    if (e.lock().is_built()) return e.lock().wait_until_built();
    const noted_hold<> noted(&e); // this thread may be the one that builds it
    return e.lock().wait_until_built();
  });
}

/// A function that changes a value; its result would be lost.
template <class V, class F> auto& changes_in_place(std::remove_reference_t<F>& given) {
  auto& f = that_changes<V>(given);
  static_assert(std::is_void_v<decltype(f(std::declval<V&>()))>,
                "the function changes the value where it is, V& in and nothing out: what it returns would be lost");
  return f;
}

} // namespace cubby::inline v0::detail
