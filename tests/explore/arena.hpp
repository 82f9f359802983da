// SPDX-License-Identifier: Apache-2.0
// Where the records of an explored table live. What is freed is overwritten and kept until the run has ended. So a look
// at it finds nonsense in every build and not only under AddressSanitizer, and a second free is seen.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

namespace cubby_test {

class arena {
public:
  arena() = default;
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;
  ~arena() {
    for (block* b : blocks_) std::free(b);
  }
  void* take(std::size_t bytes) {
    auto* const b = static_cast<block*>(std::malloc(sizeof(block) + bytes));
    if (b == nullptr) throw std::bad_alloc();
    b->bytes = bytes;
    b->freed = false;
    blocks_.push_back(b);
    return b + 1;
  }
  void give(void* at) {
    block* const b = static_cast<block*>(at) - 1;
    twice_ |= b->freed;
    b->freed = true;
    std::memset(at, nonsense, b->bytes);
  }
  /// Empty when every block was freed once and none was written to afterwards. The table must have gone.
  [[nodiscard]] std::string account() const {
    if (twice_) return "a record was freed twice";
    for (const block* b : blocks_) {
      if (!b->freed) return "a record was never freed";
      const auto* const bytes = reinterpret_cast<const unsigned char*>(b + 1);
      for (std::size_t i = 0; i < b->bytes; ++i) {
        if (bytes[i] != nonsense) return "a record was written to after it had been freed";
      }
    }
    return {};
  }

private:
  static constexpr unsigned char nonsense = 0xdd;
  struct alignas(std::max_align_t) block {
    std::size_t bytes;
    bool freed;
  };
  std::vector<block*> blocks_;
  bool twice_ = false;
};

/// The allocator of a map's records over an arena.
template <class T>
struct arena_allocator {
  using value_type = T;
  arena* home = nullptr;
  explicit arena_allocator(arena* from) noexcept : home(from) {}
  template <class U>
  explicit arena_allocator(const arena_allocator<U>& other) noexcept : home(other.home) {}
  T* allocate(std::size_t count) { return static_cast<T*>(home->take(count * sizeof(T))); }
  void deallocate(T* at, std::size_t) noexcept { home->give(at); }
  template <class U>
  bool operator==(const arena_allocator<U>& other) const noexcept {
    return home == other.home;
  }
};

} // namespace cubby_test
