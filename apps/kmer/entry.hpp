// SPDX-License-Identifier: Apache-2.0
// A k-mer with its count, and a sort for many of them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace kmer {

inline constexpr std::uint32_t largest_count = std::numeric_limits<std::uint32_t>::max();

constexpr std::uint32_t saturated(std::uint64_t count) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, largest_count));
}

template <class Word> struct entry {
  Word word;
  std::uint32_t count;
};

// Sorts by word: one scatter into about as many buckets as entries by the leading bits, then each bucket by itself.
// `scratch` is space that the caller keeps.
template <class Word> void sort_entries(std::vector<entry<Word>>& all, std::vector<entry<Word>>& scratch) {
  const auto by_word = [](const entry<Word>& a, const entry<Word>& b) { return a.word < b.word; };
  if (all.size() < 256) return std::sort(all.begin(), all.end(), by_word);
  const auto [low, high] = std::minmax_element(all.begin(), all.end(), by_word);
  const Word least = low->word;
  const std::size_t buckets = std::bit_floor(all.size() / 2);
  unsigned shift = 0;
  while (((high->word - least) >> shift) >= buckets) ++shift;
  std::vector<std::uint32_t> begin(buckets + 1);
  const auto bucket_of = [&](const entry<Word>& e) { return static_cast<std::size_t>((e.word - least) >> shift); };
  for (const entry<Word>& e : all) ++begin[bucket_of(e) + 1];
  for (std::size_t i = 1; i <= buckets; ++i) begin[i] += begin[i - 1];
  scratch.resize(all.size());
  std::vector<std::uint32_t> at(begin.begin(), begin.end() - 1);
  for (const entry<Word>& e : all) scratch[at[bucket_of(e)]++] = e;
  for (std::size_t i = 0; i < buckets; ++i)
    if (begin[i + 1] - begin[i] > 1) std::sort(scratch.begin() + begin[i], scratch.begin() + begin[i + 1], by_word);
  all.swap(scratch);
}

} // namespace kmer
