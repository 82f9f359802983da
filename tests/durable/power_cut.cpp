// SPDX-License-Identifier: Apache-2.0
// Guarantee H on an ordinary file, where each sync writes all changed pages.
#include "durable/power_cut.hpp"

namespace cubby_test {
namespace {

template <class Table> class power_cut : public power_cut_test<Table> {};
using tables = join_over<cut_tables_of, durable_engines>;
TYPED_TEST_SUITE(power_cut, tables);

TYPED_TEST(power_cut, takes_nothing_that_a_sync_has_covered) { this->play(300, cubby_test::scaled(30), 60); }
/// So many changes that a key often gets a block again that it has had.
TYPED_TEST(power_cut, takes_nothing_from_few_keys) { this->play(5, cubby_test::scaled(30), 900); }

} // namespace
} // namespace cubby_test
