// SPDX-License-Identifier: Apache-2.0
// Slots of a DRAMHiT array that change under a verb, at every pair of steps. They are erased, and the key is inserted
// again behind the dead slot. Some values look like marks.
#include "linearizability/play.hpp"

namespace cubby_test {
namespace {

using namespace scripted;
using words = word_coding<cubby::dramhit, clustered_hash>;
using records = record_coding<cubby::dramhit, clustered_hash>;

template <class Coding>
class entries : public ::testing::Test {};
using tuples = record_coding<cubby::dramhit_tuples, clustered_hash>;
using entries_kinds = ::testing::Types<words, records, tuples>;
TYPED_TEST_SUITE(entries, entries_kinds);

/// A look at a line may meet the key twice: it was erased behind the look and inserted again before it.
TYPED_TEST(entries, of_a_line_show_a_key_that_was_erased_and_inserted_again) {
  for (const act what : {act::find, act::assign, act::update, act::extract, act::insert, act::toggle}) {
    at_every_pair_of_steps<TypeParam>({{act::insert, 4, 5}}, {{what, 4, 6}, {act::find, 4}},
                                      {{act::erase, 4}, {act::insert, 4, 7}, {act::find, 4}});
  }
}

/// The value stays beside a dead key for readers that have matched it.
TYPED_TEST(entries, that_die_under_a_reader_keep_their_value) {
  for (const act what : {act::find, act::update, act::insert_or_assign, act::extract}) {
    at_every_pair_of_steps<TypeParam>({{act::insert, 4, 5}}, {{what, 4, 6}}, {{act::erase, 4}});
  }
}

/// An entry's value may be the word that seals an empty slot.
TYPED_TEST(entries, are_not_taken_for_sealed_when_they_are_filled) {
  for (const act what : {act::insert, act::upsert, act::toggle, act::insert_or_assign}) {
    at_every_pair_of_steps<TypeParam>({}, {{what, 4, 6}, {act::find, 4}}, {{act::insert, 4, 1}, {act::find, 4}});
  }
}

/// Keys 0 to 3 are marks as words: each has a slot of its own, which its next insert takes again.
TYPED_TEST(entries, of_keys_that_are_marks_are_taken_again) {
  for (const act what : {act::find, act::assign, act::extract, act::insert, act::toggle}) {
    at_every_pair_of_steps<TypeParam>({{act::insert, 1, 5}, {act::insert, 5, 8}}, {{what, 1, 6}, {act::find, 1}},
                                      {{act::erase, 1}, {act::insert, 1, 7}, {act::find, 5}});
  }
}

} // namespace
} // namespace cubby_test
