// SPDX-License-Identifier: Apache-2.0
// The arenas: size classes, the thread-local lists behind them, and the mappings they are carved from.
#include "arena.hpp"

#include <array>
#include <bit>
#include <sys/mman.h>

namespace bench {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t chunk_bytes = 16 * huge_page;
// From here on a block is a mapping of its own: it can be unmapped when a growing table drops it.
constexpr std::size_t large = std::size_t{512} << 10;
constexpr std::size_t small_limit = 1024;
constexpr std::size_t small_classes = small_limit / 16;
constexpr std::size_t classes = small_classes + 64 * 4;

struct size_class {
  std::size_t index;
  std::size_t bytes;
};

// Steps of 16 bytes for small blocks; above, and for stricter alignment, four steps per doubling, all multiples of 64.
size_class class_of(std::size_t bytes, std::size_t alignment) noexcept {
  if (bytes <= small_limit && alignment <= 16) {
    std::size_t rounded = (bytes + 15) / 16 * 16;
    if (rounded == 0) rounded = 16;
    return {rounded / 16 - 1, rounded};
  }
  bytes = (bytes + 63) / 64 * 64;
  const auto width = static_cast<std::size_t>(std::bit_width((bytes - 1) | 1));
  const std::size_t base = std::size_t{1} << (width - 1);
  const std::size_t step = base / 4;
  const std::size_t quarter = (bytes - 1 - base) / step;
  return {small_classes + width * 4 + quarter, base + (quarter + 1) * step};
}

struct free_block {
  free_block* next;
};

} // namespace

struct arena::cache {
  std::uint64_t generation = 0;
  std::byte* next = nullptr;
  std::byte* end = nullptr;
  std::array<free_block*, classes> lists{};
};

void* map_huge(std::size_t bytes) {
  const std::size_t wanted = (bytes + 4095) / 4096 * 4096;
  void* raw =
      ::mmap(nullptr, wanted + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) throw std::bad_alloc();
  const auto start = reinterpret_cast<std::uintptr_t>(raw);
  const std::uintptr_t aligned = (start + huge_page - 1) / huge_page * huge_page;
  if (aligned != start) ::munmap(raw, aligned - start);
  const std::size_t tail = start + huge_page - aligned;
  if (tail != 0) ::munmap(reinterpret_cast<void*>(aligned + wanted), tail);
  ::madvise(reinterpret_cast<void*>(aligned), wanted, MADV_HUGEPAGE);
  return reinterpret_cast<void*>(aligned);
}

void unmap(void* start, std::size_t bytes) noexcept { ::munmap(start, (bytes + 4095) / 4096 * 4096); }

arena& arena::of(std::size_t index) noexcept {
  static std::array<arena, arena_count> all;
  return all[index];
}

arena::cache& arena::mine() noexcept {
  thread_local std::array<cache, arena_count> caches;
  cache& c = caches[static_cast<std::size_t>(this - &of(0))];
  // A release has unmapped what this thread still lists: forget it.
  if (c.generation != generation_) {
    c = cache{};
    c.generation = generation_;
  }
  return c;
}

void* arena::map_chunk(std::size_t bytes) {
  void* start = map_huge(bytes);
  const std::lock_guard<std::mutex> hold(mutex_);
  chunks_.push_back({start, bytes});
  return start;
}

void* arena::carve(cache& c, std::size_t bytes) {
  if (bytes % 64 == 0) {
    const auto at = reinterpret_cast<std::uintptr_t>(c.next);
    c.next += (64 - at % 64) % 64;
  }
  if (c.next == nullptr || c.end < c.next || static_cast<std::size_t>(c.end - c.next) < bytes) {
    c.next = static_cast<std::byte*>(map_chunk(chunk_bytes));
    c.end = c.next + chunk_bytes;
  }
  void* block = c.next;
  c.next += bytes;
  return block;
}

void* arena::allocate(std::size_t bytes, std::size_t alignment) {
  if (bytes >= large) return map_huge(bytes);
  const size_class cls = class_of(bytes, alignment);
  cache& c = mine();
  if (free_block* block = c.lists[cls.index]) {
    c.lists[cls.index] = block->next;
    return block;
  }
  return carve(c, cls.bytes);
}

void arena::deallocate(void* block, std::size_t bytes, std::size_t alignment) noexcept {
  if (block == nullptr) return;
  if (bytes >= large) {
    unmap(block, bytes);
    return;
  }
  cache& c = mine();
  const size_class cls = class_of(bytes, alignment);
  c.lists[cls.index] = ::new (block) free_block{c.lists[cls.index]};
}

void arena::release() noexcept {
  const std::lock_guard<std::mutex> hold(mutex_);
  for (const mapping& m : chunks_) unmap(m.start, m.bytes);
  chunks_.clear();
  ++generation_;
}

} // namespace bench
