// SPDX-License-Identifier: Apache-2.0
// Figures and resizes may be asked for while other threads resize: what they read is not unmapped under them. Once,
// they ran outside every pin.
#include <atomic>

#include "engines.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

template <class Engine>
class regression_api_figures : public ::testing::Test {};
TYPED_TEST_SUITE(regression_api_figures, shared_plain_engines);

TYPED_TEST(regression_api_figures, are_read_while_the_table_is_resized) {
  cubby::map<std::uint64_t, std::uint64_t, TypeParam> m(tiny_options());
  for (std::uint64_t k = 0; k < 20; ++k) ASSERT_TRUE(m.insert(k, k));
  std::atomic<unsigned> resizing{2};
  run_threads(4, [&](unsigned t) {
    if (t < 2) {
      for (unsigned round = 0; round < 80; ++round) {
        m.reserve(t == 0 ? 3000 : 200);
        m.shrink_to_fit();
      }
      resizing.fetch_sub(1);
      return;
    }
    while (resizing.load() != 0) {
      const auto s = m.stats();
      ASSERT_EQ(s.size, 20u);
      ASSERT_GE(m.capacity(), 20u);
      ASSERT_FALSE(m.empty());
    }
  });
  for (std::uint64_t k = 0; k < 20; ++k) ASSERT_EQ(m.find(k), k);
}

} // namespace
} // namespace cubby_test
