// SPDX-License-Identifier: Apache-2.0
// DLHT's arithmetic: header transitions touch what they say and count the version, units of neighbouring indexes cover
// each bin once and agree about every hash, link buckets are handed out once.
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <cubby/detail/engines/dlht/index.hpp>
#include <cubby/detail/engines/dlht/resize.hpp>

#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test::layout_tests {
namespace {

using namespace cubby::detail::engines::dlht;

TEST(layout, a_header_change_touches_one_field_and_the_version) {
  random_source random(3000);
  for (unsigned i = 0; i < 10000; ++i) {
    const std::uint64_t h = random.next();
    const auto slot = static_cast<unsigned>(random.below(bin_slots));
    const std::uint64_t state = random.below(4);
    const std::uint64_t changed = header::with_slot(h, slot, state);
    ASSERT_EQ(header::slot_of(changed, slot), state);
    ASSERT_EQ(changed >> 32, (h + header::version_step) >> 32);
    for (unsigned other = 0; other < bin_slots; ++other) {
      if (other != slot) {
        ASSERT_EQ(header::slot_of(changed, other), header::slot_of(h, other));
      }
    }
    ASSERT_EQ(header::state_of(changed), header::state_of(h));
    const std::uint64_t moved = header::with_state(h, state);
    ASSERT_EQ(header::state_of(moved), state);
    ASSERT_EQ(moved & 0x3fffffff, h & 0x3fffffff);
  }
}

TEST(layout, masks_name_the_slots_in_their_state) {
  random_source random(3001);
  for (unsigned i = 0; i < 10000; ++i) {
    const std::uint64_t h = random.next();
    for (unsigned slot = 0; slot < bin_slots; ++slot) {
      const std::uint64_t state = header::slot_of(h, slot);
      ASSERT_EQ((header::valid(h) >> (2 * slot)) & 1, state == slot_state::valid ? 1u : 0u);
      ASSERT_EQ((header::present(h) >> (2 * slot)) & 1, state >= slot_state::valid ? 1u : 0u);
      ASSERT_EQ((header::invalid(h) >> (2 * slot)) & 1, state == slot_state::invalid ? 1u : 0u);
    }
  }
}

template <cubby::bin_mapping Mapping>
void units_cover(std::uint64_t from, std::uint64_t to) {
  const std::uint64_t units = unit_count(from, to);
  for (const std::uint64_t size : {from, to}) {
    std::vector<unsigned> covered(size + 1, 0);
    for (std::uint64_t unit = 0; unit <= units; ++unit) {
      const bin_range r = bins_of_unit<Mapping>(size, units, unit);
      for (std::uint64_t i = 0; i < r.count; ++i) {
        const std::uint64_t number = r.first + i * r.step;
        ++covered[number];
        ASSERT_EQ(unit_of_bin<Mapping>(size, units, number), unit);
      }
    }
    for (const auto c : covered) ASSERT_EQ(c, 1u);
  }
  random_source random(3002);
  for (unsigned i = 0; i < 2000; ++i) {
    const std::uint64_t hash = i < 10 ? ~std::uint64_t{i} : random.next();
    ASSERT_EQ(unit_of_bin<Mapping>(from, units, map_hash<Mapping>(hash, from)),
              unit_of_bin<Mapping>(to, units, map_hash<Mapping>(hash, to)));
  }
}

TEST(layout, units_of_neighbouring_indexes_agree) {
  for (const std::uint64_t small : {1u, 7u, 8u, 13u, 96u, 1000u}) {
    for (const std::uint64_t factor : {1u, 2u, 3u, 8u, 64u}) {
      units_cover<cubby::bin_mapping::fastrange>(small, small * factor);
      units_cover<cubby::bin_mapping::modulo>(small, small * factor);
      if (factor > 8) continue; // a shrinking unit takes at most eight bins
      units_cover<cubby::bin_mapping::fastrange>(small * factor, small);
      units_cover<cubby::bin_mapping::modulo>(small * factor, small);
    }
  }
}

TEST(layout, link_buckets_are_handed_out_once) {
  using threads = cubby::detail::sync::shared;
  auto* const at = make_index<threads>(8, 300);
  ASSERT_NE(at, nullptr);
  std::vector<std::vector<std::uint64_t>> taken(3);
  run_threads(3, [&](unsigned t) {
    for (std::uint64_t count = 1 + t % 2; const std::uint64_t first = take_links(*at, count);) {
      for (std::uint64_t i = 0; i < count; ++i) taken[t].push_back(first + i);
    }
  });
  std::set<std::uint64_t> all;
  for (const auto& mine : taken) {
    for (const auto number : mine) ASSERT_TRUE(all.insert(number).second) << number;
  }
  EXPECT_GE(all.size(), 299u);
  EXPECT_EQ(*all.begin(), 1u);
  EXPECT_LE(*all.rbegin(), 300u);
  cubby::detail::free_array(at);
}

} // namespace
} // namespace cubby_test::layout_tests
