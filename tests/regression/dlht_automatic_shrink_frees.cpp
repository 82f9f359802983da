// SPDX-License-Identifier: Apache-2.0
// Automatic shrinking: erases alone give the memory back, and a shrink begins also while an old index cannot be freed
// yet. Once one count rationed both the looks at the size and the looks at old indexes. An erase took two numbers of
// it. So, depending on where the count stood, one of the two never had its turn.
#include "engines.hpp"

namespace cubby_test {
namespace {

table_options automatic_options(cubby::growth_policy growth) {
  table_options o = tiny_options(growth);
  o.shrink = cubby::shrink_policy::automatic;
  o.chunk_bins = o.move_bins = 64;
  return o;
}

template <class Engine>
class regression_dlht_automatic : public ::testing::Test {};
using shrinking_engines = ::testing::Types<cubby::dlht, cubby::dlht_single>;
TYPED_TEST_SUITE(regression_dlht_automatic, shrinking_engines);

TYPED_TEST(regression_dlht_automatic, erases_alone_give_memory_back) {
  for (const auto growth : {cubby::growth_policy::cooperative, cubby::growth_policy::incremental}) {
    cubby::map<std::uint64_t, std::uint64_t, TypeParam> m(automatic_options(growth));
    ASSERT_TRUE(m.reserve(760));
    for (std::uint64_t k = 0; k < 760; ++k) ASSERT_TRUE(m.insert(k, k));
    const auto full = m.stats();
    ASSERT_EQ(full.retired, 0u);
    for (std::uint64_t k = 10; k < 760; ++k) ASSERT_TRUE(m.erase(k));
    const auto empty = m.stats();
    EXPECT_GT(empty.shrinks, 0u);
    EXPECT_LT(empty.bytes, full.bytes / 2);
    for (std::uint64_t k = 0; k < 10; ++k) ASSERT_EQ(m.find(k), k);
  }
}

TEST(regression_dlht, a_shrink_begins_while_an_old_index_is_in_use) {
  using mode = text_mode<cubby::dlht>;
  for (std::uint64_t size = 100; size < 104; ++size) {
    mode::map m(automatic_options(cubby::growth_policy::incremental));
    ASSERT_TRUE(m.insert(mode::key(0), mode::value(0)));
    auto reader = m.handle();
    const auto* const kept = reader.find_ref(mode::key(0));
    ASSERT_NE(kept, nullptr);
    ASSERT_TRUE(m.reserve(760));
    for (std::uint64_t n = 1; n < size; ++n) ASSERT_TRUE(m.insert(mode::key(n), mode::value(n)));
    ASSERT_GT(m.stats().retired, 0u);
    for (std::uint64_t n = 1; n < size; ++n) ASSERT_TRUE(m.erase(mode::key(n)));
    EXPECT_GT(m.stats().shrinks, 0u) << size;
    EXPECT_EQ(mode::number(*kept), 0u);
  }
}

} // namespace
} // namespace cubby_test
