// SPDX-License-Identifier: Apache-2.0
// Each unit that this processor has reads a line of tags as a loop over its bytes does. `match` compares all slots with one tag, and
// `match_near` the slots near a preferred one with one tag and the others with another.
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <cubby/detail/engines/iceberg/layout.hpp>

#include "support/random.hpp"

namespace cubby_test {
namespace {

namespace tags = cubby::detail::tags;
using cubby::detail::engines::iceberg::front_line;

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

TEST(tags_of_a_line, are_compared_alike_by_each_unit) {
  random_source random(3100);
  front_line line;
  for (std::uint64_t round = 0; round < scaled(4000); ++round) {
    fill(line, random, round % 2 == 0 ? 3 : 128);
    const auto tag = static_cast<std::uint8_t>(random.below(round % 2 == 0 ? 3 : 256));
    std::uint64_t wanted = 0;
    for (unsigned slot = 0; slot < tags::line_tags; ++slot)
      wanted |= std::uint64_t{tag_at(line, slot) == tag ? 1U : 0U} << slot;
    for (const auto by : units()) ASSERT_EQ(tags::match(line.tag_words, tag, by), wanted) << static_cast<int>(by);
  }
}

template <unsigned Near> void expect_near_and_far() {
  random_source random(3200 + Near);
  front_line line;
  for (std::uint64_t round = 0; round < scaled(4000); ++round) {
    fill(line, random, round % 2 == 0 ? 3 : 128);
    const auto tag = static_cast<std::uint8_t>(random.below(round % 2 == 0 ? 3 : 128));
    const auto first = static_cast<unsigned>(random.below(tags::line_tags / Near)) * Near;
    std::uint64_t wanted = 0;
    for (unsigned slot = 0; slot < tags::line_tags; ++slot) {
      const unsigned of_slot = slot / Near == first / Near ? tag : tag | tags::far;
      wanted |= std::uint64_t{tag_at(line, slot) == of_slot ? 1U : 0U} << slot;
    }
    for (const auto by : units())
      ASSERT_EQ(tags::match_near<Near>(line.tag_words, tag, first, by), wanted) << static_cast<int>(by);
  }
}
TEST(tags_of_a_line, near_and_far_are_compared_alike_by_each_unit) {
  expect_near_and_far<4>();
  expect_near_and_far<8>();
}

/// The slot that an insert prefers is near, and near slots are whole lines or parts of one.
template <class Slot> void expect_near_slots() {
  namespace yards = cubby::detail::engines::iceberg;
  random_source random(3300 + sizeof(Slot));
  std::uint64_t all = 0;
  for (unsigned round = 0; round < 4000; ++round) {
    const yards::hashed h = yards::hashed_for(random.next(), 1 + random.below(1000));
    const std::uint64_t near = yards::near_slots<Slot>(h.choice);
    ASSERT_EQ(yards::preferred_slots<Slot>(h) & ~near, 0U);
    ASSERT_EQ(near & ~tags::all, 0U);
    for (unsigned slot = 0; slot < yards::front_slots; ++slot) {
      const std::uint8_t tag = yards::front_tag<Slot>(h, slot);
      ASSERT_NE(tag, 0);
      ASSERT_EQ((tag & tags::far) == 0, (near >> slot & 1) != 0) << slot;
    }
    all |= near;
  }
  EXPECT_EQ(all, tags::all) << "some slots are near to no hash";
}
TEST(tags_of_a_line, say_of_each_slot_whether_it_is_near) {
  namespace yards = cubby::detail::engines::iceberg;
  expect_near_slots<yards::slot<1, 0>>();
  expect_near_slots<yards::slot<1, 1>>();
  expect_near_slots<yards::slot<3, 1>>();
  expect_near_slots<yards::slot<7, 1>>();
}

} // namespace
} // namespace cubby_test
