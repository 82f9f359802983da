// SPDX-License-Identifier: Apache-2.0
// Writes numbers as texts: as syllables, as digits behind a beginning that many keys share, or as UUIDs.
#include "made_texts.hpp"

#include <array>

namespace bench {

namespace {

// A run of consonants, then a run of vowels: so a text can be taken to pieces in one way only.
constexpr std::array<std::string_view, 16> onsets = {"b", "d", "f", "g", "k", "l", "m",  "n",
                                                     "p", "r", "s", "t", "v", "h", "st", "tr"};
constexpr std::array<std::string_view, 8> vowels = {"a", "e", "i", "o", "u", "ai", "ea", "ou"};
constexpr std::array<std::string_view, 8> endings = {"", "", "n", "s", "r", "ng", "rs", "nts"};

std::string word_of_number(std::uint64_t number, std::uint64_t) {
  // The first two endings are the same: an extra syllable tells their words apart.
  const std::uint64_t ending = number % endings.size();
  std::string word = ending == 1 ? "a" : "";
  for (std::uint64_t rest = number / endings.size() + 1; rest != 0; rest /= onsets.size() * vowels.size()) {
    const std::uint64_t syllable = rest % (onsets.size() * vowels.size());
    word += onsets[syllable / vowels.size()];
    word += vowels[syllable % vowels.size()];
  }
  word += endings[ending];
  return word;
}

constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
constexpr std::string_view beginning = "/library/collections/europe/1";

std::string long_text_of_number(std::uint64_t number, std::uint64_t seed) {
  constexpr std::size_t unique = 11; // digits of 6 bits that 64 bits have
  std::uint64_t rest = scramble(scramble(seed) + number);
  const std::size_t size = 12 + scramble(~rest) % 29;
  std::string text(beginning.substr(0, size - unique));
  for (std::size_t i = 0; i < unique; ++i, rest >>= 6) text += digits[rest & 63];
  return text;
}

// As UUIDs of version 4 are written, with 64 of their bits from the number alone, so that no two are equal.
std::string uuid_of_number(std::uint64_t number, std::uint64_t seed) {
  std::uint64_t rest = scramble(scramble(seed) + number);
  const std::uint64_t more = scramble(~rest);
  std::string text = "........-....-4...-a...-............";
  for (std::size_t i = 0, done = 0; i < text.size(); ++i) {
    if (text[i] != '.') continue;
    if (done++ == 16) rest = more;
    text[i] = digits[rest & 15];
    rest >>= 4;
  }
  return text;
}

} // namespace

text_of_number text_of_kind(std::string_view kind) noexcept {
  if (kind == "words") return word_of_number;
  if (kind == "12-40") return long_text_of_number;
  if (kind == "uuids") return uuid_of_number;
  return nullptr;
}

} // namespace bench
