// SPDX-License-Identifier: Apache-2.0
// The pages of docs/migration: the blocks of C++ of each page are the body of a test. Their assertions hold in every build.
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cubby/iceberg.hpp>
#include <cubby/in_place_map.hpp>
#include <cubby/map.hpp>

// only here: what the tables check depends on it
#undef NDEBUG
#include <cassert>

namespace cubby_test {
namespace {

TEST(migration, boost) {
#include "migration_boost.hpp"
}
TEST(migration, tbb) {
#include "migration_tbb.hpp"
}
TEST(migration, libcuckoo) {
#include "migration_libcuckoo.hpp"
}
TEST(migration, folly) {
#include "migration_folly.hpp"
}
TEST(migration, phmap) {
#include "migration_phmap.hpp"
}
TEST(migration, std_unordered_map) {
#include "migration_std.hpp"
}

} // namespace
} // namespace cubby_test
