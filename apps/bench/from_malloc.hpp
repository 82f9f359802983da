// SPDX-License-Identifier: Apache-2.0
// An allocator over malloc. With std::allocator a table has its records in blocks of its own, with any other one in that one's memory.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace bench {

template <class T> struct from_malloc {
  using value_type = T;
  static_assert(alignof(T) <= alignof(std::max_align_t));

  from_malloc() = default;
  template <class U> from_malloc(const from_malloc<U>&) noexcept {}

  T* allocate(std::size_t n) {
    void* const got = std::malloc(n * sizeof(T));
    if (got == nullptr) throw std::bad_alloc();
    return static_cast<T*>(got);
  }
  void deallocate(T* p, std::size_t) noexcept { std::free(p); }

  template <class U> bool operator==(const from_malloc<U>&) const noexcept { return true; }
};

} // namespace bench
