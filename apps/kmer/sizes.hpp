// SPDX-License-Identifier: Apache-2.0
// The unit of --memory.
#pragma once

#include <cstdint>

namespace kmer {

inline constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

// As few as hold so many bytes.
constexpr std::uint64_t mebibytes_for(std::uint64_t bytes) { return (bytes + mebibyte - 1) / mebibyte; }

} // namespace kmer
