// SPDX-License-Identifier: Apache-2.0
// The pages of a growth. Inserts touch them one by one, those of the lines before the growth begins, so that no insert touches many
// (prepare.hpp). The numbers of pages are read from the kernel: nothing is timed.
#include <utility>

#include <sys/mman.h>

#include "iceberg/table_of.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

namespace memory = cubby::detail::memory;

memory::region next_pages_of(const iceberg_words& m) {
  const auto* const made = table_of(m).next.made.load(cubby::detail::sync::acquire);
  return made != nullptr ? made->pages : memory::region{};
}
/// Of the huge pages of a region, how many have been touched.
std::size_t touched_in(const memory::region& pages) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < pages.bytes; at += memory::huge_page) {
    unsigned char state = 0;
    if (mincore(pages.address + at, memory::small_page, &state) == 0) count += state & 1u;
  }
  return count;
}
bool kernel_can_touch() {
  auto pages = memory::allocate(memory::huge_page);
  memory::bring_in(pages.address, pages.bytes);
  const bool can = touched_in(pages) == 1;
  memory::release(pages);
  return can;
}

class iceberg_next_pages : public ::testing::TestWithParam<cubby::growth_policy> {
protected:
  void SetUp() override {
    if (!kernel_can_touch()) GTEST_SKIP() << "the kernel has no MADV_POPULATE_WRITE";
    while (pages_.address == nullptr) {
      ASSERT_TRUE(m_.insert(splitmix(next_++), 1));
      pages_ = next_pages_of(m_);
    }
  }
  static cubby::iceberg::options options() {
    cubby::iceberg::options o;
    o.capacity = 300'000; // a growth takes some three huge pages
    o.growth = GetParam();
    return o;
  }
  iceberg_words m_{options()};
  std::uint64_t next_ = 0;
  memory::region pages_;
};

TEST_P(iceberg_next_pages, are_touched_one_an_insert) {
  const bool one_an_insert =
      GetParam() == cubby::growth_policy::incremental; // else the thread of the table touches them
  ASSERT_GT(pages_.bytes, 2 * memory::huge_page);
  const auto is_at_rest = [&] {
    const auto root = cubby::detail::engines::iceberg::first_root(table_of(m_));
    return root.level() == 1 && !root.moving();
  };
  std::size_t before = touched_in(pages_);
  for (bool waits = true; !is_at_rest();) {
    ASSERT_TRUE(m_.insert(splitmix(next_++), 1));
    const bool waited = std::exchange(waits, next_pages_of(m_).address != nullptr);
    if (one_an_insert && waited) {
      ASSERT_LE(before, 2u) << "those of the lines, and the next one";
    }
    if (one_an_insert && waited && !waits) {
      ASSERT_EQ(before, 2u) << "when the growth begins";
    }
    const std::size_t now = touched_in(pages_);
    if (one_an_insert) {
      ASSERT_LE(now, before + 1);
    }
    before = now;
  }
  if (one_an_insert) {
    EXPECT_EQ(before, (pages_.bytes - 1) / memory::huge_page + 1);
  }
  for (std::uint64_t k = 0; k < next_; k += 7) ASSERT_TRUE(m_.contains(splitmix(k)));
}

/// An insert does one unit of the growth: it leaves the bucket of its key as it is, unless that is full.
TEST_P(iceberg_next_pages, come_with_one_unit_an_insert) {
  if (GetParam() != cubby::growth_policy::incremental) GTEST_SKIP() << "the thread of the table is faster";
  const auto& t = table_of(m_);
  const auto is_moving = [&] { return cubby::detail::engines::iceberg::first_root(t).moving(); };
  while (!is_moving()) ASSERT_TRUE(m_.insert(splitmix(next_++), 1));
  const std::uint64_t begin = next_;
  while (is_moving()) ASSERT_TRUE(m_.insert(splitmix(next_++), 1));
  EXPECT_GE(next_ - begin, t.fronts * 2 - 1) << "a unit for each pair of front buckets, and one for what is behind it";
  EXPECT_LE(next_ - begin, t.fronts * 2 + 1);
}

TEST_P(iceberg_next_pages, are_counted_and_given_back_by_a_shrink) {
  if (GetParam() != cubby::growth_policy::incremental) GTEST_SKIP() << "the thread of the table is faster";
  const auto with = m_.stats().bytes;
  ASSERT_TRUE(m_.shrink_to_fit());
  EXPECT_EQ(next_pages_of(m_).address, nullptr);
  ASSERT_TRUE(m_.insert(splitmix(next_++), 1)); // frees what is retired
  for (int i = 0; i < 1000 && m_.stats().retired != 0; ++i) ASSERT_TRUE(m_.assign(splitmix(1), 2));
  EXPECT_LE(m_.stats().bytes + pages_.bytes, with);
  const auto& growths = table_of(m_).growths; // `stats` reads a long file of the kernel
  while (growths.load(cubby::detail::sync::relaxed) == 0)
    ASSERT_TRUE(m_.insert(splitmix(next_++), 1)) << "the next mark prepares again";
  for (std::uint64_t k = 0; k < next_; k += 7) ASSERT_TRUE(m_.contains(splitmix(k)));
}

INSTANTIATE_TEST_SUITE_P(growths, iceberg_next_pages,
                         ::testing::Values(cubby::growth_policy::incremental, cubby::growth_policy::background));

} // namespace
} // namespace cubby_test
