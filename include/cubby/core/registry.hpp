// SPDX-License-Identifier: Apache-2.0
// Seats: how a thread says that it is inside a table, so that nothing it may see is freed under it.
// Entering costs one plain store where the kernel has membarrier. Seats are reused, never freed; their number is the
// highest number of threads and handles that ever lived at the same time. One registry serves every table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include <cubby/platform/barrier.hpp>
#include <cubby/platform/sync.hpp>

namespace cubby::inline v0 {

/// One thread's or handle's place. Used by one thread at a time; cache-line sized, so that entering disturbs nobody.
class alignas(cpu::cache_line) seat {
public:
  /// Small and unique among living seats: an index for per-seat counters.
  [[nodiscard]] std::size_t id() const noexcept { return id_; }

private:
  friend class registry;
  sync::word<std::uint64_t> epoch_; // 0: outside; else the epoch that was current on entering
  sync::word<std::uint32_t> taken_; // 1 while somebody owns the seat
  std::uint32_t depth_ = 0;         // nested pins; only the owner touches it
  bool asymmetric_ = false;         // copy of barrier::is_asymmetric(), beside the word that it is about
  std::size_t id_ = 0;
  seat* next_ = nullptr; // older seats; set before the seat is published, constant afterwards
};

class registry {
public:
  /// A seat of the caller's own, or null when there is no memory for one. Lock-free.
  static seat* claim() noexcept {
    // relaxed: only a hint; the compare-and-swap below decides
    for (seat* s = list().load(sync::acquire) /* [walk-seats] acquire: pairs with [push-seat] */; s; s = s->next_) {
      std::uint32_t free = 0;
      // [claim-seat] acquire: pairs with [release-seat]
      // relaxed: a failed claim reads nothing of the seat
      if (s->taken_.load(sync::relaxed) == 0 && s->taken_.compare_exchange(free, 1, sync::acquire, sync::relaxed)) {
        return s;
      }
    }
    return add();
  }

  /// Gives a seat back. It must be outside every pin.
  static void release(seat* s) noexcept {
    // [release-seat] release: pairs with [claim-seat]
    s->taken_.store(0, sync::release);
  }

  /// The calling thread's own seat, claimed at its first use and given back when the thread ends; null: no memory.
  static seat* local() noexcept {
    if (seat* const mine = current()) [[likely]]
      return mine;
    return claim_for_thread();
  }

  static void enter(seat& s) noexcept {
    if (s.depth_++ != 0) return;
    // [enter] acquire: pairs with [advance]; an epoch at or past a tag implies the unlinking behind that tag is seen
    const std::uint64_t now = clock().load(sync::acquire);
    // [publish-seat] release: pairs with [scan]; the heavy barrier before the scan orders it with our later loads
    barrier::publish(s.epoch_, now, s.asymmetric_);
  }
  static void leave(seat& s) noexcept {
    // [leave] release: pairs with [scan]; all that was read inside happened before whoever frees it
    if (--s.depth_ == 0) s.epoch_.store(0, sync::release);
  }

  /// Whether the owner of `s`, who asks, is inside a pin of it.
  static bool inside(const seat& s) noexcept { return s.depth_ != 0; }
  /// Whether the calling thread is inside a pin of its own seat. Seats of handles are not looked at.
  static bool inside() noexcept {
    const seat* const mine = current();
    return mine != nullptr && inside(*mine);
  }

  /// Ends an epoch: what was unlinked before the call may be freed once `oldest()` has reached the returned tag.
  static std::uint64_t advance() noexcept {
    // [advance] acq_rel: pairs with [enter]
    return clock().fetch_add(1, sync::acq_rel) + 1;
  }

  /// The oldest epoch that any seat is still in; the largest number when nobody is inside. A system call, which interrupts
  /// every running thread of the program.
  static std::uint64_t oldest() noexcept {
    barrier::heavy();
    return oldest_shown();
  }
  /// The same without the call, for who has made it since the unlinking that he asks about: a seat that did not show then what
  /// its reader had entered with belongs to a reader that sees the unlinking.
  static std::uint64_t oldest_shown() noexcept {
    std::uint64_t least = ~std::uint64_t{0};
    // [walk-seats] acquire: pairs with [push-seat]
    for (seat* s = list().load(sync::acquire); s; s = s->next_) {
      // [scan] acquire: pairs with [leave]
      const std::uint64_t epoch = s->epoch_.load(sync::acquire);
      if (epoch != 0 && epoch < least) least = epoch;
    }
    return least;
  }

private:
  static sync::word<std::uint64_t>& clock() noexcept {
    static constinit sync::word<std::uint64_t> epoch{1};
    return epoch;
  }
  static sync::word<seat*>& list() noexcept {
    static constinit sync::word<seat*> head{nullptr};
    return head;
  }
  static seat*& current() noexcept {
    static constinit thread_local seat* mine = nullptr;
    return mine;
  }

  struct thread_end {
    ~thread_end() {
      if (seat* const mine = current()) {
        current() = nullptr;
        release(mine);
      }
    }
  };

  CUBBY_NEVER_INLINE static seat* claim_for_thread() noexcept {
    static thread_local thread_end at_end;
    (void)at_end;
    return current() = claim();
  }

  CUBBY_NEVER_INLINE static seat* add() noexcept {
    seat* const s = new (std::nothrow) seat;
    if (s == nullptr) return nullptr;
    s->asymmetric_ = barrier::is_asymmetric();
    // relaxed: the seat is not yet visible to anyone
    s->taken_.store(1, sync::relaxed);
    // [walk-seats] acquire: pairs with [push-seat]; the head's id is read
    s->next_ = list().load(sync::acquire);
    do {
      s->id_ = s->next_ ? s->next_->id_ + 1 : 0;
      // [push-seat] release: pairs with [walk-seats]
      // acquire on failure: the id of the new head is read next; pairs with [push-seat]
    } while (!list().compare_exchange(s->next_, s, sync::release, sync::acquire));
    return s;
  }
};

/// A stay inside: nothing that a table shows is freed before it ends. Nests; costs one store in and one out.
class [[nodiscard]] seat_pin {
public:
  explicit seat_pin(seat& s) noexcept : seat_(s) { registry::enter(seat_); }
  ~seat_pin() { registry::leave(seat_); }
  seat_pin(const seat_pin&) = delete;
  seat_pin& operator=(const seat_pin&) = delete;

private:
  seat& seat_;
};

} // namespace cubby::inline v0
