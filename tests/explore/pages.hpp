// SPDX-License-Identifier: Apache-2.0
// The memory of indexes in the explorer's binary. Small mappings come from a pool, because a run of some microseconds
// would spend most of its time in the kernel. What is unmapped while threads run is made untouchable until the run has
// ended, and its address is not used again before. So a late look at it always crashes, and crash.hpp names the
// schedule.
#pragma once

namespace cubby_test {

/// From here on what is unmapped becomes untouchable.
void guard_unmapped_pages();
/// Takes those pages back into the pool.
void reuse_unmapped_pages();

} // namespace cubby_test
