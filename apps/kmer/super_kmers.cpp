// SPDX-License-Identifier: Apache-2.0
// The passes over a run of bases. Each is a plain loop over arrays, which compilers turn into vector code.
#include "super_kmers.hpp"

#include <algorithm>
#include <fmt/core.h>

#include "error.hpp"

namespace kmer {

namespace {

[[noreturn]] void refuse_letter(const batch& b, std::size_t at) {
  const auto record =
      b.first_record + static_cast<std::uint64_t>(
                           std::count(b.letters.begin(), b.letters.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  const auto byte = static_cast<unsigned char>(b.letters[at]);
  const std::string shown =
      byte > 32 && byte < 127 ? fmt::format("'{}'", b.letters[at]) : fmt::format("byte 0x{:02x}", byte);
  throw bad_input(fmt::format("{}: record {}: {} is no letter of a sequence", b.file, record, shown));
}

} // namespace

void splitter::translate(const batch& b) {
  codes_.resize(b.letters.size() + 1);
  std::uint8_t highest = 0;
  for (std::size_t i = 0; i < b.letters.size(); ++i) {
    const std::uint8_t code = codes[static_cast<unsigned char>(b.letters[i])];
    highest = std::max(highest, code);
    codes_[i] = code;
  }
  codes_[b.letters.size()] = breaks;
  if (highest == no_sequence)
    refuse_letter(b, static_cast<std::size_t>(std::find(codes_.begin(), codes_.end(), no_sequence) - codes_.begin()));
}

// Ranks of the m-mers, then the smallest of each window by doubling: minima of 2, 4, 8 ... neighbours, and last two
// overlapping ones that cover the window together.
void splitter::find_partitions(std::span<const std::uint8_t> run) {
  const unsigned m = shape_.m();
  const std::size_t count = run.size() - m + 1;
  if (ranks_.size() < run.size()) ranks_.resize(run.size());
  strands<std::uint32_t> both(m);
  for (std::size_t i = 0; i + 1 < m; ++i) both.push(run[i]);
  for (std::size_t i = 0; i < count; ++i) {
    both.push(run[i + m - 1]);
    ranks_[i] = rank_of(both.canonical());
  }
  std::uint32_t* const rank = ranks_.data();
  std::size_t width = 1;
  for (std::size_t left = count; 2 * width <= shape_.window(); width *= 2) {
    left -= width;
    for (std::size_t i = 0; i < left; ++i) rank[i] = std::min(rank[i], rank[i + width]);
  }
  const std::size_t rest = shape_.window() - width;
  const std::size_t kmers = run.size() - shape_.k + 1;
  for (std::size_t i = 0; i < kmers; ++i) rank[i] = partition_of_rank(std::min(rank[i], rank[i + rest]));
}

void splitter::pack(std::span<const std::uint8_t> run) {
  const std::size_t bytes = (run.size() + 3) / 4;
  if (packed_.size() < bytes + 2 * sizeof(std::uint64_t)) packed_.resize(bytes + 2 * sizeof(std::uint64_t));
  std::size_t i = 0;
  for (; i + 8 <= run.size(); i += 8) {
    // Eight codes of a byte each: fold pairs, then pairs of pairs.
    std::uint64_t word = 0;
    std::memcpy(&word, run.data() + i, sizeof word);
    word = (word | (word >> 6)) & 0x000f000f000f000f;
    word = (word | (word >> 12)) & 0x000000ff000000ff;
    packed_[i / 4] = static_cast<std::uint8_t>(word);
    packed_[i / 4 + 1] = static_cast<std::uint8_t>(word >> 32);
  }
  for (; i < run.size(); i += 4) {
    unsigned byte = 0;
    for (std::size_t j = 0; j < 4 && i + j < run.size(); ++j) byte |= static_cast<unsigned>(run[i + j]) << (2 * j);
    packed_[i / 4] = static_cast<std::uint8_t>(byte);
  }
}

} // namespace kmer
