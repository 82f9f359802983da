// SPDX-License-Identifier: Apache-2.0
// The four holes of the published algorithm, each by its exact schedule. Every schedule is first driven against the
// published protocol (paper_bin.hpp), whose history must be refused, then against the engine, whose history must have
// an order. The steps at which a thread stands still are named by what it does there.
#include <optional>
#include <string>

#include "dlht/paper_bin.hpp"
#include "dlht/stage.hpp"

namespace cubby_test {
namespace {

constexpr std::uint64_t key = 7, v = 5, w = 6;

/// The verbs that the schedules need, over the published bin; `late` and `hasty` choose the variants with holes 4, 3.
struct paper_table {
  paper_bin bin{};
  bool late = false;
  bool hasty = false;

  caller_function caller(trace& t) {
    return [this, &t](const request_line& asked) {
      t.take(asked.what, asked.k, asked.argument, [&](record& r) { call(r); });
    };
  }
  void call(record& r) {
    std::optional<std::uint64_t> got;
    if (r.what == verb::find) got = hasty ? bin.find_without_recheck(r.key) : bin.find(r.key);
    if (r.what == verb::extract) got = bin.extract(r.key);
    if (r.what == verb::insert) r.ok = bin.insert(r.key, r.argument);
    if (r.what == verb::assign) r.ok = late ? bin.assign_late(r.key, r.argument) : bin.assign(r.key, r.argument);
    if (r.what == verb::erase) r.ok = bin.extract(r.key).has_value();
    if (r.what != verb::find && r.what != verb::extract) return;
    r.ok = got.has_value();
    r.result = got.value_or(0);
  }
};

// Hole 1. An assign reads (k, v) and stalls before its swap. The key is erased. An insert of the same pair takes the slot
// and stalls before it becomes valid. The assign's swap succeeds. A find then misses, and a later one sees the assign.
// Which of the inserter's header swaps makes the slot valid depends on the protocol, so it stalls before each in turn.
template <class Make>
judgement hole_1(Make make, std::string* text = nullptr) {
  for (unsigned swaps = 1; swaps < 5; ++swaps) {
    auto table = make();
    stage s(table);
    s.before({{verb::insert, v}});
    const auto assigner = s.thread({{verb::assign, w}, {verb::find}});
    const auto inserter = s.thread({{verb::erase}, {verb::insert, v}, {verb::find}});
    s.turns.run_until(assigner, scheduler::before_swap);
    s.turns.run_until(inserter, before_header_swap(swaps));
    s.turns.run_until(assigner, scheduler::never); // to its end, or until it waits for the insert
    const judgement j = s.end();
    if (text != nullptr) *text = s.found.text;
    if (j != judgement::linearizable) return j;
  }
  return judgement::linearizable;
}

// Hole 2. An erase that hands back what it read before its swap: an assign comes between.
template <class Make>
judgement hole_2(Make make, std::string* text = nullptr) {
  for (unsigned at = 1; at < 40; ++at) {
    auto table = make();
    stage s(table);
    s.before({{verb::insert, v}});
    const auto eraser = s.thread({{verb::extract}});
    const auto assigner = s.thread({{verb::assign, w}});
    s.turns.run(eraser, at);
    s.turns.run_until(assigner, scheduler::never);
    const judgement j = s.end();
    if (text != nullptr) *text = s.found.text;
    if (j != judgement::linearizable) return j;
  }
  return judgement::linearizable;
}

// Hole 3. A reader matches the key of a slot and stalls; the slot is erased and reused for another key; the reader takes
// the other key's value. At every step of the reader.
template <class Make>
judgement hole_3(Make make, std::string* text = nullptr) {
  for (unsigned at = 1; at < 20; ++at) {
    auto table = make();
    stage s(table);
    s.before({{verb::insert, v}});
    const auto reader = s.thread({{verb::find}});
    const auto writer = s.thread({{verb::erase}, {verb::insert, 50, key + 1}});
    s.turns.run(reader, at);
    s.turns.run_until(writer, scheduler::never);
    const judgement j = s.end();
    if (text != nullptr) *text = s.found.text;
    if (j != judgement::linearizable) return j;
  }
  return judgement::linearizable;
}

// Hole 4. An assign checks the header, stalls, and only then reads the value that it expects: the slot is by then in
// TryInsert for the same key with another value. At every step of the assign, and before each header swap.
template <class Make>
judgement hole_4(Make make, std::string* text = nullptr) {
  for (unsigned at = 1; at < 20; ++at) {
    for (unsigned swaps = 1; swaps < 5; ++swaps) {
      auto table = make();
      stage s(table);
      s.before({{verb::insert, v}});
      const auto assigner = s.thread({{verb::assign, w}, {verb::find}});
      const auto inserter = s.thread({{verb::erase}, {verb::insert, v + 100}, {verb::find}});
      s.turns.run(assigner, at);
      s.turns.run_until(inserter, before_header_swap(swaps));
      s.turns.run_until(assigner, scheduler::never);
      const judgement j = s.end();
      if (text != nullptr) *text = s.found.text;
      if (j != judgement::linearizable) return j;
    }
  }
  return judgement::linearizable;
}

const auto published = [] { return paper_table{}; };
const auto ours = [] { return engine_table{}; };

TEST(holes, one_is_in_the_published_protocol) { EXPECT_EQ(hole_1(published), judgement::refused); }
TEST(holes, one_is_closed) {
  std::string text;
  EXPECT_EQ(hole_1(ours, &text), judgement::linearizable) << text;
}

TEST(holes, two_is_in_the_published_protocol) { EXPECT_EQ(hole_2(published), judgement::refused); }
TEST(holes, two_is_closed) {
  std::string text;
  EXPECT_EQ(hole_2(ours, &text), judgement::linearizable) << text;
}

TEST(holes, three_is_in_a_reader_without_a_second_look) {
  EXPECT_EQ(hole_3([] { return paper_table{.hasty = true}; }), judgement::refused);
}
TEST(holes, three_is_closed) {
  std::string text;
  EXPECT_EQ(hole_3(ours, &text), judgement::linearizable) << text;
}

TEST(holes, four_is_in_an_assign_that_reads_late) {
  EXPECT_EQ(hole_4([] { return paper_table{.late = true}; }), judgement::refused);
}
TEST(holes, four_is_closed) {
  std::string text;
  EXPECT_EQ(hole_4(ours, &text), judgement::linearizable) << text;
}

// Hole 3 with records: a record word that a reader took is never another key's, and never freed under it.
TEST(holes, three_is_closed_for_records) {
  for (unsigned at = 1; at < 20; ++at) {
    using coding = record_coding<cubby::dlht, clustered_hash>;
    coding::map m(tiny_options());
    ASSERT_TRUE(m.insert(key, coding::encode(v)));
    std::optional<wide_value> got;
    scheduler turns;
    const auto reader = turns.start([&] { got = m.find(key); });
    const auto writer = turns.start([&] {
      m.erase(key);
      for (std::uint64_t i = 0; i < 600; ++i) m.insert_or_assign(key + 1, coding::encode(100 + i));
    });
    turns.run(reader, at);
    turns.run_until(writer, scheduler::never);
    ASSERT_TRUE(turns.finish_all());
    if (got) {
      EXPECT_EQ(coding::decode(*got), v) << "stopped at step " << at;
    }
  }
}

} // namespace
} // namespace cubby_test
