// SPDX-License-Identifier: Apache-2.0
// A k-mer as a number: two bits a base, A 0, C 1, G 2, T 3, the first base highest, so that numbers sort like text.
// Up to 32 bases in one 64-bit word, up to 64 in two.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace kmer {

using narrow_word = std::uint64_t;
using wide_word = unsigned __int128;

inline constexpr unsigned longest_k = 64;
inline constexpr unsigned longest_narrow_k = 32;

// The code of each letter. Letters that are no base, and the signs for gaps and stops, break a k-mer.
inline constexpr std::uint8_t breaks = 4;
inline constexpr std::uint8_t no_sequence = 5;

inline constexpr std::array<std::uint8_t, 256> codes = [] {
  std::array<std::uint8_t, 256> table{};
  table.fill(no_sequence);
  for (unsigned c = 'A'; c <= 'Z'; ++c) table[c] = table[c + 'a' - 'A'] = breaks;
  for (const char c : {'*', '-', '.', '\n'}) table[static_cast<unsigned char>(c)] = breaks;
  const char bases[] = "ACGT";
  for (unsigned i = 0; i < 4; ++i) {
    const auto upper = static_cast<unsigned char>(bases[i]);
    table[upper] = table[upper + 'a' - 'A'] = static_cast<std::uint8_t>(i);
  }
  return table;
}();

template <class Word> constexpr Word mask_of(unsigned bases) {
  const unsigned unused = static_cast<unsigned>(sizeof(Word)) * 8 - 2 * bases;
  return static_cast<Word>(~Word{0}) >> unused;
}

// Both strands of the k bases that were seen last.
template <class Word> class strands {
public:
  explicit strands(unsigned k) : mask_(mask_of<Word>(k)), shift_(2 * (k - 1)) {}
  void push(std::uint8_t code) {
    forward_ = ((forward_ << 2) | code) & mask_;
    reverse_ = (reverse_ >> 2) | (Word{3u - code} << shift_);
  }
  Word forward() const { return forward_; }
  Word canonical() const { return std::min(forward_, reverse_); }

private:
  Word mask_;
  unsigned shift_;
  Word forward_ = 0;
  Word reverse_ = 0;
};

template <class Word> Word reverse_complement(Word word, unsigned k) {
  Word turned = 0;
  for (unsigned i = 0; i < k; ++i) {
    turned = (turned << 2) | (Word{3} - (word & 3));
    word >>= 2;
  }
  return turned;
}

// Writes k letters to `at`.
template <class Word> void write_text(Word word, unsigned k, char* at) {
  for (unsigned i = k; i-- > 0; word >>= 2) at[i] = "ACGT"[static_cast<unsigned>(word & 3)];
}

template <class Word> std::string text_of(Word word, unsigned k) {
  std::string text(k, 'A');
  write_text(word, k, text.data());
  return text;
}

inline wide_word join(std::uint64_t high, std::uint64_t low) { return (wide_word{high} << 64) | low; }
inline std::uint64_t high_of(wide_word word) { return static_cast<std::uint64_t>(word >> 64); }
inline std::uint64_t low_of(wide_word word) { return static_cast<std::uint64_t>(word); }

// Calls `f` with a value of the word type that k bases need.
template <class F> decltype(auto) with_word(unsigned k, F&& f) {
  return k <= longest_narrow_k ? f(narrow_word{}) : f(wide_word{});
}

} // namespace kmer
