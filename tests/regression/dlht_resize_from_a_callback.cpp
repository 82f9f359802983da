// SPDX-License-Identifier: Apache-2.0
// A function that a verb calls may call the table, and so may give memory back. In a table for one thread that unmapped
// the index in which the verb outside was still at work.
#include <vector>

#include "engines.hpp"

namespace cubby_test {
namespace {

template <class Engine>
class regression_dlht_callback : public ::testing::Test {
protected:
  using map = cubby::map<std::uint64_t, std::uint64_t, Engine>;
  regression_dlht_callback() {
    for (std::uint64_t k = 0; k < 20000; ++k) table.insert(k, k);
    for (std::uint64_t k = 100; k < 20000; ++k) table.erase(k);
  }
  void shrink_once() {
    if (!shrunk) {
      EXPECT_TRUE(table.shrink_to_fit());
    }
    shrunk = true;
  }
  map table;
  bool shrunk = false;
};
using engines_that_shrink = ::testing::Types<cubby::dlht, cubby::dlht_single>;
TYPED_TEST_SUITE(regression_dlht_callback, engines_that_shrink);

TYPED_TEST(regression_dlht_callback, of_a_batch_of_finds) {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t k = 0; k < 100; ++k) keys.push_back(k);
  const std::size_t found =
      this->table.visit_batch(std::span<const std::uint64_t>(keys), [&](std::size_t i, const std::uint64_t* value) {
        this->shrink_once();
        ASSERT_NE(value, nullptr);
        EXPECT_EQ(*value, i);
      });
  EXPECT_EQ(found, keys.size());
}

TYPED_TEST(regression_dlht_callback, of_an_update) {
  EXPECT_TRUE(this->table.update(50, [&](std::uint64_t old) {
    this->shrink_once();
    return old + 1;
  }));
  EXPECT_EQ(this->table.find(50), 51u);
}

} // namespace
} // namespace cubby_test
