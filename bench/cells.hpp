// SPDX-License-Identifier: Apache-2.0
// The program's operator new (see the .cpp file) places what is as small as a node in cells of 32 bytes in huge pages. So
// tables whose nodes come from there are measured under the same conditions.
#pragma once

#include <cstddef>

namespace bench {

inline constexpr std::size_t cell_bytes = 32;

/// From now on small objects come from malloc, as they would without this file.
void use_malloc() noexcept;

} // namespace bench
