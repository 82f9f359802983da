// SPDX-License-Identifier: Apache-2.0
// Reservations: a key that is inserted but hidden until its transaction commits (DLHT section 3.2.2, shadow insert). Until then
// the key is locked: inserts of it answer `exists`, verbs that insert or change it wait for the end of the reservation, and all
// others find it absent. The thread that holds the reservation must not call verbs that wait; debug builds throw `self_deadlock`.
#pragma once

#include <cstdint>
#include <utility>

#include <cubby/detail/api/upserts.hpp>

namespace cubby::inline v0 {

/// Move-only; its destructor aborts. It must not outlive its table or the handle that made it. As a condition it is false if the key
/// existed or there was no space; `how()` tells which.
template <class Engine> class [[nodiscard]] reservation {
public:
  reservation() noexcept = default;
  reservation(reservation&& other) noexcept {
    other.leave_thread();
    swap(other);
  }
  reservation& operator=(reservation&& other) noexcept {
    reservation old(std::move(*this));
    other.leave_thread();
    swap(other);
    return *this;
  }
  ~reservation() { abort(); }

  explicit operator bool() const noexcept { return engine_ != nullptr; }
  [[nodiscard]] outcome how() const noexcept { return how_; }

  /// Makes the entry visible. Never fails. No effect on an empty reservation.
  void commit() {
    if (engine_ == nullptr) return;
    finish([](Engine& e, detail::thread_record& s, const typename Engine::probe& p, std::uint64_t word) {
      e.shadow_commit(s, p, word);
    });
  }
  /// Removes the entry, which no lookup has seen. Never fails. No effect on an empty reservation.
  void abort() {
    if (engine_ == nullptr) return;
    finish([](Engine& e, detail::thread_record& s, const typename Engine::probe& p, std::uint64_t word) {
      e.shadow_abort(s, p, word);
      // an insert of the same key may be comparing its key with the record
      if constexpr (Engine::policy::in_records) e.retire(s, word);
    });
  }

  /// For `shadow_insert`, inside a pin. `own` is the handle's record, or null if the calling thread's record is used.
  template <class Q, class... A>
  reservation(detail::context<Engine> s, detail::thread_record* own, const typename Engine::probe& p, Q&& key,
              A&&... args)
      : thread_record_(own) {
    if (detail::is_handed_over<Q, Engine> && s.engine.find(s.at, p).found) return; // the key stays with the caller
    detail::fresh_word<Engine> next(s, p, std::forward<Q>(key), std::forward<A>(args)...);
    how_ = next.ok() ? next.reserve(detail::probe_behind<Q>(s, p, next)) : outcome::no_memory;
    if (how_ != outcome::inserted) return;
    engine_ = &s.engine;
    key_word_ = p.word;
    word_ = next.word();
    if constexpr (detail::fail::checks) detail::held_reservations::add(engine_, key_word_, word_);
  }

private:
  /// Forgets the thread: from now on any thread may end the reservation.
  void leave_thread() noexcept {
    if constexpr (detail::fail::checks) detail::held_reservations::drop(engine_, key_word_, word_);
  }
  template <class F> void finish(F f) {
    leave_thread();
    Engine& e = *std::exchange(engine_, nullptr);
    detail::thread_record& s = thread_record_ != nullptr ? *thread_record_ : detail::caller_thread_record(e);
    [[maybe_unused]] const auto pin = e.pin(s);
    f(e, s, e.slots().probe_of_slot(key_word_, word_), word_);
  }
  void swap(reservation& other) noexcept {
    std::swap(engine_, other.engine_);
    std::swap(thread_record_, other.thread_record_);
    std::swap(key_word_, other.key_word_);
    std::swap(word_, other.word_);
    std::swap(how_, other.how_);
  }

  Engine* engine_ = nullptr;
  detail::thread_record* thread_record_ = nullptr;
  std::uint64_t key_word_ = 0;
  std::uint64_t word_ = 0;
  outcome how_ = outcome::exists;
};

namespace detail {

/// What `shadow_insert` would give where the engine has no hidden entries. That call does not compile, and this keeps its error to one line.
struct no_reservation {
  explicit operator bool() const noexcept { return false; }
  [[nodiscard]] outcome how() const noexcept { return outcome::no_memory; }
  void commit() noexcept {}
  void abort() noexcept {}
};
template <class Engine> struct reservation_from {
  using type = no_reservation;
};
template <contract::reserving Engine> struct reservation_from<Engine> {
  using type = reservation<Engine>;
};
template <class Engine> using reservation_of = typename reservation_from<Engine>::type;

} // namespace detail

} // namespace cubby::inline v0
