// SPDX-License-Identifier: Apache-2.0
// The one allocator that every engine of a run gets: small blocks from thread-local free lists, large ones straight
// from the system, all of it advised to be huge pages. One arena per engine, so that the memory of a table can be
// given back as a whole when the table is gone and the next one starts from nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "workload.hpp"

namespace bench {

inline constexpr std::size_t arena_count = engine_count;

class arena {
public:
  arena() = default;
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;
  ~arena() { release(); }

  void* allocate(std::size_t bytes, std::size_t alignment);
  void deallocate(void* block, std::size_t bytes, std::size_t alignment) noexcept;
  // Unmaps everything. Only when no block is in use any more.
  void release() noexcept;

  static arena& of(std::size_t index) noexcept;

private:
  struct mapping {
    void* start;
    std::size_t bytes;
  };
  struct cache;

  cache& mine() noexcept;
  void* carve(cache& c, std::size_t bytes);
  void* map_chunk(std::size_t bytes);

  std::mutex mutex_;
  std::vector<mapping> chunks_;
  std::uint64_t generation_ = 1;
};

// Maps zeroed memory, aligned to 2 MiB, advised as huge pages; throws std::bad_alloc.
void* map_huge(std::size_t bytes);
void unmap(void* start, std::size_t bytes) noexcept;

template <class T, std::size_t Index> struct arena_allocator {
  using value_type = T;
  template <class U> struct rebind {
    using other = arena_allocator<U, Index>;
  };

  arena_allocator() = default;
  template <class U> arena_allocator(const arena_allocator<U, Index>&) noexcept {}

  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_alloc();
    return static_cast<T*>(arena::of(Index).allocate(n * sizeof(T), alignof(T)));
  }
  void deallocate(T* p, std::size_t n) noexcept { arena::of(Index).deallocate(p, n * sizeof(T), alignof(T)); }

  template <class U> bool operator==(const arena_allocator<U, Index>&) const noexcept { return true; }
};

// A key as a table keeps it: the bytes of a text come from the table's arena, too.
template <class K, std::size_t Index> struct arena_key {
  using type = K;
};
template <std::size_t Index> struct arena_key<std::string, Index> {
  using type = std::basic_string<char, std::char_traits<char>, arena_allocator<char, Index>>;
};
template <class K, std::size_t Index> using stored_in_arena = typename arena_key<K, Index>::type;

} // namespace bench
