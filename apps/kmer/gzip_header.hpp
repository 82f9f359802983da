// SPDX-License-Identifier: Apache-2.0
// The header of a gzip member as RFC 1952 has it: fields of any length, taken byte by byte, so that it may be split at any byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kmer {

class gzip_header {
public:
  enum class answer { more, complete, no_gzip, unknown, wrong_sum };

  // Takes the next byte. `more`: the header goes on; anything else is the last answer.
  answer take(std::uint8_t byte);
  // Whether a field says that the member is a block of bgzf.
  bool is_bgzf() const { return block_bytes_ != 0; }
  // The bytes of that block, header included.
  std::size_t block_bytes() const { return block_bytes_; }

private:
  enum class part { fixed, extra_size, extra, name, comment, sum, none };

  answer take_fixed(std::uint8_t byte);
  void take_extra(std::uint8_t byte);
  answer enter(part next);
  bool has(std::uint8_t flag) const { return (flags_ & flag) != 0; }

  part part_ = part::fixed;
  std::size_t at_ = 0; // in the part
  std::uint8_t flags_ = 0;
  std::size_t extra_bytes_ = 0;
  std::array<std::uint8_t, 6> field_{}; // of the extra field: two letters, a length and two bytes
  std::size_t field_at_ = 0;
  std::size_t block_bytes_ = 0;
  std::uint32_t crc_ = 0;
  std::uint32_t said_ = 0;
};

// Whether these bytes begin with a block of bgzf.
bool begins_with_bgzf(std::string_view bytes);

} // namespace kmer
