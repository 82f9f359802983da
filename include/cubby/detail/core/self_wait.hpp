// SPDX-License-Identifier: Apache-2.0
// Debug builds (`fail::checks`) refuse calls that would wait for themselves. Such a call changes the entry that an outer call is
// showing to its function, or waits for a reservation that the same thread holds. Other builds pay nothing.
#pragma once

#include <cstdint>
#include <new>

#include <cubby/detail/core/contract/engine.hpp>
#include <cubby/detail/core/lock.hpp>
#include <cubby/detail/platform/fail.hpp>

namespace cubby::inline v0::detail {

/// An entry that a call of this thread is showing to a user's function, and the entry of the next outer call.
struct shown_node {
  const void* engine;
  const void* probe;
  std::uint64_t word; // of a record; otherwise unused
  bool exclusive;     // no other thread may erase it meanwhile
  const shown_node* outer;
};
inline const shown_node*& innermost_shown() noexcept {
  static constinit thread_local const shown_node* node = nullptr;
  return node;
}

/// While it lives, this thread runs the function that is shown this entry.
template <class Engine, bool Checks = fail::checks> class shown_entry {
public:
  shown_entry(const Engine& e, const typename Engine::probe& p, const auto& word, bool exclusive = false) noexcept
      : node_{&e, &p, 0, exclusive, innermost_shown()} {
    if constexpr (Engine::policy::in_records) node_.word = word;
    innermost_shown() = &node_;
  }
  ~shown_entry() { innermost_shown() = node_.outer; }
  shown_entry(const shown_entry&) = delete;
  shown_entry& operator=(const shown_entry&) = delete;

private:
  shown_node node_;
};
template <class Engine> class shown_entry<Engine, false> {
public:
  shown_entry(const Engine&, const typename Engine::probe&, const auto&, bool = false) noexcept {}
};

/// Whether `p`, a probe or a query, is the key of `other`, whose record is `word`.
template <class Engine, class Asked>
bool is_same_key(const Engine& e, const Asked& p, const typename Engine::probe& other, std::uint64_t word) noexcept {
  if (p.hash != other.hash) return false;
  if constexpr (key_owning_policy<typename Engine::policy>) {
    using policy = typename Engine::policy;
    return policy::has_words(p, other.key) && (!policy::needs_record(p) || is_same_text(other.data, p.data, p.size));
  } else if constexpr (requires { p.word; }) {
    return p.word == other.word && e.slots().matches(p, word);
  } else {
    return p.key == other.key;
  }
}

/// Called before a change. Throws if an outer call shows this entry to its function. An erase ends that outer call, so it is refused
/// only if the outer call holds the entry exclusively.
template <class Engine, class Asked>
void refuse_shown([[maybe_unused]] const Engine& e, [[maybe_unused]] const Asked& p,
                  [[maybe_unused]] bool erases = false) {
  if constexpr (fail::checks) {
    for (const shown_node* n = innermost_shown(); n != nullptr; n = n->outer) {
      if (n->engine != &e || (erases && !n->exclusive)) continue;
      if (is_same_key(e, p, *static_cast<const typename Engine::probe*>(n->probe), n->word))
        fail::with_self_deadlock(
            "cubby: a function changes the very entry that it is shown, and would wait for itself: return the "
            "change to the call that shows the entry, or make it when that call has returned");
    }
  }
}

/// An open reservation that was not moved, with the thread that made it.
struct held_reservation {
  const void* engine;
  std::uint64_t key_word;
  std::uint64_t word;
  std::uint64_t thread;
  held_reservation* next;
};
class held_reservations {
public:
  static void add(const void* engine, std::uint64_t key_word, std::uint64_t word) noexcept {
    const lock_scope hold(lock());
    auto* const made = new (std::nothrow) held_reservation{engine, key_word, word, this_thread(), first()};
    if (made != nullptr) first() = made; // without memory the check is skipped for this one
  }
  static void drop(const void* engine, std::uint64_t key_word, std::uint64_t word) noexcept {
    const lock_scope hold(lock());
    for (held_reservation** at = &first(); *at != nullptr; at = &(*at)->next) {
      held_reservation* const one = *at;
      if (one->engine != engine || one->key_word != key_word || one->word != word) continue;
      *at = one->next;
      delete one;
      return;
    }
  }
  /// Whether the calling thread holds a reservation for which `is_meant(word)`.
  template <class F> static bool has_own(const void* engine, std::uint64_t key_word, F is_meant) noexcept {
    const lock_scope hold(lock());
    for (const held_reservation* one = first(); one != nullptr; one = one->next) {
      if (one->engine == engine && one->key_word == key_word && one->thread == this_thread() && is_meant(one->word))
        return true;
    }
    return false;
  }

private:
  static small_lock<>& lock() noexcept {
    static constinit small_lock<> one;
    return one;
  }
  static held_reservation*& first() noexcept {
    static constinit held_reservation* head = nullptr;
    return head;
  }
  /// The number of this thread, which no other thread ever has.
  static std::uint64_t this_thread() noexcept {
    static constinit sync::word<std::uint64_t> last{0};
    static thread_local const std::uint64_t mine =
        last.fetch_add(1, sync::relaxed); // relaxed: it only hands out numbers
    return mine;
  }
};

/// Called before a wait for the end of a reservation. Throws if this thread holds the reservation.
template <class Engine>
void refuse_own_wait([[maybe_unused]] const Engine& e, [[maybe_unused]] const typename Engine::probe& p) {
  if constexpr (fail::checks && contract::reserving<Engine>) {
    const auto is_meant = [&](std::uint64_t word) { return e.slots().matches(p, word); };
    if (held_reservations::has_own(&e, p.word, is_meant))
      fail::with_self_deadlock(
          "cubby: a call waits for a reservation that its own thread holds: commit or abort it first");
  }
}

} // namespace cubby::inline v0::detail
