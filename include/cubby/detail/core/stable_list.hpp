// SPDX-License-Identifier: Apache-2.0
// A list that grows, and of which no element moves. One thread adds at a time; others may read what was there before.
#pragma once

#include <bit>
#include <cstddef>
#include <new>

#include <cubby/detail/platform/sync.hpp>

namespace cubby::inline v0::detail {

template <class T> class stable_list {
public:
  stable_list() = default;
  ~stable_list() {
    for (T* part : parts_) delete[] part;
  }
  stable_list(const stable_list&) = delete;
  stable_list& operator=(const stable_list&) = delete;

  /// The number of elements that may be read.
  [[nodiscard]] std::size_t size() const noexcept {
    return size_.load(sync::acquire); // [list-size] acquire: pairs with [grow-list]
  }
  [[nodiscard]] T& operator[](std::size_t i) const noexcept {
    const auto part = static_cast<unsigned>(std::bit_width(i / first));
    return parts_[part][part == 0 ? i : i - (first << (part - 1))];
  }
  /// The last element for which it is true, or the first one if there is none; null in an empty list. It must be false behind an element
  /// for which it is false. Logarithmic.
  template <class Predicate> [[nodiscard]] T* last_where(Predicate is) const noexcept {
    const std::size_t count = size();
    return count == 0 ? nullptr : &(*this)[last_below(count, is)];
  }
  /// The same of a list that is not empty.
  template <class Predicate> [[nodiscard]] T& last_of(Predicate is) const noexcept {
    return (*this)[last_below(size(), is)];
  }
  /// Null: no memory. The element can be read by others after `publish`.
  T* next() noexcept {
    const std::size_t i = size_.load(sync::relaxed); // relaxed: one thread adds at a time
    const auto part = static_cast<unsigned>(std::bit_width(i / first));
    if (part == most_parts) return nullptr;
    if (parts_[part] == nullptr) parts_[part] = new (std::nothrow) T[first << (part == 0 ? 0 : part - 1)];
    return parts_[part] == nullptr ? nullptr : &(*this)[i];
  }
  void publish() noexcept {
    // relaxed: as above
    // [grow-list] release: pairs with [list-size]
    size_.store(size_.load(sync::relaxed) + 1, sync::release);
  }

private:
  template <class Predicate> std::size_t last_below(std::size_t high, Predicate& is) const noexcept {
    std::size_t low = 0;
    while (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      if (is((*this)[middle])) low = middle;
      else high = middle;
    }
    return low;
  }
  static constexpr std::size_t first = 64;
  static constexpr unsigned most_parts = 32;
  T* parts_[most_parts] = {};
  sync::word<std::size_t> size_;
};

} // namespace cubby::inline v0::detail
