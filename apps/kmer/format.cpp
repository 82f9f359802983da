// SPDX-License-Identifier: Apache-2.0
// Sums and headers of the k-mer file.
#include "format.hpp"

#include <cstddef>
#include <isa-l/crc.h>

namespace kmer {

std::uint32_t checksum(std::uint32_t sum, const void* bytes, std::size_t count) {
  return ::crc32_gzip_refl(sum, static_cast<const unsigned char*>(bytes), count);
}

file_header header_for(const shape& s, std::uint32_t min_count, std::uint32_t count_limit) {
  file_header h;
  h.k = static_cast<std::uint8_t>(s.k);
  h.canonical = s.canonical ? 1 : 0;
  h.m = static_cast<std::uint8_t>(s.dense() ? 0 : s.m());
  h.partition_bits = static_cast<std::uint8_t>(s.dense() ? 0 : partition_bits);
  h.min_count = min_count;
  h.count_limit = count_limit;
  h.sum = checksum(0, &h, offsetof(file_header, sum));
  return h;
}

} // namespace kmer
