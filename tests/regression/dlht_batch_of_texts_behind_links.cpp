// SPDX-License-Identifier: Apache-2.0
// A batch over records answers a miss from the bin's first line. A key in a link bucket is not on that line, and is found.
#include <array>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <cubby/map.hpp>

namespace cubby_test {
namespace {

constexpr std::size_t texts_of_one_bin = 6; // three slots are on the first line
struct bin_of_texts_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::string_view key) const noexcept { return static_cast<unsigned char>(key.back()); }
};

TEST(regression_batch_of_texts, finds_a_key_that_lies_in_a_link_bucket) {
  cubby::options o;
  o.capacity = 256;
  cubby::map<std::string, std::uint64_t, cubby::dlht, bin_of_texts_hash> m(o);
  std::array<std::string, texts_of_one_bin> asked;
  for (std::size_t n = asked.size(); n-- > 0;) { // the first line's are asked for last: what is behind them is put off
    asked[n] = std::string(40, 'x') + static_cast<char>('a' + n);
    ASSERT_TRUE(m.insert(asked[n], n));
  }
  std::array<std::uint64_t, asked.size()> values{};
  std::array<bool, asked.size()> found{};
  EXPECT_EQ(texts_of_one_bin, m.find_batch(std::span<const std::string>(asked), values, found));
  for (std::size_t n = 0; n < asked.size(); ++n) {
    EXPECT_TRUE(found[n]) << n;
    EXPECT_EQ(n, values[n]) << n;
  }
}

} // namespace
} // namespace cubby_test
