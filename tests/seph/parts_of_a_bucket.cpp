// SPDX-License-Identifier: Apache-2.0
// Each unit that this processor has reads parts of buckets as a loop over their slots does.
#include <vector>

#include <gtest/gtest.h>

#include <cubby/detail/engines/seph/layout.hpp>
#include <cubby/detail/platform/slots.hpp>

#include "support/random.hpp"

namespace cubby_test::parts {
namespace {

namespace slots = cubby::detail::slots;
namespace seph = cubby::detail::engines::seph;
constexpr unsigned in_bucket = 32;

std::vector<slots::unit> units() {
  std::vector<slots::unit> out{slots::unit::words};
#if defined(__x86_64__)
  for (const auto one : {slots::unit::avx2, slots::unit::avx512})
    if (one <= slots::widest()) out.push_back(one);
#endif
  return out;
}
/// A slot that is empty, dead, or has one of a few tags; and perhaps a mark.
std::uint64_t random_slot(random_source& random, bool may_be_empty, bool may_have_mark) {
  const std::uint64_t mark = may_have_mark && random.one_in(8) ? seph::slot_word::mark : 0;
  if (may_be_empty && random.one_in(4)) return mark;
  if (random.one_in(8)) return seph::slot_word::tombstone | mark;
  const std::uint64_t flags = random.below(4) * seph::slot_word::stale;
  return seph::slot_word::make(8 * (1 + random.below(1000)), random.below(4) << 14 | random.below(2)) | flags | mark;
}
slots::wanted random_tags(random_source& random) {
  const auto one = [&] {
    return static_cast<std::uint32_t>(random.below(3) << 16 | random.below(4) << 14 | random.below(2));
  };
  const std::uint32_t first = one();
  return {first, one()};
}
struct part {
  alignas(64) seph::slot words[slots::most_a_part];
  slots::wanted tags;
  part(random_source& random, bool may_be_empty, bool may_have_mark) : tags(random_tags(random)) {
    for (seph::slot& one : words)
      one.store(random_slot(random, may_be_empty, may_have_mark), cubby::detail::sync::relaxed);
  }
};

/// Bit i as bit 4 i + 3.
std::uint64_t in_fours(unsigned bits) {
  std::uint64_t out = 0;
  for (unsigned i = 0; i < 16; ++i) out |= std::uint64_t{bits >> i & 1} << (4 * i + 3);
  return out;
}
TEST(seph_parts_of_a_bucket, are_read_alike_by_each_unit) {
  random_source random(3200);
  for (std::uint64_t round = 0; round < scaled(20'000); ++round) {
    const bool marks = round % 3 == 0;
    const part first(random, random.one_in(2), marks);
    const part second(random, random.one_in(2), marks);
    const auto expected = slots::read_words<slots::most_a_part>(first.words, first.tags);
    const auto other = slots::read_words<slots::most_a_part>(second.words, second.tags);
    for (const slots::unit by : units()) {
      const auto seen = slots::read<in_bucket>(first.words, first.tags, by);
      ASSERT_EQ(seen.agree(), expected.agree());
      ASSERT_EQ(seen.empty(), expected.empty());
      ASSERT_EQ(seen.marked(), expected.marked());
      const auto both = slots::read_two<in_bucket>(first.words, first.tags, second.words, second.tags, by);
      ASSERT_EQ(both.agree, in_fours(expected.agree() | other.agree() << slots::most_a_part));
      ASSERT_EQ(both.empty(0), expected.empty());
      ASSERT_EQ(both.empty(1), other.empty());
      ASSERT_EQ(both.marked(), expected.marked() || other.marked());
    }
  }
}

TEST(seph_parts_of_a_bucket, behind_the_first_one_are_read_alike_by_each_unit) {
  random_source random(3202);
  for (std::uint64_t round = 0; round < scaled(20'000); ++round) {
    alignas(64) seph::slot bucket[in_bucket];
    const bool marks = round % 3 == 0;
    for (seph::slot& one : bucket) one.store(random_slot(random, round % 2 == 0, marks), cubby::detail::sync::relaxed);
    const slots::wanted tags = random_tags(random);
    const auto begin = static_cast<unsigned>(random.below(4));
    std::uint32_t agree = 0;
    bool marked = false;
    for (unsigned i = 1; i < 4; ++i) {
      const auto part = slots::read_words<slots::most_a_part>(bucket + (begin + i) % 4 * slots::most_a_part, tags);
      agree |= part.agree() << (i * slots::most_a_part);
      marked = marked || part.marked();
    }
    for (const slots::unit by : units()) {
      const auto seen = slots::read_rest<in_bucket>(bucket, begin, tags, by);
      ASSERT_EQ(seen.agree(), agree);
      ASSERT_EQ(seen.marked(), marked);
    }
  }
}

/// The reference itself, by hand.
TEST(seph_parts_of_a_bucket, show_tags_of_used_slots_empty_slots_and_marks) {
  random_source random(3201);
  part one(random, false, false);
  one.tags = {0, 0xffff};
  for (seph::slot& word : one.words) word.store(seph::slot_word::make(8, 0x1234), cubby::detail::sync::relaxed);
  const auto put = [&](unsigned i, std::uint64_t word) { one.words[i].store(word, cubby::detail::sync::relaxed); };
  put(0, 0);
  put(3, seph::slot_word::mark);
  put(5, seph::slot_word::make(8, 0xffff));
  put(7, seph::slot_word::tombstone);
  const auto seen = slots::read_words<slots::most_a_part>(one.words, one.tags);
  EXPECT_EQ(seen.agree(), 0b1010'1001U) << "the tag of an empty slot and of a dead one is 0";
  EXPECT_EQ(seen.empty(), 0b0000'1001U);
  EXPECT_TRUE(seen.marked());
}

} // namespace
} // namespace cubby_test::parts
