// SPDX-License-Identifier: Apache-2.0
// Retired arrays: the root of a table has moved past them, and they wait here until every pin that might have seen them has ended.
// Then their pages go back to the kernel, from the end, one slice a call; the head of an array goes with its last page. An array
// has `pages`, and for this list `retired_at` and `next_retired`. It was made by `new`.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/core/lock.hpp>
#include <cubby/detail/core/registry.hpp>
#include <cubby/detail/platform/memory.hpp>

namespace cubby::inline v0::detail {

/// Frees an array that no thread uses any more.
template <class Array> void free_array(Array* gone) noexcept {
  memory::release(gone->pages);
  delete gone;
}

/// The most bytes that one call gives back while an operation waits: unmapping 32 MB delays an insert by 5 ms.
inline constexpr std::size_t release_slice = std::size_t{4} << 20;

template <class Array, class Threads> class retired_arrays {
public:
  /// The readers of the arrays use the domain `readers`.
  explicit retired_arrays(const domain_ref& readers) noexcept : readers_(readers) {}
  /// The caller holds it for each call below. Arrays are freed only under it, so a thread that holds it may read, without a pin, all
  /// arrays that can be reached from the root.
  mutable small_lock<Threads> lock;

  /// The root must have moved past `old` before the call, so that no pin of the epoch `retired_at` or later can reach it.
  void add(Array& old) noexcept {
    if constexpr (Threads::is_shared) old.retired_at = readers_->advance();
    old.next_retired = first_;
    first_ = &old;
    ++count_;
    bytes_ += old.pages.bytes;
  }

  /// Frees the arrays that no pin protects, at most `slice` bytes. A table for one thread calls it while it has no pin.
  void release(std::size_t slice) noexcept {
    if (first_ == nullptr) return;
    std::uint64_t oldest = ~std::uint64_t{0};
    if constexpr (Threads::is_shared) oldest = readers_->oldest();
    for (Array** from = &first_; *from != nullptr && slice != 0;) {
      Array* const gone = *from;
      if (oldest < gone->retired_at) {
        from = &gone->next_retired;
        continue;
      }
      const std::size_t before = gone->pages.bytes;
      memory::release(gone->pages, slice);
      slice -= before - gone->pages.bytes;
      bytes_ -= before - gone->pages.bytes;
      if (gone->pages.bytes != 0) return;
      *from = gone->next_retired;
      --count_;
      delete gone;
    }
  }

  /// Frees all arrays, at a table's end: no other thread uses the table, and no pin lives.
  void free_all() noexcept {
    while (first_ != nullptr) {
      Array* const next = first_->next_retired;
      free_array(first_);
      first_ = next;
    }
    count_ = 0;
    bytes_ = 0;
  }

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// The newest array; `next_retired` leads to the others. For traces.
  [[nodiscard]] const Array* newest() const noexcept { return first_; }

private:
  const domain_ref readers_;
  Array* first_ = nullptr;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0; // still mapped
};

} // namespace cubby::inline v0::detail
