// SPDX-License-Identifier: Apache-2.0
// The unit of --memory.
#pragma once

#include <cstdint>

namespace kmer {

inline constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

} // namespace kmer
