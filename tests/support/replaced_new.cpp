// SPDX-License-Identifier: Apache-2.0
// The global allocation functions, all of them, over malloc and three functions of the binary's own.
#include "support/replaced_new.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

void* take(std::size_t size, std::size_t alignment) {
  if (cubby_test::refuse_block()) return nullptr;
  const std::size_t bytes = (std::max<std::size_t>(size, 1) + alignment - 1) / alignment * alignment;
  void* const at = alignment <= alignof(std::max_align_t) ? std::malloc(bytes) : std::aligned_alloc(alignment, bytes);
  if (at != nullptr) cubby_test::block_taken(at, bytes);
  return at;
}

void* take_or_throw(std::size_t size, std::size_t alignment) {
  void* const at = take(size, alignment);
  if (at == nullptr) throw std::bad_alloc();
  return at;
}

void give(void* at) {
  if (at == nullptr) return;
  cubby_test::block_given(at);
  std::free(at);
}

} // namespace

void* operator new(std::size_t size) { return take_or_throw(size, 1); }
void* operator new[](std::size_t size) { return take_or_throw(size, 1); }
void* operator new(std::size_t size, std::align_val_t a) { return take_or_throw(size, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t size, std::align_val_t a) { return take_or_throw(size, static_cast<std::size_t>(a)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return take(size, 1); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return take(size, 1); }
void* operator new(std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return take(size, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return take(size, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { give(p); }
void operator delete[](void* p) noexcept { give(p); }
void operator delete(void* p, std::size_t) noexcept { give(p); }
void operator delete[](void* p, std::size_t) noexcept { give(p); }
void operator delete(void* p, std::align_val_t) noexcept { give(p); }
void operator delete[](void* p, std::align_val_t) noexcept { give(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { give(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { give(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { give(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { give(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { give(p); }
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept { give(p); }
