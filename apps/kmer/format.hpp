// SPDX-License-Identifier: Apache-2.0
// The k-mer file: docs/format-kmer.md draws it. Little-endian throughout; these structs lie in the file as they stand.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "shape.hpp"

namespace kmer {

static_assert(std::endian::native == std::endian::little, "the structs are written as they lie in memory");

inline constexpr std::array<char, 8> file_magic = {'c', 'u', 'b', 'b', 'y', 'k', 'c', '\n'};
inline constexpr std::array<char, 8> end_magic = {'c', 'u', 'b', 'b', 'y', 'e', 'n', 'd'};
inline constexpr std::uint16_t file_version = 1;
inline constexpr std::size_t block_kmers = 4096;
// Of a distance of 128 bits and a count of 32, seven bits a byte.
inline constexpr std::size_t longest_entry = 19 + 5;

struct file_header {
  std::array<char, 8> magic = file_magic;
  std::uint16_t version = file_version;
  std::uint8_t k = 0;
  std::uint8_t canonical = 1;
  std::uint8_t m = 0;
  std::uint8_t partition_bits = 0; // 0: no partitions
  std::uint16_t unused = 0;
  std::uint32_t min_count = 1;
  std::uint32_t count_limit = 0;
  std::uint32_t unused_too = 0;
  std::uint32_t sum = 0; // of what stands before it
};
static_assert(sizeof(file_header) == 32);

// A block: up to 4096 k-mers of one partition, ascending.
struct block_entry {
  std::uint64_t first_low = 0;
  std::uint64_t first_high = 0;
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint32_t kmers = 0;
  std::uint32_t partition = 0;
  std::uint32_t sum = 0;
};
static_assert(sizeof(block_entry) == 40);

struct histogram_entry {
  std::uint64_t count = 0;
  std::uint64_t kmers = 0;
};

struct file_footer {
  std::uint64_t index_offset = 0;
  std::uint64_t blocks = 0;
  std::uint64_t histogram_entries = 0;
  std::uint64_t distinct = 0;
  std::uint64_t total = 0;
  std::uint64_t saturated = 0;
  std::uint64_t left_out = 0;
  std::uint32_t index_sum = 0; // of index and histogram
  std::uint32_t sum = 0;       // of what stands before it
  std::array<char, 8> magic = end_magic;
};
static_assert(sizeof(file_footer) == 72);

// CRC-32 as in gzip; `sum` is what the bytes before gave.
std::uint32_t checksum(std::uint32_t sum, const void* bytes, std::size_t count);

file_header header_for(const shape& s, std::uint32_t min_count, std::uint32_t count_limit);

// Seven bits a byte, the lowest first; the highest bit says that more follow.
template <class Word> void put_varint(std::string& out, Word value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(static_cast<std::uint8_t>(value) | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

// Reads one value and moves `at`; false when it does not end before `end`, does not fit or has another, shorter form.
template <class Word> bool get_varint(const std::uint8_t*& at, const std::uint8_t* end, Word& value) {
  if (at < end && *at < 0x80) { // nearly every count
    value = *at++;
    return true;
  }
  value = 0;
  unsigned shift = 0;
  for (; at < end && shift + 7 < sizeof(Word) * 8; shift += 7) {
    const std::uint8_t byte = *at++;
    value |= static_cast<Word>(byte & 0x7f) << shift;
    if (byte < 0x80) return byte != 0;
  }
  // The last byte there can be has space for a few bits.
  if (at == end || *at == 0 || (*at >> (sizeof(Word) * 8 - shift)) != 0) return false;
  value |= static_cast<Word>(*at++) << shift;
  return true;
}

} // namespace kmer
