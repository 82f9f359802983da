// SPDX-License-Identifier: Apache-2.0
// A queue of pending requests, first in, first out, in a fixed array that its one thread owns (DRAMHiT section 3.1):
// putting one in and taking one out move an index, and allocate nothing.
#pragma once

#include <bit>
#include <cstddef>
#include <memory>
#include <utility>

#include <cubby/platform/fail.hpp>

namespace cubby::inline v0 {

/// At least `capacity` elements of T, which is default constructible and movable. Not `ok` without memory.
template <class T> class ring {
public:
  explicit ring(std::size_t capacity)
      : mask_(std::bit_ceil(capacity < 1 ? std::size_t{1} : capacity) - 1), at_(new(std::nothrow) T[mask_ + 1]) {
    if (at_ == nullptr) fail::with_no_memory();
  }

  [[nodiscard]] bool ok() const noexcept { return at_ != nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return in_ - out_; }
  [[nodiscard]] bool empty() const noexcept { return in_ == out_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return mask_ + 1; }

  /// The place of the element that comes next; it is in the queue when `put` is called. Only while size() < capacity().
  [[nodiscard]] T& place() noexcept { return at_[in_ & mask_]; }
  void put() noexcept { ++in_; }
  /// The element that has waited longest.
  [[nodiscard]] T& oldest() noexcept { return at_[out_ & mask_]; }
  void drop() noexcept { ++out_; }
  /// Sends the oldest to the end of the queue.
  void requeue() noexcept {
    if ((in_ & mask_) != (out_ & mask_)) place() = std::move(oldest());
    put();
    drop();
  }

private:
  std::size_t mask_;
  std::unique_ptr<T[]> at_;
  std::size_t in_ = 0;
  std::size_t out_ = 0;
};

} // namespace cubby::inline v0
