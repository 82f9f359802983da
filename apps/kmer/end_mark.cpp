// SPDX-License-Identifier: Apache-2.0
// The marks, byte by byte: SAM specification 4.1.2, CRAM 2.1 and 3 section 9.
#include "end_mark.hpp"

#include <algorithm>

#include "gzip_header.hpp"

namespace kmer {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view bgzf_end = "\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0\x1b\0\x03\0\0\0\0\0\0\0\0\0"sv;
constexpr std::string_view cram_2_end = "\x0b\0\0\0\xff\xff\xff\xff\x0f\xe0"
                                        "EOF\0\0\0\0\x01\0\0\x01\0\x06\x06\x01\0\x01\0\x01\0"sv;
constexpr std::string_view cram_3_end =
    "\x0f\0\0\0\xff\xff\xff\xff\x0f\xe0"
    "EOF\0\0\0\0\x01\0\x05\xbd\xd9\x4f\0\x01\0\x06\x06\x01\0\x01\0\x01\0\xee\x63\x01\x4b"sv;
static_assert(bgzf_end.size() == 28 && cram_2_end.size() == 30 && cram_3_end.size() == longest_end_mark);

// The upper half of this byte of a CRAM container carries nothing, and writers differ in it.
constexpr std::size_t half_used_byte = 8;

// A block with a longer header is not recognised from behind.
constexpr std::size_t longest_usual_header = 1024;

bool ends_with_cram(std::string_view tail, std::string_view mark) {
  if (tail.size() < mark.size()) return false;
  const std::string_view last = tail.substr(tail.size() - mark.size());
  return last.substr(0, half_used_byte) == mark.substr(0, half_used_byte) &&
         (last[half_used_byte] & 0x0f) == mark[half_used_byte] &&
         last.substr(half_used_byte + 1) == mark.substr(half_used_byte + 1);
}

} // namespace

end_mark mark_of_cram(std::string_view head) {
  if (head.size() < 6 || head[4] < 2 || head[4] > 3) return end_mark::none;
  if (head[4] == 3) return end_mark::cram_3;
  return head[5] == 0 ? end_mark::none : end_mark::cram_2;
}

bool is_marked(end_mark mark, std::string_view tail) {
  switch (mark) {
  case end_mark::bgzf: return tail.ends_with(bgzf_end);
  case end_mark::cram_2: return ends_with_cram(tail, cram_2_end);
  case end_mark::cram_3: return ends_with_cram(tail, cram_3_end);
  case end_mark::none: break;
  }
  return true;
}

bool ends_unmarked(std::string_view tail) {
  if (tail.ends_with(bgzf_end)) return false;
  const std::string_view begin = bgzf_end.substr(0, 4);
  for (std::size_t at = tail.find(begin); at != std::string_view::npos; at = tail.find(begin, at + 1)) {
    gzip_header header;
    for (std::size_t i = at; i < std::min(tail.size(), at + longest_usual_header); ++i)
      if (header.take(static_cast<std::uint8_t>(tail[i])) != gzip_header::answer::more) break;
    if (header.is_bgzf() && header.block_bytes() == tail.size() - at) return true;
  }
  return false;
}

void last_bytes::add(std::string_view bytes) {
  if (bytes.size() >= longest_end_mark) kept_.clear();
  kept_.append(bytes.substr(bytes.size() - std::min(bytes.size(), longest_end_mark)));
  if (kept_.size() > longest_end_mark) kept_.erase(0, kept_.size() - longest_end_mark);
}

} // namespace kmer
