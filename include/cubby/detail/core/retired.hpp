// SPDX-License-Identifier: Apache-2.0
// Arrays that a table's root has stepped past wait here until no pin is left that might have seen them. Then their pages
// go back to the kernel from the end, a slice at a call; what an array knows about itself goes with its last page.
// An array brings `pages`, and for this list alone `tag` and `next_retired`; it came from `new`.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/core/lock.hpp>
#include <cubby/detail/core/registry.hpp>
#include <cubby/detail/platform/memory.hpp>

namespace cubby::inline v0::detail {

/// Frees an array that nobody looks at any more.
template <class Array> void free_array(Array* gone) noexcept {
  memory::release(gone->pages);
  delete gone;
}

/// What one call gives back when somebody waits for it: unmapping 32 MB stalls an insert by 5 ms.
inline constexpr std::size_t release_slice = std::size_t{4} << 20;

template <class Array, class Threads> class retired_arrays {
public:
  /// Readers of the arrays are in `readers`.
  explicit retired_arrays(const domain_ref& readers) noexcept : readers_(readers) {}
  /// The caller holds it around every call below. Arrays are freed under it alone: a thread that holds it may look, without a pin,
  /// into all that the root leads to.
  mutable small_lock<Threads> lock;

  /// The root has stepped past `old` before the call: the tag is of an epoch in which nobody can begin to look at it.
  void add(Array& old) noexcept {
    if constexpr (Threads::is_shared) old.tag = readers_->advance();
    old.next_retired = first_;
    first_ = &old;
    ++count_;
    bytes_ += old.pages.bytes;
  }

  /// Frees the arrays whose time has come, at most `slice` bytes. A single-threaded table asks when it holds no pin.
  void release(std::size_t slice) noexcept {
    if (first_ == nullptr) return;
    std::uint64_t oldest = ~std::uint64_t{0};
    if constexpr (Threads::is_shared) oldest = readers_->oldest();
    for (Array** from = &first_; *from != nullptr && slice != 0;) {
      Array* const gone = *from;
      if (oldest < gone->tag) {
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

  /// Frees all of them, at a table's end: nobody else is there, and nobody holds a pin.
  void free_all() noexcept {
    while (first_ != nullptr) {
      Array* const next = first_->next_retired;
      free_array(first_);
      first_ = next;
    }
  }

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// The one that came last; `next_retired` leads on. For traces.
  [[nodiscard]] const Array* newest() const noexcept { return first_; }

private:
  const domain_ref readers_;
  Array* first_ = nullptr;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0; // that are still mapped
};

} // namespace cubby::inline v0::detail
