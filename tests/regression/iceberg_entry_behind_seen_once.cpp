// SPDX-License-Identifier: Apache-2.0
// The last entry behind a front bucket left: it was erased, or a growth moved it to the front. The version of the bucket grew, and its filter was
// cleared a few steps later, in the same version. A find that had read the filter in between met the entry of the next insert, which had not
// returned. The find after it read the cleared filter, and missed the entry.
#include <optional>
#include <vector>

#include "iceberg/table_of.hpp"
#include "support/fiber_scheduler.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {
namespace entry_behind_seen_once {

namespace yards = cubby::detail::engines::iceberg;
using stopped = scheduler_words::stopped;
using cubby::detail::sync::step;

constexpr std::uint64_t in_front = 56;

cubby::iceberg::options of_slots(std::size_t capacity) {
  cubby::iceberg::options o;
  o.capacity = capacity;
  o.grow_at = 97;
  return o;
}
std::uint64_t number_in(std::uint64_t value) { return value; }
std::uint64_t number_in(const pair_of_words& value) { return value.low; }
struct answers {
  std::optional<std::uint64_t> first, second;
  /// Whether the second find meets what the first one has met.
  [[nodiscard]] bool agree() const { return first != 6 || second == 6; }
};

/// A table of one front bucket, full, with an entry behind it, and keys that have others behind it.
template <class Map> struct crowded {
  using value = typename Map::mapped_type;
  static constexpr std::uint64_t behind = 7;
  Map m{of_slots(1)};
  /// `others`: how many entries more are behind the bucket. None of them has a bit of the filter that `behind` has.
  explicit crowded(unsigned front, unsigned others) {
    for (std::uint64_t k = 0; k < front; ++k) EXPECT_TRUE(m.insert(100 + k, value{k}));
    EXPECT_TRUE(m.insert(behind, value{5}));
    for (std::uint64_t k = 1000; others != 0; ++k) {
      if ((filter_of(k) & filter_of(behind)) != 0) continue;
      EXPECT_TRUE(m.insert(k, value{1}));
      --others;
    }
  }
  std::uint64_t filter_of(std::uint64_t k) const {
    return yards::state::filter_of(yards::hashed_in(table_of(m), table_of(m).policy.probe_of(k).hash).tag);
  }
};

/// The erase stands still before step `erased`, the finds before step `looked`, and the writer again `inserted` steps later, until both
/// finds have ended.
template <class Map>
answers beside_an_erase(unsigned front, unsigned others, std::uint64_t erased, std::uint64_t looked,
                        std::uint64_t inserted) {
  using value = typename Map::mapped_type;
  crowded<Map> of(front, others);
  constexpr std::uint64_t behind = crowded<Map>::behind;
  auto one = of.m.handle(), two = of.m.handle();
  answers out;
  const auto number_of = [](const std::optional<value>& seen) -> std::optional<std::uint64_t> {
    if (!seen) return std::nullopt;
    return number_in(*seen);
  };
  fiber_scheduler turns;
  const auto writer = turns.start([&] {
    EXPECT_TRUE(two.erase(behind));
    EXPECT_TRUE(two.insert(behind, value{6}));
  });
  const auto reader = turns.start([&] { out = {number_of(one.find(behind)), number_of(one.find(behind))}; });
  (void)turns.run(writer, erased);
  (void)turns.run(reader, looked);
  (void)turns.run(writer, inserted);
  EXPECT_TRUE(turns.ends_alone(reader));
  EXPECT_TRUE(turns.finish_all());
  return out;
}
template <class Map> void expect_agreement(unsigned front, unsigned others) {
  for (std::uint64_t erased = 20; erased < 80; ++erased) {
    for (std::uint64_t looked = 1; looked < 12; ++looked) {
      for (std::uint64_t inserted = 20; inserted < 90; inserted += sparse_stride(4))
        ASSERT_TRUE(beside_an_erase<Map>(front, others, erased, looked, inserted).agree())
            << erased << ", " << looked << ", " << inserted;
    }
  }
}

TEST(iceberg_entry_behind_seen_once, is_seen_by_the_next_find_as_well) { expect_agreement<iceberg_words>(in_front, 0); }
// A wide slot's bucket has a list, from which the erase makes the filter anew: the bits of the erased entry leave while others stay.
TEST(iceberg_entry_behind_seen_once, is_seen_by_the_next_find_beside_another_entry_behind) {
  expect_agreement<iceberg_pairs>(28, 1);
}

/// A table whose front bucket 0 is full of entries that stay when it splits. `moved` is put behind it during the growth, and a slot in front becomes
/// free, so that the growth moves it there. `late` has its tag, and is inserted when it has.
class growing_table {
public:
  iceberg_words m{of_slots(200)};
  std::uint64_t moved = 0, late = 0;
  std::vector<std::uint64_t> fill;

  /// `in_chain`: the one back bucket of `moved` is full of entries of front bucket 1, so that it goes to a chain.
  explicit growing_table(bool in_chain) {
    while (!stays(++moved, 0) || !has_one_back(moved)) {
    }
    late = moved;
    while (!stays(++late, 0) || facts(late).tag != facts(moved).tag) {
    }
    put(in_front, [&](std::uint64_t k) { return stays(k, 0) && facts(k).tag != facts(moved).tag; });
    if (!in_chain) return;
    put(in_front, [&](std::uint64_t k) { return stays(k, 1); });
    put(yards::back_slots,
        [&](std::uint64_t k) { return stays(k, 1) && has_one_back(k) && back(k, 0) == back(moved, 0); });
  }
  const iceberg_words_table& table() const { return table_of(m); }
  const yards::front_line& line() const { return *yards::front_of(table(), facts(moved), 0).line; }
  bool has_split() const {
    if (m.stats().growths == 0) return false;
    const auto& upper = yards::segment_at(table(), 1).lines[0];
    return yards::is_ready(upper) && (line().state.load(cubby::detail::sync::relaxed) & yards::state::locked) == 0;
  }

private:
  yards::hashed facts(std::uint64_t k) const { return yards::hashed_in(table(), table().policy.probe_of(k).hash); }
  bool stays(std::uint64_t k, std::uint64_t front) const {
    return facts(k).residue == front && (facts(k).copies & 1) == 0;
  }
  std::uint64_t back(std::uint64_t k, unsigned which) const {
    return cubby::detail::cpu::multiply(yards::back_hash(facts(k).hash, which), table().backs).high;
  }
  bool has_one_back(std::uint64_t k) const { return back(k, 0) == back(k, 1); }
  template <class Suits> void put(std::uint64_t count, Suits suits) {
    for (; count != 0; ++next_) {
      if (!suits(next_)) continue;
      EXPECT_TRUE(m.insert(next_, 1));
      fill.push_back(next_);
      --count;
    }
  }
  std::uint64_t next_ = 1'000'000;
};

/// The growth stands still before its step of number `step_of_line` to the state of the front bucket, behind the insert of `moved`. False: it has
/// ended before.
bool beside_a_growth(bool in_chain, unsigned step_of_line, std::uint64_t looked, std::uint64_t inserted, answers& out) {
  growing_table g(in_chain);
  auto one = g.m.handle(), two = g.m.handle(), three = g.m.handle(), four = g.m.handle();
  fiber_scheduler turns;
  const auto growth = turns.start([&] { EXPECT_TRUE(three.reserve(g.m.capacity() + 10)); });
  while (!g.has_split()) EXPECT_EQ(turns.run(growth, 1), stopped::before_step);
  const auto mover = turns.start([&] {
    EXPECT_TRUE(four.insert(g.moved, 5));
    EXPECT_TRUE(four.erase(g.fill.front()));
  });
  EXPECT_TRUE(turns.ends_alone(mover));
  EXPECT_EQ(g.m.stats().chained != 0, in_chain);
  const auto writer = turns.start([&] { EXPECT_TRUE(two.insert(g.late, 6)); });
  const auto reader = turns.start([&] { out = {one.find(g.late), one.find(g.late)}; });
  const void* const state = &g.line().state;
  const auto how = turns.run_until(
      growth, [state, left = step_of_line](step, const void* at) mutable { return at == state && --left == 0; });
  (void)turns.run(reader, looked);
  (void)turns.run(growth, 1);
  (void)turns.run(writer, inserted);
  for (int slice = 0; slice < 3; ++slice) (void)turns.run(reader, 300); // it may wait for the writer
  EXPECT_TRUE(turns.finish_all());
  return how == stopped::before_step;
}
void expect_agreement_beside_a_growth(bool in_chain) {
  unsigned step_of_line = 1;
  for (bool stands = true; stands; ++step_of_line) {
    for (std::uint64_t looked = 3; looked < 12; ++looked) {
      for (std::uint64_t inserted = 20; inserted < 90 && stands; inserted += sparse_stride(4)) {
        answers a;
        stands = beside_a_growth(in_chain, step_of_line, looked, inserted, a);
        ASSERT_TRUE(a.agree()) << step_of_line << ", " << looked << ", " << inserted;
      }
    }
  }
  EXPECT_GT(step_of_line, 5U) << "the growth has not moved the entry";
}
TEST(iceberg_entry_behind_seen_once, is_seen_again_when_a_growth_empties_a_back_bucket) {
  expect_agreement_beside_a_growth(false);
}
TEST(iceberg_entry_behind_seen_once, is_seen_again_when_a_growth_empties_a_chain) {
  expect_agreement_beside_a_growth(true);
}

} // namespace entry_behind_seen_once
} // namespace
} // namespace cubby_test
