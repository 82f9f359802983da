// SPDX-License-Identifier: Apache-2.0
// Keys that somebody has prepared, who knows the hash but not the table's random seed. They have the hash's own constants where it reads its words,
// so that a constant that stood alone beside one would make a product 0. No engine refuses them, and none grows because of them.
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "engines.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

constexpr std::uint64_t prepared = 1000;
using two_words = std::array<std::uint64_t, 2>;

const std::vector<std::uint64_t> constants{cubby::detail::mix_a, cubby::detail::mix_b, cubby::detail::mix_c};

/// A text of `size` bytes with a number and a constant at these places.
std::string text_with(std::uint64_t number, std::size_t number_at, std::uint64_t constant, std::size_t constant_at,
                      std::size_t size) {
  std::string text(size, '\0');
  std::memcpy(&text[number_at], &number, sizeof number);
  std::memcpy(&text[constant_at], &constant, sizeof constant);
  return text;
}

/// Inserts the prepared keys into a table with a random seed.
template <class Table, class Key> void expect_all_taken(const char* what, const Key& key_of) {
  Table m({.seed = cubby::random_seed()});
  for (std::uint64_t n = 0; n < prepared; ++n) ASSERT_TRUE(m.insert(key_of(n), 1)) << what << ", key " << n;
  for (std::uint64_t n = 0; n < prepared; ++n) ASSERT_TRUE(m.contains(key_of(n))) << what << ", key " << n;
  EXPECT_LT(m.stats().bytes, 8U << 20) << what;
}

template <class Engine> class prepared_keys : public ::testing::Test {};
TYPED_TEST_SUITE(prepared_keys, every_engine);

TYPED_TEST(prepared_keys, of_text_are_taken) {
  using table = cubby::map<std::string, int, TypeParam>;
  for (const std::uint64_t c : constants) {
    expect_all_taken<table>("16 bytes, the constant first", [&](std::uint64_t n) { return text_with(n, 8, c, 0, 16); });
    expect_all_taken<table>("16 bytes, the constant last", [&](std::uint64_t n) { return text_with(n, 0, c, 8, 16); });
    expect_all_taken<table>("40 bytes, the constant in the last words",
                            [&](std::uint64_t n) { return text_with(n, 0, c, 24, 40); });
  }
}
TYPED_TEST(prepared_keys, that_are_plain_are_taken) {
  using table = cubby::map<two_words, int, TypeParam>;
  for (const std::uint64_t c : constants) {
    expect_all_taken<table>("the constant first", [&](std::uint64_t n) { return two_words{c, n}; });
    expect_all_taken<table>("the constant last", [&](std::uint64_t n) { return two_words{n, c}; });
  }
}
TYPED_TEST(prepared_keys, of_parts_are_taken) {
  using texts = cubby::map<std::pair<std::string, std::string>, int, TypeParam>;
  using numbers = cubby::map<std::pair<std::uint64_t, std::uint64_t>, int, TypeParam>;
  for (const std::uint64_t c : constants) {
    const std::string text(reinterpret_cast<const char*>(&c), sizeof c);
    expect_all_taken<texts>("a short text behind", [&](std::uint64_t n) { return std::pair(std::to_string(n), text); });
    expect_all_taken<texts>("a long text behind",
                            [&](std::uint64_t n) { return std::pair(std::to_string(n), text + text); });
    expect_all_taken<numbers>("a number behind", [&](std::uint64_t n) { return std::pair(n, c); });
    expect_all_taken<numbers>("a number before", [&](std::uint64_t n) { return std::pair(c, n); });
  }
}

} // namespace
} // namespace cubby_test
