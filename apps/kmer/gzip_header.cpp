// SPDX-License-Identifier: Apache-2.0
// The parts in the order of RFC 1952; those without their flag are passed over.
#include "gzip_header.hpp"

#include "format.hpp"

namespace kmer {

namespace {

constexpr std::size_t header_bytes = 10;
constexpr std::uint8_t sum_flag = 2, extra_flag = 4, name_flag = 8, comment_flag = 16, reserved_flags = 0xe0;

} // namespace

gzip_header::answer gzip_header::enter(part next) {
  at_ = 0;
  if (next == part::extra_size && !has(extra_flag)) next = part::name;
  if (next == part::extra && extra_bytes_ == 0) next = part::name;
  if (next == part::name && !has(name_flag)) next = part::comment;
  if (next == part::comment && !has(comment_flag)) next = part::sum;
  if (next == part::sum && !has(sum_flag)) next = part::none;
  part_ = next;
  return next == part::none ? answer::complete : answer::more;
}

gzip_header::answer gzip_header::take_fixed(std::uint8_t byte) {
  constexpr std::array<std::uint8_t, 3> magic = {0x1f, 0x8b, 8};
  if (at_ < 2 && byte != magic[at_]) return answer::no_gzip;
  if (at_ == 2 && byte != magic[at_]) return answer::unknown;
  if (at_ == 3 && (byte & reserved_flags) != 0) return answer::unknown;
  if (at_ == 3) flags_ = byte;
  return ++at_ == header_bytes ? enter(part::extra_size) : answer::more;
}

// Fields one after another: two letters, how long they are, and so many bytes.
void gzip_header::take_extra(std::uint8_t byte) {
  if (field_at_ < field_.size()) field_[field_at_] = byte;
  ++field_at_;
  if (field_at_ < 4) return;
  const std::size_t size = field_[2] | std::size_t{field_[3]} << 8;
  if (field_at_ < 4 + size) return;
  if (field_[0] == 'B' && field_[1] == 'C' && size == 2) block_bytes_ = (field_[4] | std::size_t{field_[5]} << 8) + 1;
  field_at_ = 0;
}

gzip_header::answer gzip_header::take(std::uint8_t byte) {
  const bool sums = part_ != part::sum && (part_ == part::fixed || has(sum_flag));
  if (sums) crc_ = checksum(crc_, &byte, 1);
  switch (part_) {
  case part::fixed: return take_fixed(byte);
  case part::extra_size:
    extra_bytes_ |= std::size_t{byte} << (8 * at_);
    return ++at_ == 2 ? enter(part::extra) : answer::more;
  case part::extra: take_extra(byte); return ++at_ == extra_bytes_ ? enter(part::name) : answer::more;
  case part::name: return byte == 0 ? enter(part::comment) : answer::more;
  case part::comment: return byte == 0 ? enter(part::sum) : answer::more;
  case part::sum:
    said_ |= std::uint32_t{byte} << (8 * at_);
    if (++at_ < 2) return answer::more;
    part_ = part::none;
    return said_ == (crc_ & 0xffff) ? answer::complete : answer::wrong_sum;
  case part::none: break;
  }
  return answer::complete;
}

bool begins_with_bgzf(std::string_view bytes) {
  gzip_header header;
  for (const char byte : bytes)
    if (header.take(static_cast<std::uint8_t>(byte)) != gzip_header::answer::more) break;
  return header.is_bgzf();
}

} // namespace kmer
