// SPDX-License-Identifier: Apache-2.0
// Where each change is durable when it returns, a growth syncs the new size of the file. If that failed, the growth was refused, but a later
// sync answered true, although the system may have dropped what it could not write.
#include <cstdint>

#include <gtest/gtest.h>

#include "durable/faults.hpp"
#include "durable/files.hpp"

namespace cubby_test {
namespace {

TEST(iceberg_failed_sync_of_a_new_extent, is_final) {
  const own_folder folder;
  using table = cubby::durable_map<std::uint64_t, std::uint64_t>;
  const auto t = must_open<table>(folder.file("table"), {.write_lines_back = true});
  EXPECT_TRUE(t->sync());
  {
    const failing_syncs none;
    EXPECT_FALSE(t->reserve(1'000'000)); // more than the file has taken ahead
  }
  EXPECT_FALSE(t->sync());
  EXPECT_FALSE(t->close());
}

} // namespace
} // namespace cubby_test
