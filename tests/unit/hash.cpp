// SPDX-License-Identifier: Apache-2.0
// The default mixer spreads the keys that people have. Bins fill like those of a Poisson process whatever the pattern.
// Every input bit moves every output bit, and bytes count wherever they stand.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cubby/detail/core/hash.hpp>
#include <cubby/detail/engines/dlht/index.hpp>

#include "support/random.hpp"

namespace cubby_test {
namespace {

constexpr std::uint64_t bins = 1 << 14;
constexpr std::uint64_t spread_keys = bins * 2;

/// Chi-square of the bin counts against an even spread, in standard deviations from what chance gives.
double crowding(const std::function<std::uint64_t(std::uint64_t)>& hash_of_nth) {
  std::vector<std::uint32_t> count(bins, 0);
  for (std::uint64_t n = 0; n < spread_keys; ++n) {
    ++count[cubby::detail::engines::dlht::map_hash<cubby::bin_mapping::fastrange>(hash_of_nth(n), bins)];
  }
  const double mean = static_cast<double>(spread_keys) / static_cast<double>(bins);
  double sum = 0;
  for (const auto c : count) sum += (c - mean) * (c - mean) / mean;
  const double freedom = static_cast<double>(bins - 1);
  return (sum - freedom) / std::sqrt(2 * freedom);
}

struct pattern {
  const char* name;
  std::uint64_t (*nth)(std::uint64_t);
};
const pattern patterns[] = {
    {"sequential", [](std::uint64_t n) { return n; }},
    {"downwards", [](std::uint64_t n) { return ~n; }},
    {"stride 8", [](std::uint64_t n) { return n << 3; }},
    {"stride 4096", [](std::uint64_t n) { return n << 12; }},
    {"stride 2^32", [](std::uint64_t n) { return n << 32; }},
    {"top bits", [](std::uint64_t n) { return n << 48; }},
    {"odd stride", [](std::uint64_t n) { return n * 0x10001; }},
    {"two halves", [](std::uint64_t n) { return (n % 181) << 32 | n / 181; }},
    {"repeated halves", [](std::uint64_t n) { return n << 32 | n; }},
    {"every fourth bit",
     [](std::uint64_t n) {
       std::uint64_t word = 0;
       for (unsigned bit = 0; bit < 16; ++bit) word |= (n >> bit & 1) << (4 * bit);
       return word;
     }},
    {"pointers", [](std::uint64_t n) { return 0x7f0000000000 + n * 48; }},
    {"gray", [](std::uint64_t n) { return n ^ n >> 1; }},
    {"random", [](std::uint64_t n) { return splitmix(n + run_seed()); }},
};

TEST(hash_quality, words_of_any_pattern_spread_like_random_ones) {
  for (const pattern& p : patterns) {
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, splitmix(run_seed())}) {
      EXPECT_LT(crowding([&](std::uint64_t n) { return cubby::mix(p.nth(n), seed); }), 7.0)
          << p.name << " seed " << seed;
    }
  }
}

TEST(hash_quality, strings_of_any_pattern_spread_like_random_ones) {
  const std::pair<const char*, std::string (*)(std::uint64_t)> texts[] = {
      {"numbers", [](std::uint64_t n) { return std::to_string(n); }},
      {"same beginning", [](std::uint64_t n) { return "user:account:session:" + std::to_string(n); }},
      {"same end", [](std::uint64_t n) { return std::to_string(n) + ".example.org/index.html"; }},
      {"lengths", [](std::uint64_t n) { return std::string(n % 200, 'a') + std::to_string(n / 200); }},
      {"words", [](std::uint64_t n) { return std::string(reinterpret_cast<const char*>(&n), sizeof n); }},
  };
  for (const auto& [name, text] : texts) {
    EXPECT_LT(crowding([&](std::uint64_t n) {
                const std::string s = text(n);
                return cubby::hash_bytes(s.data(), s.size());
              }),
              7.0)
        << name;
  }
}

TEST(hash_quality, every_input_bit_moves_every_output_bit) {
  constexpr unsigned samples = 2000;
  for (unsigned in = 0; in < 64; ++in) {
    unsigned moved[64] = {};
    for (unsigned s = 0; s < samples; ++s) {
      const std::uint64_t word = splitmix(s);
      const std::uint64_t change = cubby::mix(word) ^ cubby::mix(word ^ std::uint64_t{1} << in);
      for (unsigned out = 0; out < 64; ++out) moved[out] += static_cast<unsigned>((change >> out) & 1);
    }
    for (unsigned out = 0; out < 64; ++out) {
      ASSERT_NEAR(moved[out] / double{samples}, 0.5, 0.08) << "bit " << in << " to bit " << out;
    }
  }
}

TEST(hash_quality, every_byte_and_the_length_count) {
  for (std::size_t size = 0; size < 100; ++size) {
    const std::string text(size, '\0');
    const auto plain = cubby::hash_bytes(text.data(), size);
    ASSERT_NE(plain, cubby::hash_bytes(std::string(size + 1, '\0').data(), size + 1));
    ASSERT_NE(plain, cubby::hash_bytes(text.data(), size, 1));
    for (std::size_t i = 0; i < size; ++i) {
      std::string other = text;
      other[i] = 1;
      ASSERT_NE(plain, cubby::hash_bytes(other.data(), size)) << i << " of " << size;
    }
  }
}

TEST(hash_quality, every_input_bit_of_a_text_moves_every_output_bit) {
  constexpr unsigned samples = 1000;
  for (const auto size : std::initializer_list<std::size_t>{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 33, 40}) {
    for (std::size_t in = 0; in < 8 * size; ++in) {
      unsigned moved[64] = {};
      for (unsigned s = 0; s < samples; ++s) {
        std::string text(size, '\0');
        for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(splitmix(s * 64 + i) & 0xff);
        const std::uint64_t seed = splitmix(s);
        const std::uint64_t plain = cubby::hash_bytes(text.data(), size, seed);
        text[in / 8] = static_cast<char>(text[in / 8] ^ (1 << (in % 8)));
        const std::uint64_t change = plain ^ cubby::hash_bytes(text.data(), size, seed);
        for (unsigned out = 0; out < 64; ++out) moved[out] += static_cast<unsigned>((change >> out) & 1);
      }
      for (unsigned out = 0; out < 64; ++out) {
        ASSERT_NEAR(moved[out] / double{samples}, 0.5, 0.12) << "size " << size << " bit " << in << " to bit " << out;
      }
    }
  }
}

// The hash as its definition says it: words of 8 bytes, of which those of the end overlap what is before them.
std::uint64_t hash_byte_by_byte(const std::string& text, std::uint64_t seed) {
  using namespace cubby::detail;
  const auto word_at = [&](std::size_t from) {
    std::uint64_t word = 0;
    for (std::size_t i = from; i < from + 8 && i < text.size(); ++i) {
      word |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * (i - from));
    }
    return word;
  };
  const std::uint64_t mask = mix_b ^ (seed << 31 | seed >> 33);
  std::uint64_t state = seed ^ mix_a;
  for (std::size_t from = 0; from + 16 < text.size(); from += 16)
    state = fold(word_at(from) ^ mask, word_at(from + 8) ^ state);
  const std::uint64_t first = word_at(text.size() > 16 ? text.size() - 16 : 0);
  const std::uint64_t second = text.size() > 8 ? word_at(text.size() - 8) : 0;
  return fold(fold(first ^ mask, second ^ state) ^ mix_c, mix_a ^ text.size());
}

TEST(hash_quality, a_text_of_any_size_has_the_hash_of_its_bytes_and_no_others) {
  for (std::size_t size = 0; size < 70; ++size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(splitmix(size * 100 + i) & 0xff);
    const std::string longer = "?" + text + "??????????????????";
    const std::uint64_t seed = splitmix(size + run_seed());
    ASSERT_EQ(hash_byte_by_byte(text, seed), cubby::hash_bytes(longer.data() + 1, size, seed)) << size;
  }
}

/// An attacker who prepares keys knows the constants of the hash, but not the seed.
TEST(hash_quality, no_word_of_a_text_takes_away_the_others_under_an_unknown_seed) {
  using namespace cubby::detail;
  const std::uint64_t constants[] = {mix_a, mix_b, mix_c, mix_a ^ mix_b, mix_b ^ mix_c, mix_a ^ mix_c, 0};
  for (std::uint64_t round = 0; round < 20; ++round) {
    const std::uint64_t seed = splitmix(round + run_seed());
    for (std::size_t size = 16; size <= 56; ++size) {
      for (const std::uint64_t constant : constants) {
        for (const std::size_t at : {std::size_t{0}, std::size_t{8}, std::size_t{16}, size - 16, size - 8}) {
          if (at + 8 > size) continue;
          std::string text(size, 'x');
          std::memcpy(&text[at], &constant, sizeof constant);
          const std::uint64_t plain = cubby::hash_bytes(text.data(), size, seed);
          for (std::size_t i = 0; i < size; ++i) {
            if (i >= at && i < at + 8) continue;
            std::string other = text;
            other[i] = 'y';
            ASSERT_NE(plain, cubby::hash_bytes(other.data(), size, seed)) << i << " of " << size << ", word at " << at;
          }
        }
      }
    }
  }
}
TEST(hash_quality, no_part_of_a_key_takes_away_those_before_it_under_an_unknown_seed) {
  using namespace cubby::detail;
  for (std::uint64_t round = 0; round < 100; ++round) {
    const std::uint64_t seed = splitmix(round + run_seed());
    for (const std::uint64_t constant : {mix_a, mix_b, mix_c}) {
      const std::string text(reinterpret_cast<const char*>(&constant), sizeof constant);
      EXPECT_NE(cubby::hash_parts(seed, 1, constant), cubby::hash_parts(seed, 2, constant));
      EXPECT_NE(cubby::hash_parts(seed, 1, text), cubby::hash_parts(seed, 2, text));
      EXPECT_NE(cubby::hash_parts(seed, 1, text + text), cubby::hash_parts(seed, 2, text + text));
    }
  }
}

TEST(texts_in_words, are_equal_when_each_byte_is_and_copied_whole) {
  for (std::size_t size = 9; size < 100; ++size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(splitmix(size * 100 + i) & 0xff);
    std::string other = "?" + text;
    ASSERT_TRUE(cubby::detail::is_same_text(text.data(), other.data() + 1, size)) << size;
    std::string copy(size + 2, '!');
    cubby::detail::copy_text(copy.data() + 1, text.data(), size);
    ASSERT_EQ(copy, "!" + text + "!") << size;
    for (std::size_t i = 0; i < size; ++i) {
      other[i + 1] = static_cast<char>(other[i + 1] ^ 0x40);
      ASSERT_FALSE(cubby::detail::is_same_text(text.data(), other.data() + 1, size)) << i << " of " << size;
      other[i + 1] = text[i];
    }
  }
}

} // namespace
} // namespace cubby_test
