// SPDX-License-Identifier: Apache-2.0
// The global allocation functions of the binary with hooks; see failing_memory.hpp.
#include "support/failing_memory.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <cubby/platform/memory.hpp>

#include "support/random.hpp"

static_assert(CUBBY_SYNC_HOOKS, "index memory fails on command only in builds with hooks");

namespace {

struct plan {
  std::uint64_t countdown = 0; // 0: nothing is to fail
  bool struck = false;
};

plan& mine() {
  static thread_local plan p;
  return p;
}

std::atomic<std::int64_t> living{0};

bool refuse() {
  plan& p = mine();
  if (p.countdown == 0) return false;
  if (p.countdown > 1) {
    --p.countdown;
    return false;
  }
  p.struck = true;
  p.countdown = 0;
  return true;
}

std::atomic<cubby_test::index_memory> supply{cubby_test::index_memory::plenty};
std::atomic<std::uint64_t> lottery{0};

bool refuse_index(std::size_t) {
  const auto now = supply.load();
  if (now == cubby_test::index_memory::none) return true;
  if (now == cubby_test::index_memory::scarce && cubby_test::splitmix(lottery.fetch_add(1)) % 3 != 0) return true;
  return refuse();
}

// Once, before any thread: the function itself is not an atomic word.
[[maybe_unused]] const bool installed = (cubby::memory::install_failure(&refuse_index), true);

void* take(std::size_t size, std::size_t alignment) {
  if (refuse()) return nullptr;
  if (size == 0) size = 1;
  void* const p = alignment <= alignof(std::max_align_t)
                      ? std::malloc(size)
                      : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (p != nullptr) living.fetch_add(1);
  return p;
}

void* take_or_throw(std::size_t size, std::size_t alignment) {
  void* const p = take(size, alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

void give(void* p) {
  if (p == nullptr) return;
  living.fetch_sub(1);
  std::free(p);
}

} // namespace

namespace cubby_test {

memory_failure::memory_failure(std::uint64_t number) { mine() = {number, false}; }
memory_failure::~memory_failure() { mine() = {}; }
bool memory_failure::struck() const { return mine().struck; }
void set_index_memory(index_memory now) { supply.store(now); }
std::int64_t living_blocks() { return living.load(); }

} // namespace cubby_test

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
