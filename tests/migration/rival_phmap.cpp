// SPDX-License-Identifier: Apache-2.0
// The calls of Parallel Hashmap on its page of docs/migration, where its headers are unpacked.
#include <mutex>
#include <string>

#include <gtest/gtest.h>
#include <parallel_hashmap/phmap.h>

// only here: what the map checks depends on it
#undef NDEBUG
#include <cassert>

namespace cubby_test {
namespace {

TEST(migration_rivals, phmap) {
#include "theirs_migration_phmap.hpp"
}

} // namespace
} // namespace cubby_test
