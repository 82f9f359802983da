// SPDX-License-Identifier: Apache-2.0
// What an empty map takes: at most 512 bytes of its own.
#include <cstdint>

#include <gtest/gtest.h>

#include <cubby/map.hpp>
#include <cubby/set.hpp>

namespace cubby_test {
namespace {

using word_map = cubby::map<std::uint64_t, std::uint64_t>;

static_assert(sizeof(word_map) <= 512);
static_assert(sizeof(cubby::map<std::uint32_t, double>) <= 512);
static_assert(sizeof(cubby::set<std::uint64_t>) <= 512);

} // namespace
} // namespace cubby_test
