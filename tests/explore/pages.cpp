// SPDX-License-Identifier: Apache-2.0
// The linker sends the binary's own calls of mmap and munmap here (--wrap).
#include "explore/pages.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <sys/mman.h>

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the names are the linker's
extern "C" {
void* __real_mmap(void* address, std::size_t bytes, int protection, int flags, int file, off_t offset);
int __real_munmap(void* address, std::size_t bytes);
void* __wrap_mmap(void* address, std::size_t bytes, int protection, int flags, int file, off_t offset);
int __wrap_munmap(void* address, std::size_t bytes);
}

namespace cubby_test {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t most_pages = 16; // of one mapping
constexpr std::size_t pool_bytes = std::size_t{64} << 20;

struct piece {
  std::byte* at;
  std::size_t pages;
};

/// Used by one thread of the system; lists by size, so that each piece keeps its own.
class page_pool {
public:
  static page_pool& instance() {
    static auto* const only = new page_pool;
    return *only;
  }
  void* take(std::size_t pages) {
    auto& list = free_[pages];
    if (!list.empty()) {
      std::byte* const at = list.back();
      list.pop_back();
      std::memset(at, 0, pages * page);
      return at;
    }
    if (used_ + pages * page > pool_bytes) return nullptr;
    std::byte* const at = base_ + used_;
    used_ += pages * page;
    return at;
  }
  [[nodiscard]] bool owns(const void* address) const {
    const auto* const at = static_cast<const std::byte*>(address);
    return at >= base_ && at < base_ + pool_bytes;
  }
  void give(void* address, std::size_t pages) {
    auto* const at = static_cast<std::byte*>(address);
    if (!guarding) return free_[pages].push_back(at);
    if (mprotect(at, pages * page, PROT_NONE) != 0) std::abort();
    guarded_.push_back({at, pages});
  }
  void reuse() {
    for (const piece& p : guarded_) {
      if (mprotect(p.at, p.pages * page, PROT_READ | PROT_WRITE) != 0) std::abort();
      free_[p.pages].push_back(p.at);
    }
    guarded_.clear();
  }
  bool guarding = false;

private:
  page_pool()
      : base_(static_cast<std::byte*>(__real_mmap(nullptr, pool_bytes, PROT_READ | PROT_WRITE,
                                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    if (base_ == MAP_FAILED) std::abort();
  }
  std::byte* base_;
  std::size_t used_ = 0;
  std::vector<std::byte*> free_[most_pages + 1];
  std::vector<piece> guarded_;
};

std::size_t pages_in(std::size_t bytes) { return (bytes + page - 1) / page; }

} // namespace

void guard_unmapped_pages() { page_pool::instance().guarding = true; }
void reuse_unmapped_pages() {
  page_pool::instance().guarding = false;
  page_pool::instance().reuse();
}

} // namespace cubby_test

extern "C" {
void* __wrap_mmap(void* address, std::size_t bytes, int protection, int flags, int file, off_t offset) {
  const std::size_t pages = cubby_test::pages_in(bytes);
  const bool plain = address == nullptr && (flags & MAP_ANONYMOUS) != 0 && (flags & MAP_STACK) == 0;
  if (plain && pages <= cubby_test::most_pages) {
    if (void* const got = cubby_test::page_pool::instance().take(pages)) return got;
  }
  return __real_mmap(address, bytes, protection, flags, file, offset);
}
int __wrap_munmap(void* address, std::size_t bytes) {
  auto& pool = cubby_test::page_pool::instance();
  if (!pool.owns(address)) return __real_munmap(address, bytes);
  pool.give(address, cubby_test::pages_in(bytes));
  return 0;
}
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
