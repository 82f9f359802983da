// SPDX-License-Identifier: Apache-2.0
// Nothing in the file is used before its sum was checked, and nothing that its other parts contradict.
#include "reader.hpp"

#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.hpp"

namespace kmer {

kmer_file::kmer_file(const std::string& path) : path_(path) {
  if (path == "-") refuse("is standard input, and a k-mer file is read from both ends; give it by its name");
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat about{};
  if (fd_ < 0 || ::fstat(fd_, &about) != 0)
    throw bad_input(fmt::format("{}: cannot be read: {}", path_, std::strerror(errno)));
  try {
    if (!S_ISREG(about.st_mode)) refuse("is no file, and a k-mer file is read from both ends; put it into one");
    size_ = static_cast<std::uint64_t>(about.st_size);
    if (size_ >= sizeof header_) read_at(0, &header_, sizeof header_);
    if (size_ < sizeof header_ || header_.magic != file_magic)
      refuse("is no k-mer file of cubby; `cubby kmer count` makes them");
    if (header_.version != file_version)
      refuse(fmt::format("has version {} of the format; this program reads version {}", header_.version, file_version));
    check_header();
    read_end();
    check_blocks();
    check_counts();
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

kmer_file::~kmer_file() { ::close(fd_); }

void kmer_file::refuse(const std::string& why) const { throw bad_input(fmt::format("{}: {}", path_, why)); }

void kmer_file::refuse_block(std::size_t number) const {
  refuse(fmt::format("is damaged: block {} of {} does not fit its sum or its place", number + 1, blocks_.size()));
}

void kmer_file::read_at(std::uint64_t offset, void* into, std::size_t count) const {
  for (std::size_t have = 0; have < count;) {
    const ssize_t got = ::pread(fd_, static_cast<char*>(into) + have, count - have, static_cast<off_t>(offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
    if (got == 0) refuse("is truncated");
    have += static_cast<std::size_t>(got);
  }
}

void kmer_file::check_header() const {
  if (header_.sum != checksum(0, &header_, offsetof(file_header, sum)) || header_.k == 0 || header_.k > longest_k)
    refuse("is damaged: the sum of its header does not fit");
  const file_header made = header_for(of(), header_.min_count, header_.count_limit);
  if (std::memcmp(&made, &header_, sizeof made) != 0 || header_.min_count == 0 ||
      header_.min_count > header_.count_limit)
    refuse("is damaged: its header does not fit its k");
}

void kmer_file::read_end() {
  if (size_ < sizeof header_ + sizeof footer_) refuse("is truncated");
  read_at(size_ - sizeof footer_, &footer_, sizeof footer_);
  if (footer_.magic != end_magic)
    refuse("does not end as a file of counts does: it is truncated, or something follows its end");
  if (footer_.sum != checksum(0, &footer_, offsetof(file_footer, sum)))
    refuse("is damaged: the sum of its end does not fit");
  const std::uint64_t space = size_ - sizeof footer_;
  if (footer_.index_offset > space || footer_.blocks > size_ / sizeof(block_entry) ||
      footer_.histogram_entries > size_ / sizeof(histogram_entry) ||
      footer_.index_offset + footer_.blocks * sizeof(block_entry) +
              footer_.histogram_entries * sizeof(histogram_entry) !=
          space)
    refuse("is damaged: its end does not fit its size");
  blocks_.resize(footer_.blocks);
  counts_.resize(footer_.histogram_entries);
  const std::size_t index_bytes = blocks_.size() * sizeof(block_entry);
  const std::size_t count_bytes = counts_.size() * sizeof(histogram_entry);
  read_at(footer_.index_offset, blocks_.data(), index_bytes);
  read_at(footer_.index_offset + index_bytes, counts_.data(), count_bytes);
  const std::uint32_t sum = checksum(checksum(0, blocks_.data(), index_bytes), counts_.data(), count_bytes);
  if (sum != footer_.index_sum) refuse("is damaged: the sum of its index does not fit");
}

void kmer_file::check_blocks() const {
  std::uint64_t offset = sizeof header_;
  const block_entry* before = nullptr;
  for (const block_entry& b : blocks_) {
    if (b.offset != offset || b.kmers == 0 || b.kmers > block_kmers || b.bytes > b.kmers * longest_entry)
      refuse("is damaged: its index has a gap");
    if (first_of(b) > mask_of<wide_word>(header_.k) || (b.partition >> header_.partition_bits) != 0)
      refuse("is damaged: its index has a number that is no k-mer");
    if (before != nullptr && std::pair(b.partition, first_of(b)) <= std::pair(before->partition, first_of(*before)))
      refuse("is damaged: its index is out of order");
    if (before != nullptr && b.partition == before->partition && before->kmers != block_kmers)
      refuse("is damaged: its index has a block that ends early");
    offset += b.bytes;
    before = &b;
  }
  if (offset != footer_.index_offset) refuse("is damaged: its index has a gap");
}

void kmer_file::check_counts() const {
  std::uint64_t distinct = 0;
  for (const block_entry& b : blocks_) distinct += b.kmers;
  std::uint64_t left = distinct;
  std::uint64_t total = 0;
  std::uint64_t saturated = 0;
  std::uint64_t least = header_.min_count;
  for (const histogram_entry& h : counts_) {
    if (h.count < least || h.count > header_.count_limit || h.kmers == 0 || h.kmers > left)
      refuse("is damaged: its histogram does not fit its k-mers");
    least = h.count + 1;
    left -= h.kmers;
    total += h.count * h.kmers;
    if (h.count == header_.count_limit) saturated = h.kmers;
  }
  if (left != 0 || distinct != footer_.distinct || total != footer_.total || saturated != footer_.saturated)
    refuse("is damaged: its end does not fit its histogram");
}

// The largest k-mer that a block may hold: the next block's first one is above it.
wide_word kmer_file::last_of(std::size_t number) const {
  const bool goes_on = number + 1 < blocks_.size() && blocks_[number + 1].partition == blocks_[number].partition;
  return goes_on ? first_of(blocks_[number + 1]) - 1 : mask_of<wide_word>(header_.k);
}

std::string kmer_file::read_bytes(const block_entry& b) const {
  std::string bytes(b.bytes, '\0');
  read_at(b.offset, bytes.data(), bytes.size());
  if (checksum(0, bytes.data(), bytes.size()) != b.sum) refuse_block(static_cast<std::size_t>(&b - blocks_.data()));
  return bytes;
}

} // namespace kmer
