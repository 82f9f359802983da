// SPDX-License-Identifier: Apache-2.0
// Counters without contention. The first thread records have a cell each, which only they write, without a locked instruction.
// Later thread records share one cell. A read adds all cells: the sum is exact while no thread writes, else a recent value.
// A growing counter has one word at first, which all threads share, and takes its cells from the heap after some changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include <cubby/detail/platform/cpu.hpp>
#include <cubby/detail/platform/sync.hpp>

namespace cubby::inline v0::detail {

/// The thread records that have a cell of their own in each counter.
inline constexpr std::size_t own_cells = 64;

template <class Threads> struct alignas(cpu::cache_line) counter_cell {
  sync::word<std::uint64_t, Threads> value;
};

template <class Threads> class striped_counter {
public:
  CUBBY_ALWAYS_INLINE void add(std::size_t thread_record_id, std::int64_t amount) noexcept {
    const auto bits = static_cast<std::uint64_t>(amount);
    if (thread_record_id < own_cells) [[likely]] {
      cells_[thread_record_id].value.add_alone(bits); // a reader needs only a recent value
    } else {
      // relaxed: the sum is all that matters
      cells_[own_cells].value.fetch_add(bits, sync::relaxed);
    }
  }
  [[nodiscard]] std::int64_t total() const noexcept {
    std::uint64_t sum = 0;
    // relaxed: a sum of recent values is what the class promises
    for (const auto& cell : cells_) sum += cell.value.load(sync::relaxed);
    return static_cast<std::int64_t>(sum);
  }
  /// Moves the sum of an idle table's counter here. No other thread is here.
  void take_over(striped_counter& from) noexcept {
    for (std::size_t n = 0; n <= own_cells; ++n) sync::hand_over(cells_[n].value, from.cells_[n].value);
  }

private:
  counter_cell<Threads> cells_[own_cells + 1];
};

/// Where the cell of a thread record begins in the stripes of a growing counter, in bytes. The last cell is for all later records.
constexpr std::uint32_t cell_in_stripes(std::size_t thread_record_id) noexcept {
  const std::size_t cell = thread_record_id < own_cells ? thread_record_id : own_cells;
  return static_cast<std::uint32_t>(cell * cpu::cache_line);
}

// The first word of a growing counter, 8 bytes. Its changes are counted too, so that a table with few entries and many changes gets
// stripes. A sum below zero borrows from the changes, which need not be exact.
//
//   63         48 47                 0
//  +-------------+--------------------+
//  |   changes   |  sum, with a sign  |
//  +-------------+--------------------+
template <class Threads> class first_count {
public:
  /// True: it is time to try to get stripes.
  bool add(std::int64_t amount) noexcept {
    const std::uint64_t step = one_change + static_cast<std::uint64_t>(amount);
    // relaxed: the sum is all that matters
    const std::uint64_t now = value_.fetch_add(step, sync::relaxed) + step;
    return (now >> sum_bits) % changes_before_stripes == 0;
  }
  /// In a table for one thread, which needs no stripes.
  CUBBY_ALWAYS_INLINE void add_alone(std::int64_t amount) noexcept {
    value_.add_alone(static_cast<std::uint64_t>(amount));
  }
  [[nodiscard]] std::uint64_t sum() const noexcept {
    const std::uint64_t all = value_.load(sync::relaxed); // relaxed: a recent value
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(all << (64 - sum_bits)) >> (64 - sum_bits));
  }
  void take_over(first_count& from) noexcept { sync::hand_over(value_, from.value_); }

private:
  static constexpr unsigned sum_bits = 48;
  static constexpr std::uint64_t one_change = std::uint64_t{1} << sum_bits;
  // The stripes are 65 lines. A table that has taken fewer changes is small (docs/performance/constants.md).
  static constexpr std::uint64_t changes_before_stripes = 64;
  sync::word<std::uint64_t, Threads> value_;
};

/// It has two parts, so that a table can put the one that each change reads into its first line, and the word that changes beside
/// rarer things.
template <class Threads> class growing_counter {
public:
  growing_counter() = default;
  ~growing_counter() { delete[] cells_.load(sync::relaxed); } // relaxed: no other thread is here
  growing_counter(const growing_counter&) = delete;
  growing_counter& operator=(const growing_counter&) = delete;

  /// `cell` is the number of that of the caller's thread record. False: it has no cell of its own, or not yet; `add_shared` adds then.
  CUBBY_ALWAYS_INLINE bool add_alone(std::uint32_t cell, std::int64_t amount) noexcept {
    // [stripes] acquire: pairs with [publish-stripes]
    if (cell >= limit_.load(sync::acquire)) [[unlikely]]
      return false;
    cell_at(cell).add_alone(static_cast<std::uint64_t>(amount)); // a reader needs only a recent value
    return true;
  }
  void add_shared(first_count<Threads>& first, std::int64_t amount) noexcept {
    // [stripes] acquire: pairs with [publish-stripes]
    if (const std::uint32_t last = limit_.load(sync::acquire); last != 0) {
      // relaxed: the sum is all that matters
      cell_at(last).fetch_add(static_cast<std::uint64_t>(amount), sync::relaxed);
    } else if (first.add(amount)) {
      add_stripes();
    }
  }
  /// Takes the stripes, unless the table has them. Without memory it stays with one word, or takes them later.
  CUBBY_NEVER_INLINE void add_stripes() noexcept {
    auto* const made = new (std::nothrow) counter_cell<Threads>[own_cells + 1];
    if (made == nullptr) return;
    counter_cell<Threads>* none = nullptr;
    // [offer-stripes] acq_rel: pairs with [offer-stripes]
    // acquire on failure: pairs with [offer-stripes]; the limit publishes what the other thread has made
    if (!cells_.compare_exchange(none, made, sync::acq_rel, sync::acquire)) delete[] made;
    // [publish-stripes] release: pairs with [stripes]
    limit_.store(cell_in_stripes(own_cells), sync::release);
  }
  [[nodiscard]] std::int64_t total(const first_count<Threads>& first) const noexcept {
    std::uint64_t sum = first.sum();
    // [stripes] acquire: pairs with [publish-stripes]
    if (limit_.load(sync::acquire) != 0) {
      // relaxed: a sum of recent values is what the class promises
      for (std::size_t n = 0; n <= own_cells; ++n) sum += cell_at(cell_in_stripes(n)).load(sync::relaxed);
    }
    return static_cast<std::int64_t>(sum);
  }
  /// Moves the stripes of an idle table's counter here, where there are none. No other thread is here.
  void take_over(growing_counter& from) noexcept {
    sync::hand_over(cells_, from.cells_);
    sync::hand_over(limit_, from.limit_);
  }

private:
  /// There are stripes.
  CUBBY_ALWAYS_INLINE sync::word<std::uint64_t, Threads>& cell_at(std::uint32_t cell) const noexcept {
    // relaxed: the caller has read the limit, [stripes]
    auto* const first = reinterpret_cast<unsigned char*>(cells_.load(sync::relaxed));
    return reinterpret_cast<counter_cell<Threads>*>(first + cell)->value;
  }

  sync::word<counter_cell<Threads>*, Threads> cells_; // set once
  sync::word<std::uint32_t, Threads> limit_;          // the number of the last cell; 0: no stripes
};

} // namespace cubby::inline v0::detail
