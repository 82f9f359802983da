// SPDX-License-Identifier: Apache-2.0
// What a verb may cost, counted. The table's own lines (root, a counter cell), the thread record and the clock are the same few
// for every key and stay in the cache. They are counted apart, and are part of these gates only where they are named.
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include <cubby/detail/platform/barrier.hpp>

#include "counting/cases.hpp"

namespace cubby_counting {
namespace {

const std::vector<row>& counted() {
  static const std::vector<row> all = count_all();
  return all;
}
const tally& words(const std::string& verb) { return row_of(counted(), "dlht words", verb).counts; }
const tally& keys_alone(const std::string& verb) { return row_of(counted(), "dlht set", verb).counts; }
const tally& records(const std::string& verb) { return row_of(counted(), "dlht records", verb).counts; }

const tally& in_dramhit(const std::string& verb) { return row_of(counted(), "dramhit words", verb).counts; }
const tally& dramhit_records(const std::string& verb) { return row_of(counted(), "dramhit records", verb).counts; }

const tally& in_tuples(const std::string& verb) { return row_of(counted(), "tuple words", verb).counts; }
const tally& in_lines(const std::string& verb) { return row_of(counted(), "tuple lines", verb).counts; }

const tally& chained(const std::string& verb) { return row_of(counted(), "relativistic words", verb).counts; }
const tally& chained_records(const std::string& verb) { return row_of(counted(), "relativistic records", verb).counts; }

const tally& in_iceberg(const std::string& verb) { return row_of(counted(), "iceberg words", verb).counts; }
const tally& texts_in_iceberg(const std::string& verb) { return row_of(counted(), "iceberg texts", verb).counts; }

struct allowance {
  unsigned lines;
  unsigned rmw8;
  unsigned rmw16;
};
void expect_costs(const tally& t, allowance allowed) {
  EXPECT_EQ(t.lines, allowed.lines) << "lines";
  EXPECT_EQ(t.rmw8, allowed.rmw8) << "8-byte read-modify-writes";
  EXPECT_EQ(t.rmw16, allowed.rmw16) << "16-byte read-modify-writes";
  EXPECT_EQ(t.fences, 0u) << "fences";
}

// A look reads the bin's line and writes nothing, whether it finds or not; outside it stores in its own thread record.
TEST(counting_gates, find_takes_one_line_and_no_read_modify_write) {
  for (const char* verb : {"find", "find, absent", "visit", "contains, first slot", "contains, third slot",
                           "contains, absent, bin empty", "contains, absent, slots full"}) {
    SCOPED_TRACE(verb);
    expect_costs(words(verb), {1, 0, 0});
    EXPECT_EQ(words(verb).stores, words(verb).thread_record * 2) << "into the thread record and out";
  }
  expect_costs(words("contains, in a link bucket"), {2, 0, 0});
}

// Two swaps of the header (reserve, commit), as in the paper, and one of the slot, beyond the paper. An inline entry is
// shown last, so that an assign which looked long ago can never hit a slot that is being filled (the engine's README,
// "What we changed", 1). A set's entries are shown in the same way. Records need no third: no address comes back to a
// slot while a pin lives.
TEST(counting_gates, insert_takes_one_line_two_swaps_of_the_header_and_one_that_shows) {
  for (const char* verb : {"insert", "insert, third slot", "insert, slot of an erased entry"}) {
    SCOPED_TRACE(verb);
    expect_costs(words(verb), {1, 2, 1});
    expect_costs(keys_alone(verb), {1, 2, 1});
    expect_costs(records(verb), {1, 2, 0});
  }
  expect_costs(words("insert, key is there"), {1, 0, 0});
  expect_costs(words("insert, in a link bucket"), {2, 2, 1});
  // One to take a bucket from the array, one to chain it; once in the life of a bucket.
  expect_costs(words("insert, chains a link bucket"), {2, 4, 1});
}

// One swap of the slot: that it met the live entry follows from invariant I1, so the header is not touched.
TEST(counting_gates, assign_takes_one_line_and_one_swap_of_the_slot) {
  for (const char* verb :
       {"assign", "update", "insert_or_add, key is there", "insert_or_assign, key is there", "compute, replaces"}) {
    SCOPED_TRACE(verb);
    expect_costs(words(verb), {1, 0, 1});
  }
  expect_costs(words("assign, absent"), {1, 0, 0});
  expect_costs(words("assign, in a link bucket"), {2, 0, 1});
}

// One swap of the slot clears the key, is the linearization point, and frees the slot: the next insert takes a valid
// slot whose key is cleared like an invalid one. In a link bucket the header is changed, too, so that misses need not
// look there.
TEST(counting_gates, erase_takes_one_line_and_one_swap_of_the_slot) {
  for (const char* verb : {"erase", "erase, third slot"}) {
    SCOPED_TRACE(verb);
    expect_costs(words(verb), {1, 0, 1});
    expect_costs(keys_alone(verb), {1, 0, 1});
  }
  expect_costs(words("extract"), {1, 0, 1});
  expect_costs(words("compute, erases"), {1, 0, 1});
  expect_costs(words("erase, absent"), {1, 0, 0});
  expect_costs(words("erase, in a link bucket"), {2, 1, 1});
}

// The hidden entry is reserved and committed as shadow: two swaps of the header. Its commit makes it valid and shows it.
TEST(counting_gates, reservations_swap_the_header_and_show_last) {
  expect_costs(words("shadow_insert"), {1, 2, 0});
  expect_costs(words("commit"), {1, 1, 1});
  expect_costs(words("abort"), {1, 1, 1});
}

TEST(counting_gates, a_batch_costs_what_its_requests_cost) {
  expect_costs(words("find_batch, 32 bins"), {32, 0, 0});
  expect_costs(words("execute: find, insert, assign, erase"), {4, 2, 3});
  EXPECT_EQ(words("execute: find, insert, assign, erase").thread_record, 1u) << "one pin for all";
}

TEST(counting_gates, inline_tables_allocate_nothing_and_records_one_block) {
  for (const row& r : counted()) {
    if (r.verb == "snapshot of 8" || r.verb == "reserve 1000" || r.verb == "shrink_to_fit") continue;
    SCOPED_TRACE(r.table + ": " + r.verb);
    EXPECT_EQ(r.counts.mappings, 0u);
    const bool is_inline = r.table == "dlht words" || r.table == "dlht set" || r.table == "dramhit words" ||
                           r.table == "tuple words" || r.table == "tuple lines" ||
                           (r.table.starts_with("iceberg") && r.table != "iceberg records");
    EXPECT_TRUE(!is_inline || r.counts.allocations == 0);
  }
  const auto iceberg_records = [](const char* verb) { return row_of(counted(), "iceberg records", verb).counts; };
  for (const char* verb : {"insert", "assign", "update", "insert_or_assign, absent"}) {
    EXPECT_EQ(records(verb).allocations, 1u) << verb;
    EXPECT_EQ(iceberg_records(verb).allocations, 1u) << verb;
  }
  EXPECT_EQ(records("shadow_insert").allocations, 1u);
  for (const char* verb : {"find", "insert, key is there", "assign, absent", "erase"}) {
    EXPECT_EQ(records(verb).allocations, 0u) << verb;
    EXPECT_EQ(iceberg_records(verb).allocations, 0u) << verb;
  }
}

// Who retires chains the record under the lock of its stripe; every 2048th call turns the stripe, and looks at all thread records
// when something has waited since the last turn. That look is the only fence of any verb.
TEST(counting_gates, retiring_makes_a_fence_with_every_lot_alone) {
  expect_costs(records("erase"), {1, 1, 1});
  expect_costs(records("assign"), {1, 1, 1});
  EXPECT_EQ(records("assign, 2047 times").fences, 0u);
  EXPECT_EQ(records("assign, the 2048th").fences, 0u);
  EXPECT_EQ(records("assign, 2047 more").fences, 0u);
  EXPECT_EQ(records("assign, the 4096th").fences, 1u);
}

// DRAMHiT at rest. The key words of a line and one value word decide a hit; a miss also asks whether there is a next array,
// on a line that all keys share.
TEST(counting_gates, a_find_in_dramhit_takes_one_line_and_no_read_modify_write) {
  for (const char* verb : {"find", "find, absent", "visit", "contains, first slot", "contains, third slot",
                           "contains, absent, bin empty", "contains, absent, slots full"}) {
    SCOPED_TRACE(verb);
    expect_costs(in_dramhit(verb), {1, 0, 0});
    expect_costs(dramhit_records(verb), {1, 0, 0});
    EXPECT_EQ(in_dramhit(verb).stores, in_dramhit(verb).thread_record * 2) << "into the thread record and out";
  }
  expect_costs(in_dramhit("find, in the next line"), {2, 0, 0});
  expect_costs(in_dramhit("find, absent, line full"), {2, 0, 0});
  expect_costs(in_dramhit("find_batch, 32 bins"), {32, 0, 0});
}

// One swap of the slot, whatever the verb. Inserts and erases are counted in a cell that only their thread record writes: one line
// of the table beside the root's, and one store.
TEST(counting_gates, a_change_in_dramhit_takes_one_line_and_one_swap_of_the_slot) {
  for (const char* verb : {"insert", "insert, third slot", "insert, slot of an erased entry", "assign", "update",
                           "insert_or_add, key is there", "insert_or_assign, key is there", "insert_or_assign, absent",
                           "compute, replaces", "compute, erases", "extract", "erase", "erase, third slot"}) {
    SCOPED_TRACE(verb);
    expect_costs(in_dramhit(verb), {1, 0, 1});
    EXPECT_LE(in_dramhit(verb).table, 2u);
    EXPECT_LE(in_dramhit(verb).stores, 3u) << "into the thread record and out, and the counter";
  }
  EXPECT_EQ(in_dramhit("assign").stores, 2u) << "nothing is counted";
  for (const char* verb : {"insert, key is there", "assign, absent", "erase, absent"}) {
    SCOPED_TRACE(verb);
    expect_costs(in_dramhit(verb), {1, 0, 0});
  }
  expect_costs(dramhit_records("insert"), {1, 0, 1});
  expect_costs(in_dramhit("assign, in the next line"), {2, 0, 1});
  expect_costs(in_dramhit("execute: find, insert, assign, erase"), {4, 0, 3});
}

// What waits in a pipeline costs what its verb costs alone, but for the pin: one for all of them, in the pipeline's thread record.
TEST(counting_gates, a_pipelined_request_costs_what_its_verb_costs) {
  expect_costs(in_dramhit("pipelined find, 32 bins"), {32, 0, 0});
  expect_costs(dramhit_records("pipelined find, 32 bins"), {32, 0, 0});
  for (const tally& t : {in_dramhit("pipelined find, 32 bins"), in_tuples("pipelined find, 32 bins")})
    EXPECT_EQ(t.stores, 2u) << "into the thread record and out";
  for (const char* verb : {"pipelined insert, 32 bins", "pipelined assign, 32 bins", "pipelined insert_or_add, 32 bins",
                           "pipelined erase, 32 bins"}) {
    SCOPED_TRACE(verb);
    const bool erases = std::string(verb) == "pipelined erase, 32 bins";
    expect_costs(in_dramhit(verb), {32, 0, 32});
    for (const tally& t : {in_tuples(verb), in_lines(verb)}) expect_costs(t, {32, erases ? 32u : 64u, 0});
  }
  for (const tally& t : {in_tuples("pipelined find, 32 bins"), in_lines("pipelined find, 32 bins")})
    expect_costs(t, {32, 0, 0});
}

// Tuples: two of words share a line, and one of 64 bytes fills it; the third in a group is in the second line, or the third. A
// find looks at the header, the key's words, the value's, and the header again. A miss ends at an empty tuple.
TEST(counting_gates, a_find_of_a_tuple_takes_the_lines_up_to_it_and_no_read_modify_write) {
  for (const char* verb : {"find", "visit", "contains, first slot", "contains, absent, bin empty"}) {
    SCOPED_TRACE(verb);
    for (const tally& t : {in_tuples(verb), in_lines(verb)}) {
      expect_costs(t, {1, 0, 0});
      EXPECT_EQ(t.stores, t.thread_record * 2) << "into the thread record and out";
    }
  }
  EXPECT_EQ(in_tuples("find").loads, 7u) << "clock, root, its next, the header twice, a word of key and of value";
  EXPECT_EQ(in_lines("find").loads, 11u) << "with two words of key and four of value";
  expect_costs(in_tuples("find, absent"), {1, 0, 0});
  expect_costs(in_lines("find, absent"), {2, 0, 0});
  expect_costs(in_tuples("contains, third slot"), {2, 0, 0});
  expect_costs(in_lines("contains, third slot"), {3, 0, 0});
  expect_costs(in_tuples("find, absent, line full"), {2, 0, 0});
  for (const tally& t : {in_tuples("find_batch, 32 bins"), in_lines("find_batch, 32 bins")})
    expect_costs(t, {32, 0, 0});
}

// A tuple is taken and shown, and so is a new value, by two swaps of the header. The second is a swap because it has to notice
// a mover (the engine's README, "What we changed", 3). An erase is one. Beside them the words are stored, and what is counted.
TEST(counting_gates, a_change_of_a_tuple_swaps_its_header_twice_and_an_erase_once) {
  for (const char* verb : {"insert", "insert_or_assign, absent"}) {
    SCOPED_TRACE(verb);
    for (const tally& t : {in_tuples(verb), in_lines(verb)}) expect_costs(t, {1, 2, 0});
    EXPECT_EQ(in_tuples(verb).stores, 5u) << "the thread record's two, the counter, and two words";
    EXPECT_EQ(in_lines(verb).stores, 9u) << "six words";
  }
  for (const char* verb :
       {"assign", "update", "insert_or_add, key is there", "insert_or_assign, key is there", "compute, replaces"}) {
    SCOPED_TRACE(verb);
    for (const tally& t : {in_tuples(verb), in_lines(verb)}) expect_costs(t, {1, 2, 0});
    EXPECT_EQ(in_tuples(verb).stores, 3u) << "the thread record's two, and the value's word";
    EXPECT_EQ(in_lines(verb).stores, 6u) << "the value's four";
  }
  for (const char* verb : {"erase", "extract", "compute, erases"}) {
    SCOPED_TRACE(verb);
    for (const tally& t : {in_tuples(verb), in_lines(verb)}) expect_costs(t, {1, 1, 0});
    EXPECT_EQ(in_lines(verb).stores, 3u) << "the thread record's two, and the counter";
  }
  for (const char* verb : {"insert, key is there", "assign, absent", "erase, absent"}) {
    SCOPED_TRACE(verb);
    const unsigned in_lines_of_their_own = std::string(verb).ends_with("absent") ? 2 : 1;
    expect_costs(in_tuples(verb), {1, 0, 0});
    expect_costs(in_lines(verb), {in_lines_of_their_own, 0, 0});
  }
}

// The relativistic engine at rest: `lines` are those of the array of heads, `index` the nodes, each in a block of its own. A
// look loads the root, a head, and of each node the link; of the one that it finds the value, too. An empty bucket is one line.
TEST(counting_gates, a_find_in_a_chain_takes_a_head_and_its_nodes_and_no_read_modify_write) {
  for (const char* verb : {"find", "find, absent", "visit", "contains, first slot", "contains, third slot",
                           "contains, absent, bin empty", "contains, absent, slots full"}) {
    SCOPED_TRACE(verb);
    const std::string name = verb;
    const unsigned nodes = name.ends_with("empty") ? 0 : name.ends_with("full") ? 3 : 1; // the last one in comes first
    for (const tally& t : {chained(name), chained_records(name)}) {
      expect_costs(t, {1, 0, 0});
      EXPECT_EQ(t.index, nodes);
      EXPECT_EQ(t.table, 1u) << "the root";
      EXPECT_EQ(t.stores, t.thread_record * 2) << "into the thread record and out";
    }
  }
  EXPECT_EQ(chained("find").loads, 5u) << "the clock, the root, the head, the node's value and its link";
  EXPECT_EQ(chained("find_batch, 32 bins").index, 32u);
  expect_costs(chained("find_batch, 32 bins"), {5, 0, 0}); // eight heads share a line
}

// The lock of the stripe is what locks an insert and an assign in place: taken by one locked instruction, and given back by one,
// behind which the change is seen (A.1).
TEST(counting_gates, a_change_of_a_chain_locks_its_stripe_once) {
  for (const char* verb : {"insert", "insert, third slot", "insert, slot of an erased entry",
                           "insert_or_assign, absent", "shadow_insert", "commit"}) {
    SCOPED_TRACE(verb);
    expect_costs(chained(verb), {1, 2, 0});
    EXPECT_LE(chained(verb).table, 2u) << "the root and the stripe";
  }
  expect_costs(chained_records("insert"), {1, 2, 0});
  for (const char* verb :
       {"assign", "update", "insert_or_add, key is there", "insert_or_assign, key is there", "compute, replaces"}) {
    SCOPED_TRACE(verb);
    expect_costs(chained(verb), {1, 2, 0});
    EXPECT_EQ(chained(verb).stores, 3u) << "the thread record's two, and the value";
  }
  for (const char* verb : {"insert, key is there", "assign, absent", "erase, absent"}) {
    SCOPED_TRACE(verb);
    expect_costs(chained(verb), {1, 0, 0});
    EXPECT_EQ(chained(verb).stores, 2u);
  }
}

// What leaves a chain is looked for on the paths of its family, whose size stands in the header of the array: a line that all
// keys share. Then it is handed to those that are retired, under a lock of theirs.
TEST(counting_gates, what_leaves_a_chain_costs_a_second_lock) {
  for (const char* verb : {"erase", "erase, third slot", "extract", "compute, erases", "abort"}) {
    SCOPED_TRACE(verb);
    expect_costs(chained(verb), {1, 3, 0});
    expect_costs(chained_records(verb), {1, 3, 0});
    EXPECT_EQ(chained(verb).index, 2u) << "the node, and the header";
  }
  for (const char* verb : {"assign", "update", "insert_or_assign, key is there", "compute, replaces"}) {
    SCOPED_TRACE(verb);
    expect_costs(chained_records(verb), {1, 3, 0});
    EXPECT_EQ(chained_records(verb).index, 3u) << "the node that comes, the one that goes, and the header";
  }
}

// A node of words is one block; a record and its node are one.
TEST(counting_gates, an_entry_of_a_chain_is_one_block) {
  for (const char* verb : {"insert", "insert_or_assign, absent", "shadow_insert"}) {
    EXPECT_EQ(chained(verb).allocations, 1u) << verb;
    EXPECT_EQ(chained_records(verb).allocations, 1u) << verb;
  }
  EXPECT_EQ(chained_records("assign").allocations, 1u);
  for (const char* verb : {"find", "assign", "update", "erase", "extract", "insert, key is there"}) {
    EXPECT_EQ(chained(verb).allocations, 0u) << verb;
  }
}

// Iceberg. Each verb reads the line of tags of its bucket. What finds its key absent reads nothing else, though the bucket be full;
// what finds it touches one line of data: that of its slot.
TEST(counting_gates, a_find_in_iceberg_takes_a_line_of_tags_and_one_of_data) {
  for (const auto& counts : {in_iceberg, texts_in_iceberg}) {
    for (const char* verb : {"find", "visit", "contains, first slot", "contains, third slot"}) {
      SCOPED_TRACE(verb);
      expect_costs(counts(verb), {2, 0, 0});
      EXPECT_EQ(counts(verb).stores, counts(verb).thread_record * 2) << "into the thread record and out";
    }
    for (const char* verb : {"find, absent", "contains, absent, bin empty", "contains, absent, slots full",
                             "find, absent, bucket full", "assign, absent", "erase, absent"}) {
      SCOPED_TRACE(verb);
      expect_costs(counts(verb), {1, 0, 0});
    }
    expect_costs(counts("find_batch, 32 bins"), {64, 0, 0});
  }
}

// The bucket is locked by one locked instruction, and given back by one, behind which the change is seen (A.1).
TEST(counting_gates, a_change_in_iceberg_takes_a_line_of_tags_and_one_of_data_and_locks_once) {
  for (const auto& counts : {in_iceberg, texts_in_iceberg}) {
    for (const char* verb :
         {"insert", "insert, third slot", "insert, slot of an erased entry", "assign", "update",
          "insert_or_add, key is there", "insert_or_assign, key is there", "insert_or_assign, absent",
          "compute, replaces", "compute, erases", "extract", "erase", "erase, third slot"}) {
      SCOPED_TRACE(verb);
      expect_costs(counts(verb), {2, 2, 0});
    }
    EXPECT_EQ(counts("assign").stores, 3u) << "the thread record's two, and the value";
    EXPECT_EQ(counts("erase").stores, 4u) << "the thread record's two, the tag, and the counter";
    expect_costs(counts("insert, key is there"), {2, 1, 0});
    expect_costs(counts("execute: find, insert, assign, erase"), {8, 6, 0});
  }
  EXPECT_EQ(in_iceberg("insert").stores, 6u) << "the thread record's two, two words, the tag, and the counter";
  EXPECT_EQ(texts_in_iceberg("insert").stores, 8u) << "three words of key";
}

// Behind a full front bucket: one or both back buckets, with versions if keys have several words, a line of data, and a list of texts.
TEST(counting_gates, an_entry_of_the_back_yard_takes_up_to_two_lines_more_or_three_with_a_list) {
  for (const auto& counts : {in_iceberg, texts_in_iceberg}) {
    SCOPED_TRACE(counts == in_iceberg ? "words" : "texts");
    for (const char* verb : {"find, in the back yard", "assign, in the back yard", "insert, in the back yard",
                             "erase, in the back yard"}) {
      const bool lists = counts == texts_in_iceberg && (verb[0] == 'i' || verb[0] == 'e');
      EXPECT_EQ((counts(verb).lines - (lists ? 4u : 3u)) / 2, 0u) << verb << ": one or two lines more, and the list";
    }
    EXPECT_EQ(counts("find, in the back yard").rmw8, 0u);
    EXPECT_EQ(counts("find, in the back yard").unasked, 1u) << "the tags: others are asked for before one is read";
    for (const char* verb : {"assign, in the back yard", "insert, in the back yard", "erase, in the back yard"})
      EXPECT_EQ(counts(verb).rmw8, 3u) << verb << ": a lock for each of its two buckets";
  }
  EXPECT_EQ(in_iceberg("find, absent, filter in doubt").lines, 3u) << "the words of two back buckets";
  EXPECT_EQ(texts_in_iceberg("find, absent, filter in doubt").lines, 5u) << "and their versions";
}

TEST(counting_gates, one_thread_alone_never_waits) {
  for (const row& r : counted()) EXPECT_EQ(r.counts.waits, 0u) << r.table << ": " << r.verb;
}

TEST(counting, is_repeatable) { EXPECT_EQ(as_json(count_all()), as_json(counted())); }

// To the last load and store. A change that costs or spares something has to say so: tools/renew_baselines.py counting
TEST(counting, every_figure_is_the_expected_one) {
  if (!cubby::detail::barrier::is_asymmetric()) GTEST_SKIP() << "no membarrier here: each pin makes a fence of its own";
  std::ifstream file(CUBBY_SOURCE_DIR "/tests/counting/expected.json");
  std::stringstream expected;
  expected << file.rdbuf();
  std::stringstream counted_now(as_json(counted()));
  std::string want;
  std::string have;
  while (std::getline(expected, want)) {
    ASSERT_TRUE(std::getline(counted_now, have)) << "missing: " << want;
    EXPECT_EQ(have, want);
  }
  EXPECT_FALSE(std::getline(counted_now, have)) << "not expected: " << have;
}

} // namespace
} // namespace cubby_counting
