// SPDX-License-Identifier: Apache-2.0
// An insert stands still before it takes the free slot that it has read, while entries before that slot move. A change of its
// key looks at the old array, misses it, and goes on to the next one; then the insert takes its slot after all, and the mover
// carries the entry over and stands still between its new place and its old one. The change meets the entry in the new place,
// and once it is answered nobody may see what the old place still shows.
#include <optional>

#include "engines.hpp"
#include "linearizability/client.hpp"
#include "support/scheduler.hpp"

namespace cubby_test {
namespace {

constexpr std::uint64_t late = 11;
/// How far each thread goes: the insert and the mover to one of their swaps, the mover then so many stores on.
struct stops {
  unsigned insert;
  unsigned mover;
  unsigned stores;
  std::uint64_t change;
};

scheduler::predicate before_nth(unsigned n, bool (*which)(step)) {
  return [=, left = n](step kind, const void*) mutable { return which(kind) && --left == 0; };
}
bool is_swap(step kind) { return kind == step::rmw16 || kind == step::rmw8; }
bool is_store(step kind) { return kind == step::store; }

template <class Map> void play(const stops& at) {
  using value = typename Map::mapped_type;
  Map m(tiny_options());
  EXPECT_TRUE(m.insert(late - 1, value{1}));
  auto hand = m.handle(); // so that the first swap is the verb's
  bool erased = false;
  bool inserted = false;
  std::optional<value> seen;
  scheduler turns;
  const auto insert = turns.start([&] { EXPECT_TRUE(hand.insert(late, value{late})); });
  const auto mover = turns.start([&] { EXPECT_TRUE(m.reserve(200)); });
  const auto change = turns.start([&] {
    erased = m.erase(late);
    seen = m.find(late);
    if (erased) inserted = m.insert(late, value{1});
  });
  (void)turns.run_until(insert, before_nth(at.insert, is_swap));
  (void)turns.run_until(mover, before_nth(at.mover, is_swap));
  (void)turns.run(change, at.change);
  (void)turns.run_until(insert, scheduler::never);
  (void)turns.run_until(mover, before_nth(at.stores, is_store));
  (void)turns.run_until(change, scheduler::never);
  EXPECT_TRUE(turns.finish_all());
  EXPECT_TRUE(!erased || (!seen.has_value() && inserted))
      << "stopped before swaps " << at.insert << " and " << at.mover << ", then " << at.stores << " stores, and after "
      << at.change << " steps";
}

template <class Map> class issue_004_changes : public ::testing::Test {};
using words_records_tuples =
    ::testing::Types<cubby::map<std::uint64_t, std::uint64_t, cubby::dramhit, clustered_hash>,
                     cubby::map<std::uint64_t, wide_value, cubby::dramhit, clustered_hash>,
                     cubby::map<std::uint64_t, tuple_value, cubby::dramhit_tuples, clustered_hash>>;
TYPED_TEST_SUITE(issue_004_changes, words_records_tuples);

TYPED_TEST(issue_004_changes, of_an_entry_that_moves_are_seen_by_whoever_looks_behind_their_answer) {
  for (unsigned insert = 1; insert <= 2; ++insert)
    for (unsigned mover = 1; mover <= 12; ++mover)
      for (unsigned stores = 1; stores <= 8; ++stores)
        for (std::uint64_t change = 8; change <= 32; change += 4) {
          play<TypeParam>({insert, mover, stores, change});
          if (this->HasFailure()) return;
        }
}

} // namespace
} // namespace cubby_test
