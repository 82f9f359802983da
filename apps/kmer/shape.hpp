// SPDX-License-Identifier: Apache-2.0
// How k-mers of one length are divided. Everything follows from k alone, so that two files of the same k have the same
// order and can be worked on together in one pass. The format (docs/format-kmer.md) fixes these functions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "word.hpp"

namespace kmer {

// Up to here all k-mers are counted in one array of 4^k counts: no partitions.
inline constexpr unsigned longest_dense_k = 10;
inline constexpr unsigned partition_bits = 12;
inline constexpr std::size_t partition_count = std::size_t{1} << partition_bits;

struct shape {
  unsigned k = 0;
  bool canonical = true;

  bool dense() const { return k <= longest_dense_k; }
  // Bases of a minimiser. Nine give 131,072 of them on both strands: enough to fill 4096 partitions evenly.
  unsigned m() const { return std::clamp((k + 1) / 2, 1u, 9u); }
  // Minimisers in a k-mer.
  unsigned window() const { return k - m() + 1; }
  bool operator==(const shape&) const = default;
};

// The order of minimisers: a bijection of the canonical m-mer, so that equal ranks are equal minimisers. The constant
// keeps AAAAAAAAA, which real genomes are full of, from being the smallest.
constexpr std::uint32_t rank_of(std::uint32_t minimiser) { return (minimiser ^ 0x5bd1e995u) * 0x9e3779b1u; }

constexpr std::uint32_t partition_of_rank(std::uint32_t rank) {
  rank ^= rank >> 15;
  return (rank * 0x85ebca6bu) >> (32 - partition_bits);
}

// The partition of a k-mer by itself: the smallest rank among its canonical m-mers.
template <class Word> std::uint32_t partition_of(const shape& s, Word word) {
  if (s.dense()) return 0;
  const unsigned m = s.m();
  const Word mask = mask_of<Word>(m);
  std::uint32_t smallest = UINT32_MAX;
  for (unsigned i = 0; i < s.window(); ++i, word >>= 2) {
    const auto part = static_cast<std::uint32_t>(word & mask);
    smallest = std::min(smallest, rank_of(std::min(part, reverse_complement(part, m))));
  }
  return partition_of_rank(smallest);
}

} // namespace kmer
