// SPDX-License-Identifier: Apache-2.0
// Shares out numbered units of work, such as the buckets of a scan, among threads.
#pragma once

#include <cstdint>

#include <cubby/detail/platform/sync.hpp>

namespace cubby::inline v0::detail {

template <class Threads> class scan_cursor {
public:
  /// Calls `show(first, count)` for units that no other thread has taken, until all `total` are taken.
  template <class Show> void share_out(std::uint64_t total, std::uint64_t at_a_time, Show show) {
    for (;;) {
      const std::uint64_t first = next_.fetch_add(at_a_time, sync::relaxed); // relaxed: shares out numbers
      if (first >= total) return;
      show(first, at_a_time < total - first ? at_a_time : total - first);
    }
  }
  /// Nothing more is taken.
  void end() noexcept {
    next_.store(~std::uint64_t{0} >> 1, sync::relaxed); // relaxed: only a request to stop early
  }

private:
  sync::word<std::uint64_t, Threads> next_; // the first unit that no thread has taken
};

} // namespace cubby::inline v0::detail
