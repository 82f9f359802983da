// SPDX-License-Identifier: Apache-2.0
// The section queue: every message arrives once, in order, as it was sent, whatever the sizes, the rates and the flushes.
// A full queue says so. Two threads that send to each other into full queues both come to an end.
#include <array>
#include <atomic>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include <cubby/detail/core/channel.hpp>

#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test::channel_tests {
namespace {

template <class Channel>
class channels : public ::testing::Test {};
using shapes =
    ::testing::Types<cubby::detail::channel<1, 2>, cubby::detail::channel<2, 4>, cubby::detail::channel<4, 2>,
                     cubby::detail::channel<16, 16>, cubby::detail::channel<64, 2>, cubby::detail::channel<64, 8>>;
TYPED_TEST_SUITE(channels, shapes);

constexpr std::uint64_t second_of(std::uint64_t n) { return splitmix(n); }
constexpr unsigned kind_of(std::uint64_t n) { return static_cast<unsigned>(splitmix(n ^ 77) % 4); }

template <class Producer>
bool send(Producer& to, std::uint64_t n) {
  return to.try_send(n, second_of(n), kind_of(n));
}

/// Takes at most `most` messages and expects them to be number `next` and those behind it.
template <class Consumer>
std::uint32_t take(Consumer& from, std::uint64_t& next, std::uint32_t most) {
  const auto got = from.peek();
  const std::uint32_t count = got.count < most ? got.count : most;
  for (std::uint32_t i = 0; i < count; ++i, ++next) {
    EXPECT_EQ(got[i].first, next);
    EXPECT_EQ(got[i].second, second_of(next));
    EXPECT_EQ(got.kind(i), kind_of(next)) << "message " << next;
  }
  if (count != 0) from.release(count);
  return count;
}

/// A count that begins below 2^32 wraps within these tests.
template <class Channel>
std::unique_ptr<Channel> near_the_wrap(random_source& random) {
  return std::make_unique<Channel>(~std::uint32_t{0} - static_cast<std::uint32_t>(random.below(2 * Channel::capacity)));
}

TYPED_TEST(channels, keep_order_and_lose_nothing_at_random_steps) {
  random_source random(6200);
  for (unsigned round = 0; round < 20; ++round) {
    const auto ring = near_the_wrap<TypeParam>(random);
    typename TypeParam::producer in(*ring);
    typename TypeParam::consumer out(*ring);
    std::uint64_t sent = 0, taken = 0, shown = 0;
    for (std::uint64_t step = 0; step < scaled(2000); ++step) {
      const std::uint64_t burst = random.below(2 * TypeParam::capacity);
      for (std::uint64_t i = 0; i < burst && send(in, sent); ++i) ++sent;
      if (in.is_between_sections()) shown = sent;
      if (random.one_in(3)) {
        in.flush();
        shown = sent;
      }
      for (std::uint64_t i = random.below(8); i != 0; --i)
        take(out, taken, static_cast<std::uint32_t>(1 + random.below(TypeParam::section_size)));
      if (::testing::Test::HasFailure()) return;
      ASSERT_LE(taken, sent);
      ASSERT_LE(sent - taken, TypeParam::capacity);
    }
    in.flush();
    while (take(out, taken, ~0u) != 0) {
    }
    ASSERT_EQ(taken, sent);
    ASSERT_GE(sent, shown);
    ASSERT_TRUE(in.is_consumed());
  }
}

TYPED_TEST(channels, show_whole_sections_at_once_and_parts_when_flushed) {
  random_source random(6201);
  const auto ring = near_the_wrap<TypeParam>(random);
  typename TypeParam::producer in(*ring);
  typename TypeParam::consumer out(*ring);
  std::uint64_t sent = 0, taken = 0;
  ASSERT_TRUE(in.is_consumed());
  for (unsigned round = 0; round < 50; ++round) {
    if (::testing::Test::HasFailure()) return;
    const std::uint64_t part = random.below(TypeParam::section_size);
    for (std::uint64_t i = 0; i < part; ++i) ASSERT_TRUE(send(in, sent++));
    ASSERT_EQ(take(out, taken, ~0u), 0u) << "a section that is not full was shown";
    ASSERT_EQ(in.is_consumed(), part == 0);
    in.flush();
    while (take(out, taken, ~0u) != 0) {
    }
    ASSERT_EQ(taken, sent);
    ASSERT_TRUE(in.is_consumed());
    while (!in.is_between_sections()) ASSERT_TRUE(send(in, sent++));
    while (take(out, taken, ~0u) != 0) {
    }
    ASSERT_EQ(taken, sent) << "a full section was not shown";
  }
}

TYPED_TEST(channels, refuse_when_full_and_go_on_when_a_section_is_free) {
  random_source random(6202);
  const auto ring = near_the_wrap<TypeParam>(random);
  typename TypeParam::producer in(*ring);
  typename TypeParam::consumer out(*ring);
  std::uint64_t sent = 0, taken = 0;
  while (send(in, sent)) ++sent;
  ASSERT_EQ(sent, TypeParam::capacity);
  for (unsigned i = 0; i < 3; ++i) ASSERT_FALSE(send(in, sent)) << "a full queue took a message";
  for (std::uint32_t i = 1; i < TypeParam::section_size; ++i) {
    ASSERT_EQ(take(out, taken, 1), 1u);
    ASSERT_FALSE(send(in, sent)) << "a section was overwritten before its last message was read";
  }
  ASSERT_EQ(take(out, taken, 1), 1u);
  for (std::uint32_t i = 0; i < TypeParam::section_size; ++i) ASSERT_TRUE(send(in, sent++));
  ASSERT_FALSE(send(in, sent));
  while (take(out, taken, ~0u) != 0) {
  }
  ASSERT_EQ(taken, sent);
  ASSERT_TRUE(in.is_consumed());
}

/// One side stops now and then, which one by turns: the other runs into the end of the queue.
TYPED_TEST(channels, carry_everything_between_threads_at_uneven_rates) {
  const auto ring = std::make_unique<TypeParam>(~std::uint32_t{0} - 100);
  const std::uint64_t count = scaled(TypeParam::section_size < 4 ? 5000 : 40000);
  run_threads(2, [&](unsigned t) {
    random_source random(6210 + t);
    const auto dawdle = [&] {
      if (random.one_in(200)) std::this_thread::yield();
    };
    if (t == 0) {
      typename TypeParam::producer in(*ring);
      for (std::uint64_t n = 0; n < count; dawdle()) {
        if (send(in, n)) ++n;
        else std::this_thread::yield();
        if (random.one_in(50)) in.flush();
        if (::testing::Test::HasFailure()) return;
      }
      in.flush();
      while (!in.is_consumed() && !::testing::Test::HasFailure()) std::this_thread::yield();
      return;
    }
    typename TypeParam::consumer out(*ring);
    for (std::uint64_t next = 0; next < count; dawdle()) {
      if (take(out, next, 1 + static_cast<std::uint32_t>(random.below(TypeParam::section_size))) == 0)
        std::this_thread::yield();
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_EQ(out.peek().count, 0u);
  });
}

/// What the receiver did with a message is seen by a sender that knows it consumed. Plain memory, which ThreadSanitizer watches.
TEST(channel, an_answer_carries_what_the_receiver_did) {
  using channel = cubby::detail::channel<4, 2>;
  channel ring;
  std::uint64_t done = 0; // written by the receiver alone
  constexpr std::uint64_t rounds = 2000;
  run_threads(2, [&](unsigned t) {
    if (t == 0) {
      channel::producer in(ring);
      for (std::uint64_t n = 1; n <= rounds; ++n) {
        ASSERT_TRUE(in.try_send(n, 0, 0));
        in.flush();
        while (!in.is_consumed()) std::this_thread::yield();
        ASSERT_EQ(done, n);
      }
      return;
    }
    channel::consumer out(ring);
    for (std::uint64_t n = 1; n <= rounds;) {
      const auto got = out.peek();
      if (got.count == 0) {
        std::this_thread::yield();
        continue;
      }
      done = got[0].first;
      out.release(1);
      ++n;
    }
  });
}

/// Each sends to the other as fast as it can and serves its own inbox only while its own sending is held up.
TEST(channel, two_full_queues_towards_each_other_do_not_block) {
  using channel = cubby::detail::channel<8, 2>;
  std::array<channel, 2> rings;
  const std::uint64_t count = scaled(20000);
  std::array<std::atomic<std::uint64_t>, 2> held_up{};
  run_threads(2, [&](unsigned me) {
    channel::producer in(rings[me]);
    channel::consumer out(rings[1 - me]);
    std::uint64_t next = 0;
    for (std::uint64_t n = 0; n < count;) {
      if (send(in, n)) {
        ++n;
        continue;
      }
      ++held_up[me];
      if (take(out, next, ~0u) == 0) std::this_thread::yield();
      if (::testing::Test::HasFailure()) return;
    }
    in.flush();
    while (next < count || !in.is_consumed()) {
      if (take(out, next, ~0u) == 0) std::this_thread::yield();
      if (::testing::Test::HasFailure()) return;
    }
  });
  EXPECT_GT(held_up[0] + held_up[1], 0u) << "no queue was ever full: the test showed nothing";
}

} // namespace
} // namespace cubby_test::channel_tests
