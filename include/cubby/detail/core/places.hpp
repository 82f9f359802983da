// SPDX-License-Identifier: Apache-2.0
// The places of a table with a bound on its entries: an insert takes one, an erase gives one back. Stripes of places keep threads
// apart; a thread whose stripe is empty goes on with another one. A refusal is exact: at one moment of the call all places
// were taken. Tables without a bound pay one comparison.
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
  ~place_stock() { delete[] stripes(); }
  place_stock(const place_stock&) = delete;
  place_stock& operator=(const place_stock&) = delete;

  /// Call it before the table is shared, for a table with a bound, of which `used` places are taken. False: no memory.
  [[nodiscard]] bool open(std::uint64_t bound, std::uint64_t used = 0) noexcept {
    std::uint64_t count = std::bit_floor(bound / places_a_stripe | 1);
    const std::uint64_t free = used < bound ? bound - used : 0;
    if (count > most_stripes) count = most_stripes;
    auto* const made = new (std::nothrow) stripe[count];
    if (made == nullptr) return false;
    packed_ = reinterpret_cast<std::uintptr_t>(made) | (count - 1);
    for (std::uint64_t i = 0; i < count; ++i) {
      stripe& one = made[i];
      one.share = bound / count + 1;
      // relaxed, all: not shared yet
      one.given.store(free / count + (i < free % count ? 1 : 0), sync::relaxed);
      one.source.store(i, sync::relaxed); // relaxed: as above
      one.sink.store(i, sync::relaxed);   // relaxed: as above
      one.turn.store(i, sync::relaxed);   // relaxed: as above
    }
    return true;
  }

  /// Moves the places of an idle table here, where there are none. No other thread is here.
  void take_over(place_stock& from) noexcept {
    packed_ = from.packed_;
    from.packed_ = 0;
  }

  [[nodiscard]] CUBBY_ALWAYS_INLINE bool is_bounded() const noexcept { return packed_ != 0; }

  /// Takes a place. False: at one moment of the call there was none.
  [[nodiscard]] CUBBY_NEVER_INLINE bool take(std::uint64_t thread_record_id) noexcept {
    stripe& own = stripes()[thread_record_id & mask()];
    stripe& from = stripes()[own.source.load(sync::relaxed)]; // relaxed: a hint
    // [places] acquire: pairs with [give-place]
    const std::uint64_t given = from.given.load(sync::acquire);
    std::uint64_t taken = from.taken.load(sync::relaxed); // relaxed: the exchange decides
    // [take-place] release: pairs with [taken-places]
    // relaxed: take_elsewhere reads it again
    if (taken < given && from.taken.compare_exchange(taken, taken + 1, sync::release, sync::relaxed)) return true;
    return take_elsewhere(own); // also if another thread takes from the same stripe: two would slow each other down
  }
  CUBBY_ALWAYS_INLINE void give(std::uint64_t thread_record_id) noexcept {
    stripe& own = stripes()[thread_record_id & mask()];
    const std::uint64_t number = own.sink.load(sync::relaxed); // relaxed: where to put it, a hint
    stripe& to = stripes()[number];
    // [give-place] release: pairs with [places]
    const std::uint64_t given = to.given.fetch_add(1, sync::release);
    // A thread that erases very many leaves places in several stripes, so that those who insert need not share one.
    if (to.taken.load(sync::relaxed) + 2 * to.share <= given) [[unlikely]] // relaxed: a hint
      own.sink.store((number + 1) & mask(), sync::relaxed);                // relaxed: as above
  }

private:
  static constexpr std::uint64_t places_a_stripe = 64;
  static constexpr std::uint64_t most_stripes = 64;
  struct alignas(cpu::cache_line) stripe {
    sync::word<std::uint64_t, Threads> given; // all places that were put here
    sync::word<std::uint64_t, Threads> taken; // of these
    std::uint64_t share = 0;                  // what it has at most when all are free and spread evenly
    // Of the threads of this stripe: from which one they take, to which they give, and what chooses the next one. In a line of their own:
    // other threads change the counts.
    alignas(cpu::cache_line) sync::word<std::uint64_t, Threads> source;
    sync::word<std::uint64_t, Threads> sink;
    sync::word<std::uint64_t, Threads> turn;
  };

  /// Looks into all stripes, from a random one on. A fill by several threads uses up one stripe after the other. Threads that chose them
  /// in the same order would take from the same one: docs/performance/iceberg.md, "Filling".
  [[nodiscard]] CUBBY_NEVER_INLINE bool take_elsewhere(stripe& own) noexcept {
    stripe* const all = stripes();
    for (;;) {
      std::uint64_t turn = own.turn.load(sync::relaxed); // relaxed, both: another thread may do the same
      turn = turn * 6364136223846793005 + 1442695040888963407;
      own.turn.store(turn, sync::relaxed); // relaxed: as above
      std::uint64_t before = 0;
      for (std::uint64_t i = 0; i <= mask(); ++i) {
        const std::uint64_t number = ((turn >> 32) + i) & mask();
        if (!take_from(all[number], before)) continue;
        own.source.store(number, sync::relaxed); // relaxed: as above
        own.sink.store(number, sync::relaxed);   // relaxed: as above
        return true;
      }
      // Both counts of a stripe only grow, and `taken` never exceeds `given`. So a stripe that was empty and has got no place since
      // was empty throughout, and between the two passes all stripes were empty. All reads of the first pass are acquire loads, so those
      // of the second one come after them.
      if (sum_of_given() == before) return false;
    }
  }

  /// Takes a place of the stripe. If it has none, adds its `given` to `sum`.
  static bool take_from(stripe& s, std::uint64_t& sum) noexcept {
    // [places] acquire: pairs with [give-place]; and keeps the reads of a pass in order
    const std::uint64_t given = s.given.load(sync::acquire);
    // [taken-places] acquire: pairs with [take-place]; who sees a place taken sees what its thread gave before, and reads on after this
    std::uint64_t taken = s.taken.load(sync::acquire);
    while (taken < given) {
      // [take-place] release: pairs with [taken-places]
      // [taken-places] acquire: pairs with [take-place], if it fails
      if (s.taken.compare_exchange(taken, taken + 1, sync::release, sync::acquire)) return true;
    }
    sum += given;
    return false;
  }
  [[nodiscard]] std::uint64_t sum_of_given() const noexcept {
    std::uint64_t sum = 0;
    // [places] acquire: pairs with [give-place]
    for (std::uint64_t i = 0; i <= mask(); ++i) sum += stripes()[i].given.load(sync::acquire);
    return sum;
  }

  // One word, so that it fits into the line that each write reads: the address of the stripes, and in the bits that its alignment
  // leaves the number of stripes less one. 0: no bound.
  static_assert(most_stripes <= alignof(stripe));
  [[nodiscard]] CUBBY_ALWAYS_INLINE stripe* stripes() const noexcept {
    return reinterpret_cast<stripe*>(packed_ & ~std::uintptr_t{most_stripes - 1});
  }
  [[nodiscard]] CUBBY_ALWAYS_INLINE std::uint64_t mask() const noexcept { return packed_ & (most_stripes - 1); }
  std::uintptr_t packed_ = 0;
};

} // namespace cubby::inline v0::detail
