// SPDX-License-Identifier: Apache-2.0
// The sizes of blocks of records, in a durable file (docs/format.md, Extents) and in memory.
#pragma once

#include <bit>
#include <cstdint>

namespace cubby::inline v0::detail {

/// Sizes of blocks: 32 to 128 in steps of 16, then four for each doubling, up to 2^31.
namespace block_size {
inline constexpr unsigned linear = 7;
inline constexpr unsigned count = linear + 24 * 4;
constexpr std::uint64_t of(unsigned number) noexcept {
  if (number < linear) return 32 + 16 * std::uint64_t{number};
  const unsigned step = number - linear;
  return (std::uint64_t{5 + step % 4} << (step / 4)) * 32;
}
/// The smallest that holds so many bytes; `count` if none does.
constexpr unsigned number_for(std::uint64_t bytes) noexcept {
  if (bytes <= 128) return bytes <= 32 ? 0 : static_cast<unsigned>((bytes - 32 + 15) / 16);
  if (bytes > of(count - 1)) return count;
  const unsigned doubling = static_cast<unsigned>(std::bit_width((bytes - 1) / 128)) - 1;
  const std::uint64_t quarter = std::uint64_t{32} << doubling;
  return linear + doubling * 4 + static_cast<unsigned>((bytes + quarter - 1) / quarter) - 5;
}
/// Whether the argument of an extent of records is one of them.
constexpr bool is_one(std::uint64_t bytes) noexcept {
  return bytes >= of(0) && number_for(bytes) != count && of(number_for(bytes)) == bytes;
}
static_assert(of(0) == 32 && of(6) == 128 && of(7) == 160 && of(10) == 256 && of(11) == 320);
static_assert(number_for(33) == 1 && number_for(128) == 6 && number_for(129) == 7 && number_for(160) == 7 &&
              number_for(161) == 8 && number_for(256) == 10 && number_for(257) == 11);
static_assert(is_one(32) && is_one(160) && is_one(of(count - 1)) && !is_one(0) && !is_one(33) && !is_one(144));
} // namespace block_size

} // namespace cubby::inline v0::detail
