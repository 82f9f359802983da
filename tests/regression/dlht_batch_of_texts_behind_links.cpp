// SPDX-License-Identifier: Apache-2.0
// A batch over records answers a miss from the bin's first line. A key in a link bucket is not on that line, and is found.
// Requests for one key keep their order, whatever changes between the steps of the batch.
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

/// Lower-case ends are in the first bin, others in the last one.
struct two_bins_of_texts_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::string_view key) const noexcept {
    const std::uint64_t end = static_cast<unsigned char>(key.back());
    return end | (end < 'a' ? std::uint64_t{1} << 63 : 0);
  }
};
using map_of_two_bins = cubby::map<std::string, std::uint64_t, cubby::dlht, two_bins_of_texts_hash>;

std::string text_that_ends_with(char end) { return std::string(40, 'x') + end; }

/// The key 'k' is looked up twice. Keys that are absent, from another bin, are answered at once: before the second lookup has seen
/// the bin, and after it. Then `before` and `after` run. What the two lookups find, 0 for nothing.
template <class Before, class After> std::array<std::uint64_t, 2> looked_up_twice(map_of_two_bins& m, Before before,
                                                                                  After after) {
  const std::array<std::string, 4> asked{text_that_ends_with('k'), text_that_ends_with('A'), text_that_ends_with('k'),
                                         text_that_ends_with('B')};
  std::array<std::uint64_t, 2> seen{};
  std::size_t next = 0;
  m.visit_batch(std::span<const std::string>(asked), [&](std::size_t i, const std::uint64_t* value) {
    if (i == 1) return before();
    if (i == 3) return after();
    EXPECT_EQ(2 * next, i) << "the first one is answered first";
    seen[next++] = value != nullptr ? *value : 0;
  });
  EXPECT_EQ(2u, next);
  return seen;
}

TEST(regression_batch_of_texts, shows_no_older_value_to_a_later_request) {
  cubby::options o;
  o.capacity = 256;
  map_of_two_bins m(o);
  m.insert(text_that_ends_with('k'), 1);
  const auto seen = looked_up_twice(
      m, [&] { m.insert(text_that_ends_with('m'), 5); }, [&] { m.assign(text_that_ends_with('k'), 2); });
  EXPECT_LE(seen[0], seen[1]);
}

TEST(regression_batch_of_texts, answers_no_miss_before_its_turn) {
  cubby::options o;
  o.capacity = 256;
  map_of_two_bins m(o);
  m.insert(text_that_ends_with('k'), 1);
  const auto seen =
      looked_up_twice(m, [&] { m.erase(text_that_ends_with('k')); }, [&] { m.insert(text_that_ends_with('k'), 2); });
  EXPECT_EQ(2u, seen[1]) << "the entry is there again before either is answered";
}

} // namespace
} // namespace cubby_test
