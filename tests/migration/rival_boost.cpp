// SPDX-License-Identifier: Apache-2.0
// The calls of Boost on its page of docs/migration, where its headers are unpacked.
#include <string>
#include <vector>

#include <boost/unordered/concurrent_flat_map.hpp>
#include <gtest/gtest.h>

// only here: what the map checks depends on it
#undef NDEBUG
#include <cassert>

namespace cubby_test {
namespace {

TEST(migration_rivals, boost) {
#include "theirs_migration_boost.hpp"
}

} // namespace
} // namespace cubby_test
