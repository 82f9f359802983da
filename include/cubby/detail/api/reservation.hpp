// SPDX-License-Identifier: Apache-2.0
// A key that is inserted but hidden until its transaction commits (DLHT section 3.2.2, shadow insert). Until then the
// key is locked: others' inserts of it answer `exists`, every other verb finds it absent, and verbs that insert or
// change wait for the end of the reservation. The thread that holds it must not call those; debug builds throw `self_deadlock`.
#pragma once

#include <cstdint>
#include <utility>

#include <cubby/detail/api/operations.hpp>

namespace cubby::inline v0 {

/// Move-only; aborts in its destructor. It must not outlive its table, nor the handle that made it. False in a
/// condition when the key existed or there was no space (`how()` tells).
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

  /// Makes the entry visible. No effect when empty.
  void commit() {
    if (engine_ == nullptr) return;
    finish([](Engine& e, detail::thread_record& s, const typename Engine::probe& p, std::uint64_t word) {
      e.shadow_commit(s, p, word);
    });
  }
  /// Takes the entry out again; nobody ever saw it. No effect when empty.
  void abort() {
    if (engine_ == nullptr) return;
    finish([](Engine& e, detail::thread_record& s, const typename Engine::probe& p, std::uint64_t word) {
      e.shadow_abort(s, p, word);
      // an insert of the same key may be comparing with the record right now
      if constexpr (Engine::policy::in_records) e.retire(s, word);
    });
  }

  /// Made by `shadow_insert`, inside a pin. `own` is null for the calling thread's record of the moment.
  template <class Q, class... A>
  reservation(detail::context<Engine> s, detail::thread_record* own, const typename Engine::probe& p, const Q& key,
              A&&... args)
      : thread_record_(own) {
    detail::fresh_word<Engine> next(s, p, key, std::forward<A>(args)...);
    how_ = next.ok() ? next.reserve(p) : outcome::no_memory;
    if (how_ != outcome::inserted) return;
    engine_ = &s.engine;
    key_word_ = p.word;
    word_ = next.word();
    if constexpr (detail::fail::checks) detail::held_reservations::add(engine_, key_word_, word_);
  }

private:
  /// Which thread ends it is not known any more.
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

} // namespace cubby::inline v0
