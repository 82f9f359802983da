// SPDX-License-Identifier: Apache-2.0
// A first-in, first-out queue of pending requests in a fixed array, for one thread (DRAMHiT section 3.1). Adding and removing an
// element move an index and allocate nothing. Unused slots hold no object.
#pragma once

#include <bit>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include <cubby/detail/core/raw_memory.hpp>
#include <cubby/detail/platform/fail.hpp>

namespace cubby::inline v0::detail {

/// Space for at least `capacity` elements of T, whose destructor must not throw. `ok` is false if there was no memory.
template <class T> class ring {
public:
  explicit ring(std::size_t capacity) {
    constexpr std::size_t most = ~(~std::size_t{0} >> 1); // the largest power of two
    if (capacity <= most) mask_ = std::bit_ceil(capacity < 1 ? std::size_t{1} : capacity) - 1;
    if (capacity <= most) at_ = detail::take_raw<T>(mask_ + 1);
    if (at_ == nullptr) fail::with_no_memory();
  }
  ~ring() {
    while (!empty()) drop();
    if (at_ != nullptr) detail::give_raw(at_);
  }
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;

  [[nodiscard]] bool ok() const noexcept { return at_ != nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return in_ - out_; }
  [[nodiscard]] bool empty() const noexcept { return in_ == out_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return mask_ + 1; }

  /// Adds an element at the end. If its constructor throws, the queue stays as it was. Only while size() < capacity().
  template <class... A> T& put(A&&... args) {
    T* const made = ::new (static_cast<void*>(at_ + (in_ & mask_))) T{std::forward<A>(args)...};
    ++in_;
    return *made;
  }
  /// Elements are numbered in the order in which they come. Those from `first_number` up to, not including, `end_number` are here.
  [[nodiscard]] std::size_t first_number() const noexcept { return out_; }
  [[nodiscard]] std::size_t end_number() const noexcept { return in_; }
  [[nodiscard]] T& numbered(std::size_t n) noexcept { return at_[n & mask_]; }
  /// The element that has waited longest.
  [[nodiscard]] T& oldest() noexcept { return at_[out_ & mask_]; }
  void drop() noexcept {
    oldest().~T();
    ++out_;
  }
  /// Moves the oldest element to the end of the queue.
  void requeue() noexcept
    requires std::is_nothrow_move_constructible_v<T>
  {
    if (size() == capacity()) { // its slot is the end, too
      ++in_;
      ++out_;
    } else {
      put(std::move(oldest()));
      drop();
    }
  }

private:
  std::size_t mask_ = 0;
  T* at_ = nullptr;
  std::size_t in_ = 0;
  std::size_t out_ = 0;
};

} // namespace cubby::inline v0::detail
