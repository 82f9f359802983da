// SPDX-License-Identifier: Apache-2.0
// The program's own `mmap` (see the .cpp file) remembers large reservations of address space, so that the bucket
// table of an lfht can be given back without emptying the table first.
#pragma once

#include <cstddef>

namespace bench {

struct reservation {
  void* start = nullptr;
  std::size_t bytes = 0;
};

// The last mapping without access rights of 1 GiB or more that was made by this thread; forgets it.
reservation take_reservation() noexcept;

} // namespace bench
