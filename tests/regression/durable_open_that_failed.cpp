// SPDX-License-Identifier: Apache-2.0
// A table that `open` could not make, and that is used all the same, ends a debug build with the message of the open. Seen: a read
// through a null pointer, and nothing on standard error.
#include <cstdint>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include <cubby/durable_map.hpp>

namespace cubby_test {
namespace {

using table = cubby::durable_map<std::uint64_t, std::uint64_t>;

TEST(regression_durable_open_that_failed, says_why_when_it_is_used) {
  if (!cubby::detail::fail::checks) GTEST_SKIP() << "builds with NDEBUG check nothing";
  const auto none = table::open("/no/such/folder/of/tables");
  ASSERT_FALSE(none);
  EXPECT_DEATH((void)none->size(), "/no/such/folder/of/tables");
  EXPECT_DEATH((void)(*none).size(), "/no/such/folder/of/tables");
}

TEST(regression_durable_open_that_failed, says_that_the_table_was_taken) {
  if (!cubby::detail::fail::checks) GTEST_SKIP() << "builds with NDEBUG check nothing";
  const std::string path = ::testing::TempDir() + "taken." + std::to_string(getpid());
  (void)std::remove(path.c_str());
  auto opened = table::open(path);
  ASSERT_TRUE(opened) << opened.message();
  EXPECT_TRUE(opened.take()->close());
  EXPECT_DEATH((void)opened->size(), "has no table any more");
  (void)std::remove(path.c_str());
}

} // namespace
} // namespace cubby_test
