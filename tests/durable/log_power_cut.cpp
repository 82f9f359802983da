// SPDX-License-Identifier: Apache-2.0
// The same where a sync writes a log. It is so short that checkpoints begin beside the changes, and that it is full at times.
#include "durable/power_cut.hpp"

namespace cubby_test {
namespace {

template <class Table> class log_power_cut : public power_cut_test<Table> {
  /// An opening without a log follows one with it at times.
  std::size_t log_bytes() override { return opened_++ % 5 == 3 ? 0 : std::size_t{64} << 10; }
  std::size_t opened_ = 0;
};
using tables = join_over<cut_tables_of, logging_engines>;
TYPED_TEST_SUITE(log_power_cut, tables);

TYPED_TEST(log_power_cut, takes_nothing_that_a_sync_has_covered) { this->play(300, cubby_test::scaled(30), 60); }
/// So many changes that a key often gets a block again that it has had.
TYPED_TEST(log_power_cut, takes_nothing_from_few_keys) { this->play(5, cubby_test::scaled(30), 900); }

} // namespace
} // namespace cubby_test
