// SPDX-License-Identifier: Apache-2.0
// liburcu takes its bucket tables from mmap and offers no allocator to set. This definition takes the place of the
// C library's for the program and its shared libraries, and asks for huge pages where memory is mapped for writing.
#include "huge_mmap.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace bench {

namespace {
thread_local reservation last;
}

reservation take_reservation() noexcept { return std::exchange(last, {}); }

} // namespace bench

extern "C" void* mmap(void* address, std::size_t length, int protection, int flags, int file, off_t offset) noexcept {
  const long at = ::syscall(SYS_mmap, address, length, protection, flags, file, offset);
  if (at == -1) return MAP_FAILED;
  void* mapped = reinterpret_cast<void*>(at);
  if (protection == PROT_NONE && length >= (std::size_t{1} << 30)) bench::last = {mapped, length};
  if ((flags & MAP_ANONYMOUS) != 0 && (protection & PROT_WRITE) != 0 && (flags & MAP_STACK) == 0)
    ::madvise(mapped, length, MADV_HUGEPAGE);
  return mapped;
}
