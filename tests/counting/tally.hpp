// SPDX-License-Identifier: Apache-2.0
// Counts what one verb does at the seam: distinct 64-byte lines by whose memory they are, loads, stores, 8-byte and
// 16-byte read-modify-writes, and fences. It also counts lines that were not prefetched, and the memory that the verb asks
// for. Exact: every access to a shared word, every fence and every prefetch passes the seam, every allocation passes
// `operator new` or platform/memory.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/platform/sync.hpp>

static_assert(CUBBY_SYNC_HOOKS, "counting is for the binary that is built with hooks");

namespace cubby_counting {

/// What one call did. `lines` are of bins and their link buckets; the others are fixed: the same few for every key.
struct tally {
  unsigned lines = 0;         // bins and link buckets
  unsigned unasked = 0;       // of these, those that an access met which none of the last 512 prefetches had asked for
  unsigned table = 0;         // the table object: root, maintenance, the thread record's counter cell, a lock
  unsigned thread_record = 0; // the caller's record
  unsigned process =
      0; // words, not lines: the epoch clock, the list of thread records; the linker may put them on one line
  unsigned index = 0; // blocks of `operator new`, in pieces of 64 bytes: an index's own words (its successor, link
                      // buckets handed out), nodes of chains
  unsigned loads = 0;
  unsigned stores = 0;
  unsigned rmw8 = 0;
  unsigned rmw16 = 0;
  unsigned fences = 0;
  unsigned waits = 0; // turns given away; none where one thread is alone
  unsigned allocations = 0;
  unsigned mappings = 0;
};

/// A piece of memory, to tell addresses apart.
struct range {
  const std::byte* first = nullptr;
  std::size_t bytes = 0;
  [[nodiscard]] bool holds(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const auto begin = reinterpret_cast<std::uintptr_t>(first);
    return at >= begin && at - begin < bytes;
  }
};

/// From here on every access of this process is counted, until `stop`. Stack and plain (unshared) memory are not seen.
void start(range table, range thread_record, range clock = {});
tally stop();

} // namespace cubby_counting
