// SPDX-License-Identifier: Apache-2.0
// Thread records and epochs. Thread records are reused. A pin holds back what is unlinked after it began and nothing else. The bag
// of retired words disposes of each word once, after its grace period.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <cubby/detail/core/epoch.hpp>
#include <cubby/detail/core/registry.hpp>

#include "support/threads.hpp"

namespace cubby_test {
namespace {

TEST(registry, uses_membarrier_unless_told_otherwise) {
  // Whether the kernel has it or not: never when it was disabled.
  if (std::getenv("CUBBY_TEST_NO_MEMBARRIER") != nullptr) {
    EXPECT_FALSE(cubby::detail::barrier::is_asymmetric());
  } else {
    EXPECT_EQ(cubby::detail::barrier::is_asymmetric(), cubby::detail::barrier::detail::kernel_has_membarrier());
  }
}

TEST(registry, thread_records_are_reused_and_never_shared) {
  cubby::detail::thread_record* const first = cubby::detail::registry::claim();
  cubby::detail::thread_record* const second = cubby::detail::registry::claim();
  ASSERT_NE(first, nullptr);
  EXPECT_NE(first, second);
  EXPECT_NE(first->id(), second->id());
  cubby::detail::registry::release(first);
  cubby::detail::thread_record* const third = cubby::detail::registry::claim();
  EXPECT_NE(third, second);
  cubby::detail::registry::release(second);
  cubby::detail::registry::release(third);
}

TEST(registry, a_thread_gives_its_thread_record_back_when_it_ends) {
  cubby::detail::thread_record* mine = nullptr;
  std::thread([&] {
    mine = cubby::detail::registry::local();
    EXPECT_EQ(mine, cubby::detail::registry::local());
  }).join();
  std::vector<cubby::detail::thread_record*> claimed;
  bool found = false;
  while (!found && claimed.size() < 1000) {
    claimed.push_back(cubby::detail::registry::claim());
    found = claimed.back() == mine;
  }
  for (auto* const s : claimed) cubby::detail::registry::release(s);
  EXPECT_TRUE(found);
}

TEST(registry, a_pin_holds_back_the_epochs_after_it_and_nests) {
  cubby::detail::thread_record* const s = cubby::detail::registry::claim();
  const std::uint64_t before = cubby::detail::registry::advance();
  EXPECT_GE(cubby::detail::registry::oldest(), before);
  {
    const cubby::detail::thread_pin outer(*s);
    const std::uint64_t after = cubby::detail::registry::advance();
    EXPECT_LT(cubby::detail::registry::oldest(), after);
    EXPECT_GE(cubby::detail::registry::oldest(), before);
    {
      const cubby::detail::thread_pin inner(*s);
    }
    EXPECT_LT(cubby::detail::registry::oldest(), after) << "the outer pin still holds";
  }
  EXPECT_GE(cubby::detail::registry::oldest(), cubby::detail::registry::advance());
  cubby::detail::registry::release(s);
}

/// Words that point to cells; a disposed cell says so.
struct cell_policy {
  static constexpr bool unique_words = true;
  struct cell {
    std::uint64_t link = 0;
    int disposed = 0;
  };
  static cell& at(std::uint64_t word) { return *reinterpret_cast<cell*>(word); }
  std::uint64_t& retire_link(std::uint64_t word) const noexcept { return at(word).link; }
  void dispose(std::uint64_t word) const { ++at(word).disposed; }
};

/// The same, of which every few calls dispose of some.
struct plain_cell_policy : cell_policy {
  static constexpr bool disposes_plainly = true;
};
static_assert(cubby::detail::plain_disposal<plain_cell_policy> && !cubby::detail::plain_disposal<cell_policy>);

template <class Policy> void dispose_once_and_not_before_the_last_pin() {
  std::vector<cell_policy::cell> cells(14'000);
  const auto word = [&](std::size_t i) { return reinterpret_cast<std::uint64_t>(&cells[i]); };
  cubby::detail::thread_record* const reader = cubby::detail::registry::claim();
  cubby::detail::thread_record* const writer = cubby::detail::registry::claim();
  const Policy policy;
  {
    cubby::detail::retire_bag<Policy, cubby::detail::sync::shared> bag(policy);
    {
      const cubby::detail::thread_pin pin(*reader);
      for (std::size_t i = 0; i < 4000; ++i) bag.add(*writer, word(i));
      bag.collect();
      for (std::size_t i = 0; i < 4000; ++i) ASSERT_EQ(cells[i].disposed, 0) << "under a pin: " << i;
      EXPECT_EQ(bag.waiting(), 4000u);
    }
    bag.collect();
    EXPECT_EQ(bag.waiting(), 0u);
    for (std::size_t i = 0; i < 4000; ++i) ASSERT_EQ(cells[i].disposed, 1) << i;
    for (std::size_t i = 4000; i < 14'000; ++i) bag.add(*writer, word(i));
    EXPECT_LT(bag.waiting(), 10'000u) << "adding collects by itself";
  }
  for (const auto& c : cells) ASSERT_EQ(c.disposed, 1);
  cubby::detail::registry::release(reader);
  cubby::detail::registry::release(writer);
}

/// What a long pin has held back goes a slice at a time: each word once, and none is forgotten. A slice is at most 512 words.
template <class Policy> void dispose_of_everything_in_slices() {
  constexpr std::size_t held_back = 10'000;
  std::vector<cell_policy::cell> cells(3 * held_back);
  const auto word = [&](std::size_t i) { return reinterpret_cast<std::uint64_t>(&cells[i]); };
  cubby::detail::thread_record* const reader = cubby::detail::registry::claim();
  cubby::detail::thread_record* const writer = cubby::detail::registry::claim();
  const Policy policy;
  {
    cubby::detail::retire_bag<Policy, cubby::detail::sync::shared> bag(policy);
    {
      const cubby::detail::thread_pin pin(*reader);
      for (std::size_t i = 0; i < held_back; ++i) bag.add(*writer, word(i));
    }
    std::size_t waited = bag.waiting();
    for (std::size_t i = held_back; i < cells.size(); ++i) {
      bag.add(*writer, word(i));
      const std::size_t wait = bag.waiting();
      ASSERT_LE(waited + 1, wait + 512) << "one call disposes of too many";
      waited = wait;
    }
    EXPECT_LT(waited, 4 * 2048u);
  }
  for (const auto& c : cells) ASSERT_EQ(c.disposed, 1) << &c - cells.data();
  cubby::detail::registry::release(reader);
  cubby::detail::registry::release(writer);
}

/// The grace period of a word begins when it comes, whatever the bag has waited for before.
template <class Policy> void wait_anew_for_each_lot() {
  std::vector<cell_policy::cell> cells(20);
  cubby::detail::thread_record* const reader = cubby::detail::registry::claim();
  cubby::detail::thread_record* const writer = cubby::detail::registry::claim();
  const Policy policy;
  {
    cubby::detail::retire_bag<Policy, cubby::detail::sync::shared> bag(policy);
    for (auto& c : cells) {
      const cubby::detail::thread_pin pin(*reader);
      bag.add(*writer, reinterpret_cast<std::uint64_t>(&c));
      bag.collect();
      bag.collect();
      ASSERT_EQ(c.disposed, 0) << "under a pin: " << &c - cells.data();
    }
  }
  for (const auto& c : cells) ASSERT_EQ(c.disposed, 1);
  cubby::detail::registry::release(reader);
  cubby::detail::registry::release(writer);
}

TEST(retire_bag, disposes_once_and_not_before_the_last_pin_that_could_see) {
  dispose_once_and_not_before_the_last_pin<cell_policy>();
  dispose_once_and_not_before_the_last_pin<plain_cell_policy>();
}
TEST(retire_bag, disposes_of_everything_in_slices) {
  dispose_of_everything_in_slices<cell_policy>();
  dispose_of_everything_in_slices<plain_cell_policy>();
}
TEST(retire_bag, waits_anew_for_each_lot) {
  wait_anew_for_each_lot<cell_policy>();
  wait_anew_for_each_lot<plain_cell_policy>();
}

/// The memory of a word may be gone once it is disposed of.
struct freed_policy : plain_cell_policy {
  [[nodiscard]] std::uint64_t& retire_link(std::uint64_t word) const {
    EXPECT_EQ(at(word).disposed, 0) << "read behind its end";
    return plain_cell_policy::retire_link(word);
  }
};

/// Also not to ask for the memory of those that come next, when somebody else has disposed of them.
TEST(retire_bag, reads_no_word_that_is_disposed_of) {
  std::vector<freed_policy::cell> cells(40'000);
  cubby::detail::thread_record* const writer = cubby::detail::registry::claim();
  const freed_policy policy;
  {
    cubby::detail::retire_bag<freed_policy, cubby::detail::sync::shared> bag(policy);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      bag.add(*writer, reinterpret_cast<std::uint64_t>(&cells[i]));
      if (i % 4099 == 0) bag.collect();
    }
  }
  for (const auto& c : cells) ASSERT_EQ(c.disposed, 1);
  cubby::detail::registry::release(writer);
}

/// Two threads that retire in turns into the same stripe: each of them disposes of some.
TEST(retire_bag, lets_each_thread_of_a_stripe_dispose) {
  std::vector<cubby::detail::thread_record*> claimed;
  std::array<cubby::detail::thread_record*, 16> of_stripe{};
  std::array<cubby::detail::thread_record*, 2> both{};
  while (both[0] == nullptr) { // 17 records share 16 stripes
    claimed.push_back(cubby::detail::registry::claim());
    ASSERT_NE(claimed.back(), nullptr);
    cubby::detail::thread_record*& same = of_stripe[claimed.back()->id() % 16];
    if (same != nullptr) both = {same, claimed.back()};
    same = claimed.back();
  }
  std::vector<plain_cell_policy::cell> cells(40'000);
  const plain_cell_policy policy;
  int disposing_calls[2] = {};
  {
    cubby::detail::retire_bag<plain_cell_policy, cubby::detail::sync::shared> bag(policy);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::size_t before = bag.waiting();
      bag.add(*both[i % 2], reinterpret_cast<std::uint64_t>(&cells[i]));
      if (bag.waiting() <= before) ++disposing_calls[i % 2];
    }
  }
  EXPECT_GT(disposing_calls[0], 1000);
  EXPECT_GT(disposing_calls[1], 1000);
  for (auto* const one : claimed) cubby::detail::registry::release(one);
}

/// Disposing of a word that an allocator's call retires another one in.
struct chatty_policy : cell_policy {
  static constexpr bool disposes_plainly = true;
  using bag_type = cubby::detail::retire_bag<chatty_policy, cubby::detail::sync::shared>;
  static inline bag_type* bag = nullptr;
  static inline cubby::detail::thread_record* writer = nullptr;
  static inline std::vector<cell>* spare = nullptr;
  static inline std::size_t next_spare = 0;
  static inline int depth = 0;
  static inline int deepest = 0;
  void dispose(std::uint64_t word) const {
    ++at(word).disposed;
    deepest = std::max(deepest, ++depth);
    if (next_spare < spare->size()) bag->add(*writer, reinterpret_cast<std::uint64_t>(&(*spare)[next_spare++]));
    --depth;
  }
};

/// Otherwise as many calls would stand one inside the other as a long pin has held words back.
TEST(retire_bag, disposes_of_nothing_inside_a_disposal) {
  std::vector<chatty_policy::cell> cells(10'000);
  std::vector<chatty_policy::cell> spare(5'000);
  chatty_policy::spare = &spare;
  chatty_policy::next_spare = 0;
  chatty_policy::deepest = 0;
  cubby::detail::thread_record* const reader = cubby::detail::registry::claim();
  chatty_policy::writer = cubby::detail::registry::claim();
  const chatty_policy policy;
  {
    chatty_policy::bag_type bag(policy);
    chatty_policy::bag = &bag;
    {
      const cubby::detail::thread_pin pin(*reader);
      for (std::size_t i = 0; i < 5'000; ++i)
        bag.add(*chatty_policy::writer, reinterpret_cast<std::uint64_t>(&cells[i]));
    }
    for (std::size_t i = 5'000; i < cells.size(); ++i)
      bag.add(*chatty_policy::writer, reinterpret_cast<std::uint64_t>(&cells[i]));
    EXPECT_EQ(chatty_policy::deepest, 1);
    EXPECT_GT(chatty_policy::next_spare, 0u);
    chatty_policy::next_spare = spare.size();
  }
  for (const auto& c : cells) ASSERT_EQ(c.disposed, 1) << &c - cells.data();
  cubby::detail::registry::release(reader);
  cubby::detail::registry::release(chatty_policy::writer);
}

} // namespace
} // namespace cubby_test
