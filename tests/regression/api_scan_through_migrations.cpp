// SPDX-License-Identifier: Apache-2.0
// A scan costs what the table holds, however often the table has grown and shrunk since it began. Once, each round trip
// of sizes doubled the bins that a scan looked at.
#include "engines.hpp"

namespace cubby_test {
namespace {

template <class Mode>
class regression_api_scans : public ::testing::Test {};
TYPED_TEST_SUITE(regression_api_scans, main_modes);

TYPED_TEST(regression_api_scans, end_after_many_migrations) {
  typename TypeParam::map m(tiny_options());
  for (std::uint64_t n = 0; n < 40; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
  std::vector<unsigned> seen(40, 0);
  bool first = true;
  m.visit_all([&](const auto& k, const auto&) {
    ++seen[TypeParam::number_of_key(k)];
    if (!first) return;
    first = false;
    for (unsigned round = 0; round < 60; ++round) {
      m.reserve(200);
      m.shrink_to_fit();
    }
  });
  // Once, or twice if the engine lets a scan meet what moves behind it; not once for each migration.
  const unsigned most = TypeParam::map::capabilities.scans_once ? 1 : 2;
  for (std::uint64_t n = 0; n < 40; ++n) EXPECT_TRUE(seen[n] >= 1 && seen[n] <= most) << n << ": " << seen[n];
}

/// Erasing under a scan makes the table do its share of a migration, and let old indexes go: not the one scanned over.
TYPED_TEST(regression_api_scans, may_erase_while_a_migration_is_under_way) {
  for (std::uint64_t size = 20; size < 400; size += 7) {
    typename TypeParam::map m(tiny_options());
    for (std::uint64_t n = 0; n < size; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
    m.clear();
    ASSERT_TRUE(m.empty());
  }
}

} // namespace
} // namespace cubby_test
