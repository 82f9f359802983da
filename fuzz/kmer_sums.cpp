// SPDX-License-Identifier: Apache-2.0
// gzip around DEFLATE streams: a fuzzer that had to guess a CRC would not get past the first member.
#include "kmers.hpp"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

namespace cubby_fuzz {

namespace {

constexpr std::size_t most_unpacked = std::size_t{1} << 20;
constexpr unsigned most_members = 4;

void put_number(std::string& to, std::uint32_t value) {
  for (unsigned shift = 0; shift < 32; shift += 8) to.push_back(static_cast<char>(value >> shift));
}

void put_half(std::string& to, std::uint32_t value) {
  to.push_back(static_cast<char>(value));
  to.push_back(static_cast<char>(value >> 8));
}

// Half of the headers are the shortest there is, one in four that of a bgzf block, one in four has a name and a sum.
std::string header_before(std::size_t stream_bytes) {
  constexpr std::string_view plain("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  std::string header(plain);
  if (stream_bytes % 4 == 1) {
    header[3] = 4;
    header.append("\6\0BC\2\0", 6);
    put_half(header, static_cast<std::uint32_t>(header.size() + 2 + stream_bytes + 8 - 1));
  } else if (stream_bytes % 4 == 2) {
    header[3] = 2 | 8;
    header.append("name", 5);
    put_half(header, ::crc32_gzip_refl(0, reinterpret_cast<const std::uint8_t*>(header.data()), header.size()));
  }
  return header;
}

// Appends the member; how many bytes its stream has, 0 where there is none.
std::size_t put_member(std::string_view stream, std::string& to) {
  static std::string space(most_unpacked, '\0');
  static inflate_state state;
  ::isal_inflate_init(&state);
  state.crc_flag = ISAL_DEFLATE;
  // ISA-L reads and does not write here.
  state.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(stream.data()));
  state.avail_in = static_cast<std::uint32_t>(stream.size());
  state.next_out = reinterpret_cast<std::uint8_t*>(space.data());
  state.avail_out = static_cast<std::uint32_t>(space.size());
  if (::isal_inflate(&state) != ISAL_DECOMP_OK || state.block_state != ISAL_BLOCK_FINISH) return 0;
  const std::size_t used = stream.size() - state.avail_in;
  to.append(header_before(used)).append(stream.substr(0, used));
  put_number(to, ::crc32_gzip_refl(0, reinterpret_cast<const std::uint8_t*>(space.data()), state.total_out));
  put_number(to, state.total_out);
  return used;
}

} // namespace

std::string with_gzip_sums(const std::string& bytes) {
  std::string made;
  std::string_view rest = bytes;
  for (unsigned members = 0; members < most_members && !rest.empty(); ++members) {
    const std::size_t used = put_member(rest, made);
    if (used == 0) break;
    rest.remove_prefix(used);
  }
  return made.append(rest);
}

} // namespace cubby_fuzz
