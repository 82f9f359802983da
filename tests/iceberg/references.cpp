// SPDX-License-Identifier: Apache-2.0
// `find_ref` in iceberg. A value stays where it is until its entry is erased or the table changes its size. An assign changes
// it in place. A visit, an insert or an erase of other entries moves nothing. In all three levels.
#include <string>
#include <vector>

#include "engines.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

/// 90 keys of a group share a hash, so that they fill a front bucket, the back yard and a chain.
struct ninety_hash {
  using is_avalanching = void;
  using is_transparent = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return splitmix(key / 90); }
  std::uint64_t operator()(const tuple_key& key) const noexcept { return splitmix(key.number / 90); }
  std::uint64_t operator()(std::string_view text) const noexcept { return splitmix(text.size()); }
};
template <class Mode>
using crowded = cubby::map<typename Mode::key_type, typename Mode::mapped_type, cubby::iceberg, ninety_hash>;

template <class Mode>
class iceberg_references : public ::testing::Test {};
using slot_modes =
    ::testing::Types<word_mode<cubby::iceberg>, slot_text_mode<cubby::iceberg>, tuple_mode<cubby::iceberg>>;
TYPED_TEST_SUITE(iceberg_references, slot_modes);

template <class Mode, class Map>
void expect_stable_addresses(Map& m, std::uint64_t count) {
  using mapped = typename Mode::mapped_type;
  auto h = m.handle();
  EXPECT_EQ(h.find_ref(Mode::key(0)), nullptr);
  std::vector<const mapped*> where;
  for (std::uint64_t n = 0; n < count; ++n) {
    ASSERT_TRUE(m.insert(Mode::key(n), Mode::value(n))) << n;
    where.push_back(h.find_ref(Mode::key(n)));
    ASSERT_NE(where.back(), nullptr) << n;
    ASSERT_EQ(Mode::number(*where.back()), n);
  }
  EXPECT_TRUE(h.pinned());
  for (std::uint64_t n = 0; n < count; ++n) ASSERT_EQ(h.find_ref(Mode::key(n)), where[n]) << n;
  for (std::uint64_t n = 0; n < count; ++n) { // what is read is the table's own value
    ASSERT_TRUE(m.assign(Mode::key(n), Mode::value(n + 1000)));
    ASSERT_EQ(Mode::number(*where[n]), n + 1000);
  }
  for (std::uint64_t n = 1; n < count; n += 2) ASSERT_TRUE(m.erase(Mode::key(n))); // frees slots of all levels
  for (std::uint64_t n = 0; n < count; n += 2) {
    ASSERT_EQ(h.find_ref(Mode::key(n)), where[n]) << n;
    ASSERT_EQ(Mode::number(*where[n]), n + 1000);
  }
  for (std::uint64_t n = 1; n < count; n += 2) {
    ASSERT_EQ(h.find_ref(Mode::key(n)), nullptr);
    ASSERT_TRUE(m.insert(Mode::key(n), Mode::value(n)));
  }
  for (std::uint64_t n = 0; n < count; n += 2) ASSERT_EQ(h.find_ref(Mode::key(n)), where[n]) << n;
  h.unpin();
  EXPECT_FALSE(h.pinned());
  EXPECT_EQ(m.stats().growths, 0u) << "the test is about tables that do not grow";
}

TYPED_TEST(iceberg_references, stay_through_changes_of_other_entries) {
  typename TypeParam::map m(table_options{.capacity = 2000});
  expect_stable_addresses<TypeParam>(m, 1500);
}
TYPED_TEST(iceberg_references, stay_in_a_full_table) {
  cubby::iceberg::options o;
  o.capacity = 972;
  o.growth = cubby::growth_policy::fixed;
  typename TypeParam::map m(o);
  expect_stable_addresses<TypeParam>(m, 972);
}
TYPED_TEST(iceberg_references, stay_in_all_levels) {
  crowded<TypeParam> m(table_options{.capacity = 2000});
  expect_stable_addresses<TypeParam>(m, 720);
  EXPECT_GT(m.stats().chained, 0u);
}

/// A table that has grown has new addresses, and the old ones still point at memory for as long as the pin lasts.
TYPED_TEST(iceberg_references, are_asked_for_again_after_a_growth) {
  typename TypeParam::map m(tiny_options());
  for (std::uint64_t n = 0; n < 50; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
  auto h = m.handle();
  ASSERT_NE(h.find_ref(TypeParam::key(7)), nullptr);
  for (std::uint64_t n = 50; n < 2000; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
  ASSERT_TRUE(m.reserve(0));
  for (std::uint64_t n = 0; n < 2000; ++n) {
    const auto* const at = h.find_ref(TypeParam::key(n));
    ASSERT_NE(at, nullptr);
    ASSERT_EQ(TypeParam::number(*at), n);
  }
}

} // namespace
} // namespace cubby_test
