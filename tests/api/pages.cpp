// SPDX-License-Identifier: Apache-2.0
// The pages of docs/api and docs/topics: the blocks of C++ of each page are the body of a test. Their assertions hold in every build.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cubby/coro.hpp>
#include <cubby/delegated_map.hpp>
#include <cubby/dramhit.hpp>
#include <cubby/durable_map.hpp>
#include <cubby/execution.hpp>
#include <cubby/iceberg.hpp>
#include <cubby/in_place_map.hpp>
#include <cubby/map.hpp>
#include <cubby/pipeline.hpp>
#include <cubby/rcu.hpp>

// only here: what the tables check depends on it
#undef NDEBUG
#include <cassert>

namespace cubby_test {
namespace {

TEST(pages_of_the_api, lookups) {
#include "api_lookups.hpp"
}
TEST(pages_of_the_api, inserts) {
#include "api_inserts.hpp"
}
TEST(pages_of_the_api, get_or_create) {
#include "api_get-or-create.hpp"
}
TEST(pages_of_the_api, changes) {
#include "api_changes.hpp"
}
TEST(pages_of_the_api, erases) {
#include "api_erases.hpp"
}
TEST(pages_of_the_api, batches) {
#include "api_batches.hpp"
}
TEST(pages_of_the_api, scans) {
#include "api_scans.hpp"
}
TEST(pages_of_the_api, contents) {
#include "api_contents.hpp"
}
TEST(pages_of_the_api, in_place) {
#include "api_in-place.hpp"
}
TEST(pages_of_the_api, space) {
#include "api_space.hpp"
}
TEST(pages_of_the_api, handles) {
#include "api_handles.hpp"
}
TEST(pages_of_the_api, reservations) {
#include "api_reservations.hpp"
}
TEST(pages_of_the_api, pipelines) {
#include "api_pipelines.hpp"
}
TEST(pages_of_the_api, coroutines) {
#include "api_coroutines.hpp"
}
TEST(pages_of_the_api, delegated) {
#include "api_delegated.hpp"
}
TEST(pages_of_the_api, durable) {
#include "api_durable.hpp"
}
TEST(pages_of_the_api, rcu) {
#include "api_rcu.hpp"
}
TEST(pages_of_topics, threads) {
#include "topics_threads.hpp"
}
TEST(pages_of_topics, visitors) {
#include "topics_visitors.hpp"
}
TEST(pages_of_topics, full_tables) {
#include "topics_full-tables.hpp"
}
TEST(pages_of_topics, hostile_keys) {
#include "topics_hostile-keys.hpp"
}

} // namespace
} // namespace cubby_test
