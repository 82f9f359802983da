// SPDX-License-Identifier: Apache-2.0
// Each unit that this processor has reads a line of tags as a loop over its tags does, be they of one byte or of two.
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

/// The tags are copied as bytes, so that nothing here shares the shifts of `tags`.
template <class Tag> struct tags_as_bytes {
  Tag at[tags::line_tags<Tag>];
};
template <class Tag> tags_as_bytes<Tag> random_tags(random_source& random, std::uint64_t different) {
  tags_as_bytes<Tag> out;
  for (Tag& one : out.at) {
    one = static_cast<Tag>(random.below(different));
    // A tag that differs in one bit of its high byte, or in its sign, is another tag.
    if (random.one_in(4)) one = static_cast<Tag>(one ^ (Tag{1} << (8 * sizeof(Tag) - 1 - random.below(4))));
  }
  return out;
}
template <class Tag> void write(front_line& line, const tags_as_bytes<Tag>& in, std::uint64_t state) {
  line.state.store(state, cubby::detail::sync::relaxed);
  for (unsigned i = 0; i < tags::line_words; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const char*>(in.at) + sizeof word * i, sizeof word);
    line.tag_words[i].store(word, cubby::detail::sync::relaxed);
  }
}

template <class Tag> class tags_of_a_line : public ::testing::Test {};
using widths = ::testing::Types<std::uint8_t, std::uint16_t>;
TYPED_TEST_SUITE(tags_of_a_line, widths);

TYPED_TEST(tags_of_a_line, are_compared_alike_by_each_unit) {
  random_source random(3100 + sizeof(TypeParam));
  front_line line;
  for (std::uint64_t round = 0; round < scaled(4000); ++round) {
    const std::uint64_t below = round % 2 == 0 ? 3 : std::uint64_t{1} << (8 * sizeof(TypeParam));
    const auto all = random_tags<TypeParam>(random, below);
    write(line, all, random.next());
    const TypeParam tag =
        random.one_in(2) ? all.at[random.below(std::size(all.at))] : static_cast<TypeParam>(random.below(below));
    std::uint64_t wanted = 0;
    for (unsigned slot = 0; slot < std::size(all.at); ++slot)
      wanted |= std::uint64_t{all.at[slot] == tag ? 1U : 0U} << slot;
    for (const auto by : units()) ASSERT_EQ(tags::match(line.tag_words, tag, by), wanted) << static_cast<int>(by);
    ASSERT_EQ(tags::match_words(line.tag_words, tag), wanted) << "by words";
  }
}

TYPED_TEST(tags_of_a_line, are_written_into_their_word_alone) {
  random_source random(3200 + sizeof(TypeParam));
  constexpr unsigned of_word = tags::word_tags<TypeParam>;
  for (std::uint64_t round = 0; round < scaled(4000); ++round) {
    const std::uint64_t before = random.next();
    const auto tag = static_cast<TypeParam>(random.next());
    const auto slot = static_cast<unsigned>(random.below(tags::line_tags<TypeParam>));
    const std::uint64_t after = tags::with_tag(before, slot, tag);
    for (unsigned other = slot / of_word * of_word, end = other + of_word; other < end; ++other)
      ASSERT_EQ(tags::tag_at<TypeParam>(after, other), other == slot ? tag : tags::tag_at<TypeParam>(before, other));
  }
}

/// The slots of a kind of table: each line of them is preferred by some hash, and no tag is that of an empty slot.
template <class Slot> void expect_tags_of_hashes() {
  random_source random(3300 + sizeof(Slot));
  std::uint64_t all = 0;
  std::uint64_t of_tags = 0;
  for (unsigned round = 0; round < 4000; ++round) {
    const yards::hashed h = yards::hashed_for<Slot>(random.next(), 1 + random.below(1000));
    ASSERT_NE(h.tag, 0);
    all |= yards::preferred_slots<Slot>(h);
    of_tags |= h.tag;
  }
  EXPECT_EQ(all, tags::all<typename Slot::tag>) << "some slots are preferred by no hash";
  EXPECT_EQ(of_tags, static_cast<typename Slot::tag>(~0U)) << "some bits of the tags are never set";
}
TEST(tags_of_hashes, use_each_bit_and_prefer_each_line) {
  expect_tags_of_hashes<yards::slot<1, 0>>();
  expect_tags_of_hashes<yards::slot<1, 1>>();
  expect_tags_of_hashes<yards::slot<3, 1, std::uint16_t>>();
  expect_tags_of_hashes<yards::slot<7, 1, std::uint16_t>>();
}

} // namespace
} // namespace cubby_test::lines
