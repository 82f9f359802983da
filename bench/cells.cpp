// SPDX-License-Identifier: Apache-2.0
// Each thread takes cells from a huge page of its own, then those that it has freed itself.
#include "cells.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

#include <sys/mman.h>

namespace bench {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t reserved = std::size_t{64} << 30; // of address space; pages come with the first write

std::atomic<bool> from_malloc{false};
std::atomic<std::size_t> pages_taken{0};

char* base() noexcept {
  static char* const start = []() -> char* {
    void* const at = ::mmap(nullptr, reserved + huge_page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return nullptr;
    const auto aligned = (reinterpret_cast<std::uintptr_t>(at) + huge_page - 1) / huge_page * huge_page;
    ::madvise(reinterpret_cast<void*>(aligned), reserved, MADV_HUGEPAGE);
    return reinterpret_cast<char*>(aligned);
  }();
  return start;
}

struct cell {
  cell* next;
};
struct supply {
  char* at = nullptr;
  char* end = nullptr;
  cell* freed = nullptr;
};
thread_local supply mine;

void* take_cell() noexcept {
  if (cell* const again = mine.freed) {
    mine.freed = again->next;
    return again;
  }
  if (mine.at == mine.end) {
    const std::size_t page = pages_taken.fetch_add(1);
    if (base() == nullptr || page >= reserved / huge_page) return nullptr;
    mine.at = base() + page * huge_page;
    mine.end = mine.at + huge_page;
  }
  char* const got = mine.at;
  mine.at += cell_bytes;
  return got;
}

bool is_cell(const void* p) noexcept {
  const auto* const at = static_cast<const char*>(p);
  return base() != nullptr && at >= base() && at < base() + reserved;
}

void* take(std::size_t bytes) noexcept {
  const bool small = bytes <= cell_bytes && !from_malloc.load(std::memory_order_relaxed); // either answer is right
  return small ? take_cell() : std::malloc(bytes == 0 ? 1 : bytes);
}

void give(void* p) noexcept {
  if (p == nullptr || !is_cell(p)) {
    std::free(p);
    return;
  }
  mine.freed = ::new (p) cell{mine.freed};
}

} // namespace

void use_malloc() noexcept { from_malloc = true; }

} // namespace bench

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return bench::take(bytes); }
void* operator new(std::size_t bytes) {
  void* const got = bench::take(bytes);
  if (got == nullptr) throw std::bad_alloc();
  return got;
}
void operator delete(void* p) noexcept { bench::give(p); }
void operator delete(void* p, std::size_t) noexcept { bench::give(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { bench::give(p); }
