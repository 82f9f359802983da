// SPDX-License-Identifier: Apache-2.0
// What is taken out waits to be freed under one of 16 locks. A thread that stands still while it holds one of them does not hold up
// others that bring more. They may come from a thread record of the same lock, or when all are looked after in turn. Only when 16
// stand there does the next one wait, for the first that goes on. Nothing is lost, and nothing freed twice.
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include <cubby/detail/core/epoch.hpp>

#include "support/fiber_scheduler.hpp"

namespace cubby_test {
namespace {

constexpr std::size_t locks = 16;     // of core/epoch.hpp
constexpr std::size_t in_a_lot = 256; // words after which one that adds them looks after a lock

struct left_word {
  std::uint64_t link = 0;
  int freed = 0;
};
struct left_word_policy {
  static constexpr bool unique_words = true;
  static left_word& at(std::uint64_t word) { return *reinterpret_cast<left_word*>(word); }
  std::uint64_t& retire_link(std::uint64_t word) const noexcept { return at(word).link; }
  void dispose(std::uint64_t word) const { ++at(word).freed; }
};

class parked_retirers : public ::testing::Test {
protected:
  using bag_type = cubby::detail::retire_bag<left_word_policy, cubby::detail::sync::shared>;
  parked_retirers() : thread_record_(*cubby::detail::registry::claim()) {}
  ~parked_retirers() override { cubby::detail::registry::release(&thread_record_); }
  /// Every thread has the same thread record: outside a pin it is a number and nothing else.
  void add(std::size_t i) { bag.add(thread_record_, reinterpret_cast<std::uint64_t>(&words[i])); }
  /// Lets a thread go on until it holds a lock: before the step that gives it back.
  static bool stops_inside(fiber_scheduler& turns, std::size_t thread) {
    const auto gives_back = [](step kind, const void*) { return kind == step::store; };
    return turns.run_until(thread, gives_back) == fiber_scheduler::stopped::before_step;
  }
  void expect_each_freed_once() {
    bag.collect();
    EXPECT_EQ(bag.waiting(), 0u);
    for (const left_word& w : words) EXPECT_EQ(w.freed, 1) << "word " << &w - words.data();
  }

  std::vector<left_word> words = std::vector<left_word>(locks + 2);
  left_word_policy policy;
  bag_type bag{policy};

private:
  cubby::detail::thread_record& thread_record_;
};

TEST_F(parked_retirers, hold_up_no_thread_until_each_lock_is_held) {
  fiber_scheduler turns;
  std::array<std::size_t, locks> standing{};
  for (std::size_t i = 0; i < locks; ++i) {
    standing[i] = turns.start([this, i] { add(i); });
    ASSERT_TRUE(stops_inside(turns, standing[i])) << "with " << i << " locks held";
  }
  const auto late = turns.start([this] { add(locks); });
  EXPECT_FALSE(turns.ends_alone(late));
  EXPECT_TRUE(turns.ends_alone(standing[locks / 2]));
  EXPECT_TRUE(turns.ends_alone(late)) << "one lock is free";
  const auto later = turns.start([this] { add(locks + 1); });
  EXPECT_TRUE(turns.ends_alone(later)) << "that lock is free again";
  EXPECT_TRUE(turns.finish_all());
  EXPECT_EQ(bag.waiting(), locks + 2);
  expect_each_freed_once();
}

TEST_F(parked_retirers, are_left_alone_by_who_looks_after_each_lock_in_turn) {
  words.resize(1 + in_a_lot * (locks + 1));
  fiber_scheduler turns;
  const auto standing = turns.start([this] { add(0); });
  ASSERT_TRUE(stops_inside(turns, standing));
  const auto busy = turns.start([this] {
    for (std::size_t i = 1; i < words.size(); ++i) add(i);
  });
  EXPECT_TRUE(turns.ends_alone(busy));
  EXPECT_TRUE(turns.finish_all());
  expect_each_freed_once();
}

} // namespace
} // namespace cubby_test
