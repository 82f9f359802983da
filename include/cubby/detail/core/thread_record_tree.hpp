// SPDX-License-Identifier: Apache-2.0
// Thread records. A thread publishes in its record that it is inside a table, so that nothing which it may see is freed. The thread
// records of a domain lie in blocks of 64 under a tree of bitmaps, with four levels in all. Claims and releases take constant
// time, under a lock. A scan takes no lock and follows set bits only, so its cost depends on the records that are taken now.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

#include <cubby/detail/core/counter.hpp>
#include <cubby/detail/platform/cpu.hpp>
#include <cubby/detail/platform/image.hpp>
#include <cubby/detail/platform/sync.hpp>

namespace cubby::inline v0::detail {

struct domain;
template <unsigned Height> struct thread_record_tree;
template <class Policy, class Threads> class retire_bag;

/// The record of a thread or a handle in a domain. One thread at a time uses it. It fills a cache line, so that a pin disturbs no
/// other thread.
class alignas(cpu::cache_line) thread_record {
public:
  /// A small number, unique among the taken thread records of the domain. Counters use it as an index.
  [[nodiscard]] std::size_t id() const noexcept { return id_; }
  /// The number of its cell in the stripes of each growing counter.
  [[nodiscard]] std::uint32_t cell_in_stripes() const noexcept { return cell_in_stripes_; }

private:
  friend struct domain;
  friend class registry;
  template <unsigned Height> friend struct thread_record_tree;
  template <class Policy, class Threads> friend class retire_bag;
  sync::word<std::uint64_t> epoch_;  // 0: outside; else the epoch in which the pin began
  domain* home_ = nullptr;           // set by the first claim; constant afterwards
  image::thread_mark user_;          // the thread that uses it; 0: not known
  sync::word<std::uint32_t> fenced_; // 1: each later pin has a fence, and earlier pins are over or shown
  std::uint32_t depth_ = 0;          // nested pins; only the owner uses it
  bool of_thread_ = false;           // the record of a thread, not of a handle; set while it is claimed
  bool given_up_ = false;            // its handle or thread has ended; the last guard gives it back
  mutable bool disposing_ = false;   // its owner frees what it has retired; only the owner uses it
  std::uint32_t guards_ = 0;         // its live guards
  std::uint32_t cell_in_stripes_ = 0;
  std::size_t id_ = 0;
};
static_assert(sizeof(thread_record) == cpu::cache_line);

inline constexpr unsigned thread_records_in_block = 64;

/// Blocks that a claim may add to the tree. They are allocated before the lock is taken, and unused ones are freed after it.
struct spare_blocks;

/// A block of 64 thread records. `taken` is written only under the domain's lock.
template <> struct thread_record_tree<0> {
  sync::word<std::uint64_t> taken; // a bit for each thread record
  thread_record thread_records[thread_records_in_block];

  thread_record* claim(spare_blocks&, std::size_t block) noexcept {
    const std::uint64_t now = taken.load(sync::relaxed); // relaxed: under the lock
    const auto n = static_cast<unsigned>(std::countr_one(now));
    if (n == thread_records_in_block) return nullptr;
    thread_records[n].id_ = block * thread_records_in_block + n;
    thread_records[n].cell_in_stripes_ = detail::cell_in_stripes(thread_records[n].id_);
    // [take-record] release: pairs with [scan-records]; the epoch that its owner shows later comes after it
    taken.store(now | std::uint64_t{1} << n, sync::release);
    return &thread_records[n];
  }
  void release(std::size_t id) noexcept {
    const std::uint64_t bit = std::uint64_t{1} << id % thread_records_in_block;
    // relaxed: under the lock
    // [give-record] release: pairs with [scan-records]; a thread that skips the thread record has seen what its owner did inside
    taken.store(taken.load(sync::relaxed) & ~bit, sync::release);
  }
  [[nodiscard]] bool is_full() const noexcept { return ~taken.load(sync::relaxed) == 0; } // relaxed: under the lock
  [[nodiscard]] bool is_empty() const noexcept { return taken.load(sync::relaxed) == 0; } // relaxed: under the lock

  template <class F> void for_each_taken(F f) {
    // [scan-records] acquire: pairs with [take-record], [give-record]
    for (std::uint64_t left = taken.load(sync::acquire); left != 0; left &= left - 1)
      f(thread_records[std::countr_zero(left)]);
  }
  /// Repairs a change that a fork has interrupted. No other thread is here.
  void mend() noexcept {}
};

template <unsigned Height> struct thread_record_tree {
  using child = thread_record_tree<Height - 1>;
  sync::word<std::uint64_t> taken;            // a bit for each child with a taken thread record; as above
  std::uint64_t full = 0;                     // a bit for each child without a free one; under the lock
  child* below[thread_records_in_block] = {}; // each is added once, before its bit of `taken` is first set

  thread_record* claim(spare_blocks& spare, std::size_t block) noexcept;
  void release(std::size_t id) noexcept {
    const std::size_t n = id >> 6 * Height & 63;
    const std::uint64_t bit = std::uint64_t{1} << n;
    below[n]->release(id);
    full &= ~bit;
    // relaxed: under the lock
    // [give-record] release: pairs with [scan-records]
    if (below[n]->is_empty()) taken.store(taken.load(sync::relaxed) & ~bit, sync::release);
  }
  [[nodiscard]] bool is_full() const noexcept { return ~full == 0; }
  [[nodiscard]] bool is_empty() const noexcept { return taken.load(sync::relaxed) == 0; } // relaxed: under the lock

  template <class F> void for_each_taken(F f) {
    // [scan-records] acquire: pairs with [take-record], [give-record]
    for (std::uint64_t left = taken.load(sync::acquire); left != 0; left &= left - 1)
      below[std::countr_zero(left)]->for_each_taken(f);
  }
  void mend() noexcept {
    std::uint64_t some = 0;
    full = 0;
    for (unsigned n = 0; n < thread_records_in_block; ++n) {
      if (below[n] == nullptr) continue;
      below[n]->mend();
      if (!below[n]->is_empty()) some |= std::uint64_t{1} << n;
      if (below[n]->is_full()) full |= std::uint64_t{1} << n;
    }
    taken.store(some, sync::relaxed); // relaxed: no other thread is here
  }
  /// Frees the blocks below, except the one that is part of the domain. No other thread is here.
  void free_below(const child* in_domain) noexcept {
    for (child*& one : below) {
      if (one == nullptr) continue;
      if constexpr (Height > 1) {
        if (one != in_domain) one->free_below(nullptr);
      }
      if (one != in_domain) delete one;
    }
  }
};

struct spare_blocks {
  thread_record_tree<0>* leaf = nullptr;
  thread_record_tree<1>* low = nullptr;
  thread_record_tree<2>* high = nullptr;

  spare_blocks() = default;
  spare_blocks(const spare_blocks&) = delete;
  spare_blocks& operator=(const spare_blocks&) = delete;
  ~spare_blocks() {
    delete leaf;
    delete low;
    delete high;
  }
  /// False: no memory.
  bool make() noexcept {
    leaf = new (std::nothrow) thread_record_tree<0>;
    low = new (std::nothrow) thread_record_tree<1>;
    high = new (std::nothrow) thread_record_tree<2>;
    return leaf != nullptr && low != nullptr && high != nullptr;
  }
  void take(thread_record_tree<0>*& to) noexcept { move(leaf, to); }
  void take(thread_record_tree<1>*& to) noexcept { move(low, to); }
  void take(thread_record_tree<2>*& to) noexcept { move(high, to); }

private:
  template <class Block> static void move(Block*& from, Block*& to) noexcept {
    to = from;
    from = nullptr;
  }
};

template <unsigned Height> thread_record* thread_record_tree<Height>::claim(spare_blocks& spare,
                                                                            std::size_t block) noexcept {
  const auto n = static_cast<unsigned>(std::countr_one(full));
  if (n == thread_records_in_block) return nullptr;
  if (below[n] == nullptr) spare.take(below[n]);
  if (below[n] == nullptr) return nullptr;
  thread_record* const got = below[n]->claim(spare, block * thread_records_in_block + n);
  if (got == nullptr) return nullptr;
  if (below[n]->is_full()) full |= std::uint64_t{1} << n;
  // relaxed: under the lock
  // [take-record] release: pairs with [scan-records]; also the child itself, when it is new
  taken.store(taken.load(sync::relaxed) | std::uint64_t{1} << n, sync::release);
  return got;
}

} // namespace cubby::inline v0::detail
