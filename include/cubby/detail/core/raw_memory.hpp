// SPDX-License-Identifier: Apache-2.0
// Raw memory from operator new, at any alignment. The answer is null if there is none, with or without exceptions.
#pragma once

#include <cstddef>
#include <new>

#include <cubby/detail/platform/cpu.hpp>

namespace cubby::inline v0::detail {

/// Space for `count` objects of T, or null.
template <class T> [[nodiscard]] T* take_raw(std::size_t count) noexcept {
  if (count > static_cast<std::size_t>(-1) / sizeof(T)) return nullptr;
  if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t{alignof(T)}, std::nothrow));
  } else {
    return static_cast<T*>(::operator new(count * sizeof(T), std::nothrow));
  }
}
template <class T> void give_raw(T* space) noexcept {
  if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
    ::operator delete(space, std::align_val_t{alignof(T)});
  } else {
    ::operator delete(space);
  }
}

} // namespace cubby::inline v0::detail
