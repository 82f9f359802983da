// SPDX-License-Identifier: Apache-2.0
// The places of a table that is to hold no more than so many entries: an insert takes one, an erase gives one back. Places
// lie in stripes, so that threads do not meet; a thread that finds its own stripe empty takes from another. Exact: a refusal means
// that at one moment every place was taken. Tables without a bound pay one comparison.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

#include <cubby/detail/platform/cpu.hpp>
#include <cubby/detail/platform/sync.hpp>

namespace cubby::inline v0::detail {

template <class Threads> class place_stock {
public:
  place_stock() = default;
  ~place_stock() { delete[] stripes_; }
  place_stock(const place_stock&) = delete;
  place_stock& operator=(const place_stock&) = delete;

  /// Before the table is shared; false: no memory. Never called for a table without a bound.
  [[nodiscard]] bool open(std::uint64_t bound) noexcept {
    std::uint64_t count = std::bit_floor(bound / places_a_stripe | 1);
    if (count > most_stripes) count = most_stripes;
    stripes_ = new (std::nothrow) stripe[count];
    if (stripes_ == nullptr) return false;
    mask_ = count - 1;
    // relaxed: not shared yet
    for (std::uint64_t i = 0; i < count; ++i)
      stripes_[i].given.store(bound / count + (i < bound % count ? 1 : 0), sync::relaxed);
    return true;
  }

  [[nodiscard]] CUBBY_ALWAYS_INLINE bool is_bounded() const noexcept { return stripes_ != nullptr; }

  /// Takes a place of a bounded table; false: at one moment of the call there was none.
  [[nodiscard]] CUBBY_NEVER_INLINE bool take(std::uint64_t thread_record_id) noexcept {
    stripe& own = stripes_[thread_record_id & mask_];
    std::uint64_t unused = 0;
    if (take_from(own, unused)) return true;
    for (;;) {
      std::uint64_t before = 0;
      const std::uint64_t first = own.next.load(sync::relaxed); // relaxed: where to look first, a hint
      for (std::uint64_t i = 0; i <= mask_; ++i) {
        if (!take_from(stripes_[(first + i) & mask_], before)) continue;
        own.next.store(first + i, sync::relaxed); // relaxed: as above
        return true;
      }
      // Both figures of a stripe only grow and `taken` never passes `given`. So a stripe that was empty, and has been given
      // nothing since, was empty all the while; and between the two passes all of them were.
      if (sum_of_given() == before) return false;
    }
  }
  CUBBY_ALWAYS_INLINE void give(std::uint64_t thread_record_id) noexcept {
    // [give-place] release: pairs with [places]
    (void)stripes_[thread_record_id & mask_].given.fetch_add(1, sync::release);
  }

private:
  static constexpr std::uint64_t places_a_stripe = 64;
  static constexpr std::uint64_t most_stripes = 64;
  struct alignas(cpu::cache_line) stripe {
    sync::word<std::uint64_t, Threads> given; // places that were ever put here
    sync::word<std::uint64_t, Threads> taken; // of these
    sync::word<std::uint64_t, Threads> next;  // the stripe that last helped out
  };

  /// Adds what the stripe was given to `sum` if it has no place.
  static bool take_from(stripe& s, std::uint64_t& sum) noexcept {
    // [places] acquire: pairs with [give-place]; and keeps the reads of a pass in order
    const std::uint64_t given = s.given.load(sync::acquire);
    // relaxed, all: a number; what it counts is published by other means
    std::uint64_t taken = s.taken.load(sync::relaxed);
    while (taken < given) {
      // relaxed: as above
      if (s.taken.compare_exchange(taken, taken + 1, sync::relaxed, sync::relaxed)) return true;
    }
    sum += given;
    return false;
  }
  [[nodiscard]] std::uint64_t sum_of_given() const noexcept {
    std::uint64_t sum = 0;
    // [places] acquire: pairs with [give-place]
    for (std::uint64_t i = 0; i <= mask_; ++i) sum += stripes_[i].given.load(sync::acquire);
    return sum;
  }

  stripe* stripes_ = nullptr; // null: no bound
  std::uint64_t mask_ = 0;
};

} // namespace cubby::inline v0::detail
