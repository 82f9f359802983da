// SPDX-License-Identifier: Apache-2.0
// Which chunk of a file has an offset: the last one that begins at it or before it.
#include <cubby/detail/core/chunk_windows.hpp>

#include <cstdint>
#include <deque>

#include <gtest/gtest.h>

#include "support/random.hpp"

namespace cubby_test::chunk_window_tests {
namespace {

constexpr std::uint64_t window = 4096;
struct chunk {
  std::uint64_t at;
};

class chunk_windows : public ::testing::Test {
protected:
  void add(std::uint64_t at) {
    all_.push_back({at});
    ASSERT_TRUE(windows_.add(all_.back()));
  }
  [[nodiscard]] const chunk* searched(std::uint64_t offset) const {
    const chunk* out = nullptr;
    for (const chunk& one : all_)
      if (one.at <= offset) out = &one;
    return out;
  }
  /// Chunks have no size here: each ends where the next one begins.
  void compare(std::uint64_t offset) const {
    const chunk* const wanted = searched(offset);
    ASSERT_EQ(windows_.last_before(offset), wanted) << offset;
    if (wanted == nullptr) return;
    ASSERT_EQ(&windows_.of(offset), wanted) << offset;
  }
  std::deque<chunk> all_;
  cubby::detail::chunk_windows<chunk, window> windows_;
};

TEST_F(chunk_windows, have_none_at_first) { compare(12345); }

TEST_F(chunk_windows, have_none_before_a_chunk_in_the_first_window) {
  add(window / 2);
  EXPECT_EQ(windows_.last_before(0), nullptr);
  for (const std::uint64_t offset : {std::uint64_t{0}, window / 2 - 1, window / 2, window}) compare(offset);
}
TEST_F(chunk_windows, have_none_before_a_chunk_behind_empty_windows) {
  add(3 * window);
  EXPECT_EQ(windows_.last_before(3 * window - 1), nullptr);
  for (const std::uint64_t offset : {std::uint64_t{0}, window - 1, 3 * window - 1, 3 * window}) compare(offset);
}

TEST_F(chunk_windows, find_the_last_chunk_before_each_offset) {
  random_source random(0xc4a1);
  std::uint64_t at = random.below(5) * window + random.below(window);
  for (int i = 0; i < 300; ++i, at += window + random.below(random.below(8) == 0 ? 9 * window : window)) {
    add(at);
    for (const std::uint64_t offset : {std::uint64_t{0}, at - 1, at, at + 1, at + window - 1, at + 20 * window})
      compare(offset);
  }
  for (int i = 0; i < 2000; ++i) compare(random.below(at + 2 * window));
}

} // namespace
} // namespace cubby_test::chunk_window_tests
