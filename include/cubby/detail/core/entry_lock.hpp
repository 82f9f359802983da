// SPDX-License-Identifier: Apache-2.0
// The lock of one entry whose value is changed in place. Readers share it, a writer has it alone, and a writer that waits keeps new
// readers out. The thread that erases the entry holds the lock, and marks the entry dead when it lets go.
#pragma once

#include <cstdint>

#include <cubby/detail/platform/sync.hpp>

namespace cubby::inline v0::detail {

///  - bits 0 to 27, `readers`: so many threads read the value, or are about to find out that they may not
///  - bit 28, `waiting`: a writer waits, and no reader begins
///  - bit 29, `writer`: one thread changes the value
///  - bit 30, `building`: the writer has inserted the entry and constructs its value. Set by the constructor alone
///  - bit 31, `dead`: the entry has left the table. Never cleared
///
/// Invariant: the entry leaves the table only while `writer` is set, by the thread that has set it.
class entry_lock {
public:
  enum class initially : std::uint8_t { building };
  explicit entry_lock(initially) noexcept : word_(writer | building) {}

  /// Waits for the writer, if there is one. False: the entry is dead: its key was absent when it left the table.
  [[nodiscard]] bool lock_shared() noexcept {
    for (sync::backoff wait;; wait.pause()) {
      // [entry-lock] acquire: pairs with [entry-unlock]
      std::uint32_t seen = word_.load(sync::acquire);
      if ((seen & stops_readers) == 0) {
        // [entry-lock] acquire: pairs with [entry-unlock]
        seen = word_.fetch_add(1, sync::acquire);
        if ((seen & stops_readers) == 0) return true;
        word_.fetch_add(~std::uint32_t{0}, sync::relaxed); // relaxed: this thread has read nothing
      }
      if ((seen & dead) != 0) return false;
    }
  }
  void unlock_shared() noexcept {
    // [entry-unlock] release: pairs with [entry-lock]; the writer that comes next stores after these reads
    word_.fetch_add(~std::uint32_t{0}, sync::release);
  }

  /// Waits for the readers and the writer. False: as above.
  [[nodiscard]] bool lock() noexcept {
    for (sync::backoff wait;; wait.pause()) {
      // [entry-lock] acquire: pairs with [entry-unlock]
      std::uint32_t seen = word_.load(sync::acquire);
      if ((seen & dead) != 0) return false;
      if ((seen & ~waiting) == 0) {
        // it clears `waiting`, which other writers then set again
        // [entry-lock] acquire: pairs with [entry-unlock]
        // relaxed: a failed attempt reads nothing that the lock protects
        if (word_.compare_exchange(seen, writer, sync::acquire, sync::relaxed)) return true;
      } else if ((seen & waiting) == 0) {
        // relaxed: the bit only keeps readers out
        static_cast<void>(word_.compare_exchange(seen, seen | waiting, sync::relaxed, sync::relaxed));
      }
    }
  }
  void unlock() noexcept { let_go(0, writer); }
  /// The value is built. From here on other threads see the entry.
  void unlock_built() noexcept { let_go(0, writer | building); }
  /// The entry has left the table. If its value was never built, `building` stays set.
  void unlock_dead() noexcept { let_go(dead, writer); }

  /// Waits until the value is built. False: the entry is dead.
  [[nodiscard]] bool wait_until_built() const noexcept {
    for (sync::backoff wait;; wait.pause()) {
      // [entry-lock] acquire: pairs with [entry-unlock]
      const std::uint32_t seen = word_.load(sync::acquire);
      if ((seen & dead) != 0) return false;
      if ((seen & building) == 0) return true;
    }
  }
  /// Whether there is a value, or has been one.
  [[nodiscard]] bool is_built() const noexcept {
    return (word_.load(sync::relaxed) & building) ==
           0; // relaxed: a destructor is alone; others then ask `wait_until_built`
  }

private:
  static constexpr std::uint32_t waiting = 1U << 28;
  static constexpr std::uint32_t writer = 1U << 29;
  static constexpr std::uint32_t building = 1U << 30;
  static constexpr std::uint32_t dead = 1U << 31;
  static constexpr std::uint32_t stops_readers =
      waiting | writer | dead; // `building` without `writer` comes with `dead`

  void let_go(std::uint32_t set, std::uint32_t clear) noexcept {
    // [entry-unlock] release: pairs with [entry-lock]; an addition, because readers may count themselves meanwhile
    word_.fetch_add(set - clear, sync::release);
  }

  sync::word<std::uint32_t> word_;
};

} // namespace cubby::inline v0::detail
