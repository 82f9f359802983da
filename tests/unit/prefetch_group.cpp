// SPDX-License-Identifier: Apache-2.0
// The order of the requests of a batch, at each pace, and of groups of each size. Which one a batch has depends on the processor.
#include <algorithm>
#include <cstddef>

#include <gtest/gtest.h>

#include <cubby/detail/core/prefetch_group.hpp>

namespace cubby_test {
namespace {

namespace group = cubby::detail::prefetch_group;

constexpr group::pace paces[] = {group::by_groups, group::evenly};
constexpr std::size_t counts[] = {0, 1, 3, 4, 19, 20, 21, 31, 32, 33, 63, 64, 65, 97, 1000};

/// What a call has been asked for, in a ring as engines have it.
struct asked_requests {
  group::ring<std::size_t> places;
  std::size_t asked = 0;

  std::size_t ask(std::size_t first, std::size_t last) {
    EXPECT_EQ(first, asked) << "each request once, in order";
    EXPECT_LT(first, last);
    for (; asked < last; ++asked) places[asked] = asked;
    return last - first;
  }
};

TEST(prefetch_group, keeps_each_request_until_it_is_answered) {
  for (const group::pace how : paces)
    for (const std::size_t count : counts) {
      asked_requests all;
      std::size_t answered = 0;
      const auto ask = [&](std::size_t first, std::size_t last) { return all.ask(first, last); };
      const std::size_t called = group::in_order(count, how, ask, [&](std::size_t i) {
        EXPECT_EQ(i, answered++);
        EXPECT_EQ(all.places[i], i) << "of " << count << ", " << how.ahead << " ahead";
        return true;
      });
      EXPECT_EQ(called, count);
      EXPECT_EQ(answered, count);
      EXPECT_EQ(all.asked, count);
    }
}

TEST(prefetch_group, asks_for_as_many_requests_ahead_as_its_pace_says) {
  for (const group::pace how : paces)
    for (const std::size_t count : counts) {
      asked_requests all;
      const auto ask = [&](std::size_t first, std::size_t last) { return all.ask(first, last); };
      group::in_order(count, how, ask, [&](std::size_t i) {
        EXPECT_LE(all.asked, i + how.ahead) << "of " << count;
        EXPECT_GE(all.asked, std::min(count, i + 1 + how.ahead - how.run)) << "of " << count;
        return true;
      });
    }
}

TEST(prefetch_group, asks_by_groups_where_two_requests_share_a_line) {
  for (const std::size_t count : {std::size_t{32}, std::size_t{65}, std::size_t{200}}) {
    asked_requests all;
    const auto ask = [&](std::size_t first, std::size_t last) { return all.ask(first, last) / 2; };
    group::in_order(count, group::evenly, ask, [&](std::size_t i) {
      EXPECT_EQ(all.asked, std::min(count, i - i % 32 + 64)) << "before " << i << " of " << count;
      EXPECT_EQ(all.places[i], i) << "of " << count;
      return true;
    });
  }
}

TEST(prefetch_group, ends_with_the_first_request_that_is_refused) {
  for (const group::pace how : paces)
    for (std::size_t refused = 0; refused < 100; ++refused) {
      std::size_t answered = 0;
      const std::size_t called = group::in_order(
          100, how, [](std::size_t first, std::size_t last) { return last - first; },
          [&](std::size_t i) {
            ++answered;
            return i != refused;
          });
      EXPECT_EQ(called, refused + 1);
      EXPECT_EQ(answered, refused + 1);
    }
}

TEST(prefetch_group, keeps_the_requests_of_two_groups_of_either_size) {
  for (const std::size_t size : {group::size, group::size / 2})
    for (const std::size_t count : counts) {
      asked_requests all;
      std::size_t answered = 0;
      const auto ask = [&](std::size_t first, std::size_t last) {
        if (first != last) all.ask(first, last);
      };
      const auto answer = [&](std::size_t first, std::size_t last) {
        EXPECT_EQ(all.asked, std::min(count, last + size)) << "one group ahead";
        for (; first < last; ++first, ++answered) EXPECT_EQ(all.places[first], first) << "of " << count;
        return true;
      };
      group::for_each(count, ask, answer, size);
      EXPECT_EQ(answered, count);
    }
}

} // namespace
} // namespace cubby_test
