// SPDX-License-Identifier: Apache-2.0
// The calls of other maps on the pages of docs/migration: the blocks that show them are the body of a test of each map that is there.
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>
#include <libcuckoo/cuckoohash_map.hh>
#include <tbb/concurrent_hash_map.h>

// only here: what the tables check depends on it
#undef NDEBUG
#include <cassert>

namespace cubby_test {
namespace {

TEST(migration_rivals, tbb) {
#include "theirs_migration_tbb.hpp"
}
TEST(migration_rivals, libcuckoo) {
#include "theirs_migration_libcuckoo.hpp"
}
TEST(migration_rivals, std_unordered_map) {
#include "theirs_migration_std.hpp"
}

} // namespace
} // namespace cubby_test
