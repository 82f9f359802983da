// SPDX-License-Identifier: Apache-2.0
// How many entries of `in_place_map`s a thread holds.
#pragma once

namespace cubby::inline v0::detail {

/// Of the calling thread, nested holds included. While it is not 0, the thread destroys nothing that was retired: the destructor of another
/// value may ask for an entry that this thread holds, and would wait for itself.
inline unsigned& entries_held() noexcept {
  static constinit thread_local unsigned count = 0;
  return count;
}

} // namespace cubby::inline v0::detail
