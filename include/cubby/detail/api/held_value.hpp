// SPDX-License-Identifier: Apache-2.0
// A value that is changed where it lies, with the lock of its entry; and the holds of that lock.
#pragma once

#include <memory>
#include <utility>

#include <cubby/detail/core/entry_lock.hpp>
#include <cubby/detail/platform/fail.hpp>

namespace cubby::inline v0::detail {

/// What a record of an `in_place_map` has as its value. The table shows it as const; the lock says who may change it.
template <class V> class held_value {
public:
  /// Makes a locked entry without a value.
  struct claim {};
  explicit held_value(claim) noexcept : lock_(entry_lock::initially::building) {}
  ~held_value() {
    if (lock_.is_built()) std::destroy_at(std::addressof(value_));
  }
  held_value(const held_value&) = delete;
  held_value& operator=(const held_value&) = delete;

  [[nodiscard]] entry_lock& lock() const noexcept { return lock_; }
  /// Only inside a hold.
  [[nodiscard]] V& value() const noexcept { return value_; }
  [[nodiscard]] V* address() const noexcept { return std::addressof(value_); }

private:
  mutable entry_lock lock_;
  union {
    mutable V value_; // there is one unless the lock is `building`
  };
};

/// An entry that a call of this thread holds, and the entry of the next outer call. Only for debug builds.
struct held_here {
  const void* entry;
  const held_here* outer;
};
inline const held_here*& innermost_held() noexcept {
  static constinit thread_local const held_here* node = nullptr;
  return node;
}
/// Debug builds (`fail::checks`) refuse a call that would wait for an entry that its own thread holds.
template <bool Checks = fail::checks> class noted_hold {
public:
  explicit noted_hold(const void* entry) : node_{entry, innermost_held()} {
    for (const held_here* n = node_.outer; n != nullptr; n = n->outer) {
      if (n->entry == entry)
        fail::with_self_deadlock(
            "cubby: a function calls its in_place_map about the very entry that it is shown, and would "
            "wait for itself: make that call when the function has returned");
    }
    innermost_held() = &node_;
  }
  ~noted_hold() { innermost_held() = node_.outer; }
  noted_hold(const noted_hold&) = delete;
  noted_hold& operator=(const noted_hold&) = delete;

private:
  held_here node_;
};
template <> class noted_hold<false> {
public:
  explicit noted_hold(const void*) noexcept {}
};

/// Reads an entry. False: it is dead.
template <class V> class [[nodiscard]] shared_hold {
public:
  explicit shared_hold(const held_value<V>& e) : noted_(&e), entry_(e), holds_(e.lock().lock_shared()) {}
  ~shared_hold() {
    if (holds_) entry_.lock().unlock_shared();
  }
  shared_hold(const shared_hold&) = delete;
  shared_hold& operator=(const shared_hold&) = delete;
  explicit operator bool() const noexcept { return holds_; }

private:
  [[no_unique_address]] noted_hold<> noted_;
  const held_value<V>& entry_;
  bool holds_;
};

/// Changes an entry. False: it is dead.
template <class V> class [[nodiscard]] lone_hold {
public:
  explicit lone_hold(const held_value<V>& e) : noted_(&e), entry_(e), holds_(e.lock().lock()) {}
  ~lone_hold() {
    if (holds_) entry_.lock().unlock();
  }
  lone_hold(const lone_hold&) = delete;
  lone_hold& operator=(const lone_hold&) = delete;
  explicit operator bool() const noexcept { return holds_; }
  /// Ends the hold of an entry that has left the table.
  void end_dead() noexcept {
    holds_ = false;
    entry_.lock().unlock_dead();
  }

private:
  [[no_unique_address]] noted_hold<> noted_;
  const held_value<V>& entry_;
  bool holds_;
};

} // namespace cubby::inline v0::detail
