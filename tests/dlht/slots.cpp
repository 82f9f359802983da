// SPDX-License-Identifier: Apache-2.0
// Slots and link buckets that change hands, at every pair of steps. A slot is taken by another key while a verb stands
// before it. A slot of a chained bucket is reused while its eraser frees it. Two inserts chain a bucket to one bin at
// once.
#include <string>

#include "linearizability/play.hpp"

namespace cubby_test {
namespace {

using namespace scripted;
using coding = word_coding<cubby::dlht, clustered_hash>;

void at_every_pair_of_steps(const script& before, const script& first, const script& second) {
  scripted::at_every_pair_of_steps<coding>(before, first, second);
}

/// Key 4 in a bin with no other free slot in its first line: a key that comes takes the place of one that has gone.
const script four_among_others = {{act::insert, 4, 5}, {act::insert, 6}, {act::insert, 7}};

TEST(slots, taken_by_another_key_with_the_same_value_are_left_alone) {
  for (const act what : {act::assign, act::update, act::erase, act::extract, act::upsert}) {
    at_every_pair_of_steps(four_among_others, {{what, 4, 6}, {act::find, 4}},
                           {{act::erase, 4}, {act::insert, 5, 5}, {act::find, 5}});
  }
}

/// An assign of the value that it reads changes nothing; so what it reads must be the entry's, not a later one's.
TEST(slots, taken_by_another_key_do_not_make_an_assign_look_done) {
  at_every_pair_of_steps(four_among_others, {{act::assign, 4, 50}},
                         {{act::extract, 4}, {act::insert, 5, 50}, {act::find, 4}});
}

/// The value stays beside a cleared key for readers that have matched it.
TEST(slots, erased_under_a_reader_keep_their_value) {
  for (const act what : {act::find, act::insert, act::insert_or_assign}) {
    at_every_pair_of_steps({{act::insert, 4, 5}}, {{what, 4, 6}}, {{act::erase, 4}});
  }
}

TEST(slots, that_hide_an_entry_count_for_inserts_of_their_key) {
  for (const act what : {act::insert, act::upsert, act::commit, act::abort}) {
    at_every_pair_of_steps({}, {{what, 4, 6}, {act::find, 4}}, {{act::insert, 4, 7}, {act::find, 4}});
    at_every_pair_of_steps({}, {{act::insert, 4, 7}, {act::find, 4}}, {{what, 4, 6}, {act::find, 4}});
  }
}

TEST(slots, of_chained_buckets_are_freed_only_while_they_are_empty) {
  const script crowded = {{act::insert, 5}, {act::insert, 6}, {act::insert, 7}, {act::insert, 4}};
  for (const act what : {act::erase, act::extract, act::toggle}) {
    at_every_pair_of_steps(crowded, {{what, 4, 6}}, {{act::insert, 8, 9}, {act::find, 8}, {act::erase, 8}});
    at_every_pair_of_steps(crowded, {{what, 4, 6}}, {{act::erase, 4}, {act::insert, 4, 9}, {act::find, 4}});
  }
}

/// Sixteen keys to a bin of the smallest table.
struct sixteens_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return (key / 16) << 61; }
};

TEST(slots, of_a_chained_bucket_belong_to_one_bin) {
  constexpr std::uint64_t x = 16, y = 32, z = 48, u = 64;
  using map = cubby::map<std::uint64_t, std::uint64_t, cubby::dlht, sixteens_hash>;
  for (std::uint64_t i = 1;; ++i) {
    bool last = false;
    for (std::uint64_t j = 1; j < 40; ++j) {
      map m(tiny_options());
      for (const std::uint64_t bin : {x, y, z, u}) {
        for (std::uint64_t k = 0; k < 3; ++k) ASSERT_TRUE(m.insert(bin + k, bin + k));
      }
      const auto add = [&m](std::uint64_t k) { return [&m, k] { ASSERT_TRUE(m.insert(k, k)); }; };
      scheduler turns;
      const auto first = turns.start(add(x + 3)), second = turns.start(add(x + 4)), other = turns.start(add(y + 3));
      last = turns.run(first, i) == scheduler::stopped::finished;
      turns.run(second, j);
      turns.run_until(other, scheduler::never);
      turns.run_until(first, scheduler::never);
      ASSERT_TRUE(turns.finish_all());
      for (const std::uint64_t bin : {z, u}) ASSERT_TRUE(m.insert(bin + 3, bin + 3));
      for (const std::uint64_t bin : {x, y, z, u}) {
        for (std::uint64_t k = 0; k < 4; ++k) ASSERT_EQ(m.find(bin + k), bin + k) << "stops " << i << " " << j;
      }
      ASSERT_EQ(m.find(x + 4), x + 4) << "stops " << i << " " << j;
    }
    if (last) return;
  }
}

} // namespace
} // namespace cubby_test
