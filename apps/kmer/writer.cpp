// SPDX-License-Identifier: Apache-2.0
// Header, blocks as they come, then index, histogram and footer.
#include "writer.hpp"

#include <cstddef>

namespace kmer {

namespace {

template <class T> std::string_view bytes_of(const T* from, std::size_t count) {
  return {reinterpret_cast<const char*>(from), count * sizeof(T)};
}

} // namespace

file_writer::file_writer(const std::string& path, const shape& s, const count_bounds& bounds) : out_(path) {
  const file_header header = header_for(s, bounds.min_count, bounds.count_limit);
  out_.write(bytes_of(&header, 1));
}

void file_writer::append(const encoded_blocks& blocks) {
  const std::uint64_t begin = out_.size();
  for (block_entry b : blocks.blocks) {
    b.offset += begin;
    index_.push_back(b);
  }
  out_.write(blocks.bytes);
  counts_.add(blocks.counts);
  figures_.add(blocks.figures);
}

void file_writer::finish() {
  std::vector<histogram_entry> counts;
  counts_.visit([&](std::uint32_t count, std::uint64_t kmers) { counts.push_back({count, kmers}); });
  file_footer footer;
  footer.index_offset = out_.size();
  footer.blocks = index_.size();
  footer.histogram_entries = counts.size();
  footer.distinct = figures_.distinct;
  footer.total = figures_.total;
  footer.saturated = figures_.saturated;
  footer.left_out = figures_.left_out;
  const std::string_view index_bytes = bytes_of(index_.data(), index_.size());
  const std::string_view count_bytes = bytes_of(counts.data(), counts.size());
  footer.index_sum = checksum(0, index_bytes.data(), index_bytes.size());
  footer.index_sum = checksum(footer.index_sum, count_bytes.data(), count_bytes.size());
  footer.sum = checksum(0, &footer, offsetof(file_footer, sum));
  out_.write(index_bytes);
  out_.write(count_bytes);
  out_.write(bytes_of(&footer, 1));
  out_.commit();
}

} // namespace kmer
