// SPDX-License-Identifier: Apache-2.0
// Each unit that this processor has reads a line of tags as a loop over its bytes does. `match` compares all slots with one tag, and
// `match_near` four slots with one tag and the others with another.
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <cubby/detail/engines/iceberg/layout.hpp>

#include "support/random.hpp"

namespace cubby_test::lines {
namespace {

namespace tags = cubby::detail::tags;
namespace yards = cubby::detail::engines::iceberg;
using yards::front_line;

std::vector<tags::unit> units() {
  std::vector<tags::unit> out;
  for (const auto one : {tags::unit::narrow, tags::unit::avx2, tags::unit::avx512})
    if (one <= tags::widest()) out.push_back(one);
  if (out.empty()) out.push_back(tags::unit::words); // this build reads words alone
  return out;
}

/// A line with few different tags, so that many are equal.
void fill(front_line& line, random_source& random, unsigned different) {
  line.state.store(random.next(), cubby::detail::sync::relaxed);
  for (auto& word : line.tag_words) {
    std::uint64_t eight = 0;
    for (unsigned i = 0; i < 8; ++i)
      eight = eight << 8 | (random.below(different) | (random.one_in(2) ? tags::far : 0));
    word.store(eight, cubby::detail::sync::relaxed);
  }
}
std::uint8_t tag_at(const front_line& line, unsigned slot) {
  return static_cast<std::uint8_t>(line.tag_words[slot / 8].load(cubby::detail::sync::relaxed) >> slot % 8 * 8);
}

/// The slots with the tag that `tag_of(slot)` says.
template <class F> std::uint64_t slots_with(const front_line& line, F tag_of) {
  std::uint64_t out = 0;
  for (unsigned slot = 0; slot < tags::line_tags; ++slot)
    out |= std::uint64_t{tag_at(line, slot) == tag_of(slot) ? 1U : 0U} << slot;
  return out;
}
/// `check(line, random, below)` for lines with few different tags and with many. `below`: what the tags are below, apart from `far`.
template <class F> void for_lines(std::uint64_t salt, F check) {
  random_source random(salt);
  front_line line;
  for (std::uint64_t round = 0; round < scaled(4000) && !::testing::Test::HasFatalFailure(); ++round) {
    const unsigned below = round % 2 == 0 ? 3 : 128;
    fill(line, random, below);
    check(line, random, below);
  }
}

TEST(tags_of_a_line, are_compared_alike_by_each_unit) {
  for_lines(3100, [](const front_line& line, random_source& random, unsigned below) {
    const auto tag = static_cast<std::uint8_t>(random.below(below) | (random.one_in(2) ? tags::far : 0));
    const std::uint64_t wanted = slots_with(line, [&](unsigned) { return tag; });
    for (const auto by : units()) ASSERT_EQ(tags::match(line.tag_words, tag, by), wanted) << static_cast<int>(by);
    ASSERT_EQ(tags::match_words(line.tag_words, tag), wanted) << "by words";
  });
}

TEST(tags_of_a_line, near_and_far_are_compared_alike_by_each_unit) {
  for_lines(3200, [](const front_line& line, random_source& random, unsigned below) {
    const auto tag = static_cast<std::uint8_t>(random.below(below));
    const auto far_tag = static_cast<std::uint8_t>(tag | tags::far);
    const auto first = static_cast<unsigned>(random.below(tags::line_tags / tags::near_slots)) * tags::near_slots;
    const std::uint64_t wanted = slots_with(line, [&](unsigned slot) { return slot / 4 == first / 4 ? tag : far_tag; });
    for (const auto by : units())
      ASSERT_EQ(tags::match_near(line.tag_words, tag, first, by), wanted) << static_cast<int>(by);
    ASSERT_EQ(tags::match_words(line.tag_words, far_tag, tags::near_line.from(first)), wanted) << "by words";
  });
}

/// The line that an insert prefers is near. A tag says so where slots are wide, and has all bits of the hash where they are not.
template <class Slot> void expect_front_tags() {
  random_source random(3300 + sizeof(Slot));
  std::uint64_t all = 0;
  for (unsigned round = 0; round < 4000; ++round) {
    const yards::hashed h = yards::hashed_for(random.next(), 1 + random.below(1000));
    const std::uint64_t near = yards::near_slots(h.choice);
    if (yards::tells_far<Slot>) {
      ASSERT_EQ(yards::preferred_slots<Slot>(h) & ~near, 0U);
    }
    for (unsigned slot = 0; slot < yards::front_slots; ++slot) {
      const std::uint8_t tag = yards::front_tag<Slot>(h, slot);
      ASSERT_NE(tag, 0);
      if (!yards::tells_far<Slot>) ASSERT_EQ(tag, h.tag);
      else ASSERT_EQ((tag & tags::far) == 0, (near >> slot & 1) != 0) << slot;
    }
    all |= near;
  }
  EXPECT_EQ(all, tags::all) << "some slots are near to no hash";
}
TEST(tags_of_a_line, say_of_wide_slots_whether_they_are_near) {
  EXPECT_TRUE((yards::tells_far<yards::slot<3, 1>>) && !(yards::tells_far<yards::slot<1, 1>>));
  expect_front_tags<yards::slot<1, 0>>();
  expect_front_tags<yards::slot<1, 1>>();
  expect_front_tags<yards::slot<3, 1>>();
  expect_front_tags<yards::slot<7, 1>>();
}

} // namespace
} // namespace cubby_test::lines
