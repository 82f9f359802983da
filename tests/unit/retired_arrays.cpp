// SPDX-License-Identifier: Apache-2.0
// The list of arrays that a root has stepped past. Each is freed when the last pin that could see it has ended, no later
// for the sake of another, and at most a slice of pages at a time. And regions whose figures are asked for afterwards.
#include <cstddef>
#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

#include <cubby/detail/core/retired.hpp>

namespace cubby_test {
namespace {

namespace memory = cubby::detail::memory;

/// Counts those that live.
struct counted_array {
  explicit counted_array(std::size_t bytes) : pages(memory::allocate(bytes)) { ++living; }
  ~counted_array() { --living; }
  counted_array(const counted_array&) = delete;
  counted_array& operator=(const counted_array&) = delete;

  memory::region pages;
  std::uint64_t retired_at = 0;
  counted_array* next_retired = nullptr;
  static inline int living = 0;
};

class retired_list : public ::testing::Test {
protected:
  /// True: it has its pages.
  bool add(std::size_t pages) {
    auto* const made = new counted_array(pages * memory::small_page);
    const bool mapped = made->pages.address != nullptr;
    const cubby::detail::lock_scope hold(list.lock);
    list.add(*made);
    return mapped;
  }
  void release(std::size_t slice = ~std::size_t{0}) {
    const cubby::detail::lock_scope hold(list.lock);
    list.release(slice);
  }
  void TearDown() override {
    list.free_all();
    EXPECT_EQ(counted_array::living, 0);
    cubby::detail::registry::release(mine);
  }
  cubby::detail::thread_record* mine = cubby::detail::registry::claim();
  cubby::detail::retired_arrays<counted_array, cubby::detail::sync::shared> list{cubby::detail::registry::own_domain()};
};

TEST_F(retired_list, keeps_an_array_for_an_older_pin_and_for_no_younger_one) {
  ASSERT_NE(mine, nullptr);
  std::optional<cubby::detail::thread_pin> stay;
  ASSERT_TRUE(add(1));
  stay.emplace(*mine);
  ASSERT_TRUE(add(2));
  release();
  EXPECT_EQ(list.count(), 1u) << "the pin came after the first array had left";
  EXPECT_EQ(list.bytes(), 2 * memory::small_page) << "the pin may look into the second";
  EXPECT_EQ(counted_array::living, 1);
  stay.reset();
  release();
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(counted_array::living, 0);
}

TEST_F(retired_list, gives_back_a_slice_at_a_time) {
  constexpr std::size_t unit = memory::pages_from; // smaller arrays are of the heap
  ASSERT_TRUE(add(2 * unit / memory::small_page));
  ASSERT_TRUE(add(3 * unit / memory::small_page));
  for (std::size_t left = 5; left != 0; --left) {
    EXPECT_EQ(list.bytes(), left * unit);
    EXPECT_EQ(list.count(), left > 2 ? 2u : 1u) << left;
    release(unit);
  }
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(counted_array::living, 0);
}

/// An array of the heap goes back whole, or waits for a slice that is large enough.
TEST_F(retired_list, gives_a_small_array_back_whole) {
  ASSERT_TRUE(add(2));
  release(memory::small_page);
  EXPECT_EQ(list.bytes(), 2 * memory::small_page);
  release(2 * memory::small_page);
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(counted_array::living, 0);
}

TEST_F(retired_list, frees_several_arrays_in_one_slice) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(add(1));
  release(2 * memory::small_page);
  EXPECT_EQ(list.count(), 1u);
  EXPECT_EQ(counted_array::living, 1);
}

TEST(memory_region, has_less_than_a_page_more_than_was_asked_for) {
  for (const std::size_t asked : {std::size_t{1}, memory::pages_from, memory::huge_page - 1, memory::huge_page,
                                  memory::huge_page + 1, 3 * memory::huge_page + 5 * memory::small_page}) {
    memory::region pages = memory::allocate(asked);
    ASSERT_NE(pages.address, nullptr) << asked;
    EXPECT_GE(pages.bytes, asked);
    EXPECT_LT(pages.bytes, asked + (asked < memory::huge_page ? memory::small_page : memory::any_page));
    const auto address = reinterpret_cast<std::uintptr_t>(pages.address);
    EXPECT_EQ(address % (asked < memory::huge_page ? 128 : memory::huge_page), 0u) << asked;
    EXPECT_EQ(pages.address[pages.bytes - 1], std::byte{0}) << asked;
    memory::release(pages);
  }
}

/// The end of what stays, so that no huge page is split.
TEST(memory_region, goes_back_in_slices_that_end_with_whole_huge_pages) {
  memory::region pages = memory::allocate(9 * memory::huge_page + 3 * memory::any_page);
  ASSERT_NE(pages.address, nullptr);
  std::size_t slices = 0;
  while (pages.bytes != 0) {
    const std::size_t before = pages.bytes;
    memory::release(pages, 2 * memory::huge_page - 5000);
    EXPECT_LT(before - pages.bytes, 2 * memory::huge_page);
    EXPECT_EQ(pages.bytes % memory::huge_page, 0u);
    ASSERT_LT(pages.bytes, before);
    ++slices;
  }
  EXPECT_EQ(slices, 9u);
}

/// Of huge pages it counts those of the first 32.
TEST(region_list, counts_the_bytes_of_every_region) {
  memory::region_list all;
  memory::region pages = memory::allocate(memory::huge_page);
  ASSERT_NE(pages.address, nullptr);
  for (std::size_t i = 1; i <= 40; ++i) {
    all.add(pages);
    ASSERT_EQ(all.bytes(), i * memory::huge_page);
  }
  *pages.address = std::byte{1};
  EXPECT_LE(all.huge_bytes(), 32 * memory::huge_page);
  memory::release(pages);
}

} // namespace
} // namespace cubby_test
