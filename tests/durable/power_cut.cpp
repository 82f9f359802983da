// SPDX-License-Identifier: Apache-2.0
// Guarantee H on an ordinary file, where each sync writes all changed pages.
#include "durable/power_cut.hpp"

namespace cubby_test {
namespace {

template <class Table> class power_cut : public power_cut_test<Table> {};
using tables = testing::Types<
    cubby::durable_map<std::uint64_t, std::uint64_t, poor_hash<std::uint64_t>>,
    cubby::durable_map<std::array<std::uint64_t, 2>, std::uint64_t, poor_hash<std::array<std::uint64_t, 2>>>,
    cubby::durable_map<std::string, std::string>, cubby::durable_map<std::string, std::string, poor_text_hash>,
    cubby::durable_map<std::uint64_t, std::uint64_t, poor_hash<std::uint64_t>, cubby::seph>,
    cubby::durable_map<std::string, std::string, cubby::hash<std::string>, cubby::seph>,
    cubby::durable_map<std::string, std::string, poor_text_hash, cubby::seph>>;
TYPED_TEST_SUITE(power_cut, tables);

TYPED_TEST(power_cut, takes_nothing_that_a_sync_has_covered) { this->play(300, cubby_test::scaled(30), 60); }
/// So many changes that a key often gets a block again that it has had.
TYPED_TEST(power_cut, takes_nothing_from_few_keys) { this->play(5, cubby_test::scaled(30), 900); }

} // namespace
} // namespace cubby_test
