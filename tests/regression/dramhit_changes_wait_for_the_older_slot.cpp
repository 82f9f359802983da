// SPDX-License-Identifier: Apache-2.0
// An insert stands still before it takes the free slot that it has read, while entries before that slot move. A change of its
// key looks at the old array, misses it, and goes on to the next one. Then the insert takes its slot after all. The mover
// carries the entry over and stands still between its new slot and its old one. The change meets the entry in the new slot,
// and once it is answered no thread may see what the old slot still shows.
#include <optional>

#include "engines.hpp"
#include "linearizability/client.hpp"
#include "support/scheduler.hpp"

namespace cubby_test {
namespace {

constexpr std::uint64_t late = 11;
scheduler::predicate before_nth(unsigned n, bool (*which)(step)) {
  return [=, left = n](step kind, const void*) mutable { return which(kind) && --left == 0; };
}
bool is_swap(step kind) { return kind == step::rmw16 || kind == step::rmw8; }
bool is_store(step kind) { return kind == step::store; }

/// The entry is taken out, and then no thread may see it.
template <class Map> class witness {
  using value = typename Map::mapped_type;

public:
  explicit witness(Map& m) : m_(m) {}
  void operator()() {
    erased_ = m_.erase(late);
    seen_ = m_.find(late);
    if (erased_) inserted_ = m_.insert(late, value{1});
  }
  [[nodiscard]] bool is_content() const { return !erased_ || (!seen_.has_value() && inserted_); }

private:
  Map& m_;
  bool erased_ = false;
  bool inserted_ = false;
  std::optional<value> seen_;
};

/// How far each thread goes: the insert and the mover to one of their swaps, the mover then so many stores on.
struct stops {
  unsigned insert;
  unsigned mover;
  unsigned stores;
  std::uint64_t change;
};

template <class Map> void play(const stops& at) {
  using value = typename Map::mapped_type;
  Map m(tiny_options());
  EXPECT_TRUE(m.insert(late - 1, value{1}));
  auto hand = m.handle(); // so that the first swap is the verb's
  witness<Map> taker(m);
  scheduler turns;
  const auto insert = turns.start([&] { EXPECT_TRUE(hand.insert(late, value{late})); });
  const auto mover = turns.start([&] { EXPECT_TRUE(m.reserve(200)); });
  const auto change = turns.start([&] { taker(); });
  (void)turns.run_until(insert, before_nth(at.insert, is_swap));
  (void)turns.run_until(mover, before_nth(at.mover, is_swap));
  (void)turns.run(change, at.change);
  (void)turns.run_until(insert, scheduler::never);
  (void)turns.run_until(mover, before_nth(at.stores, is_store));
  (void)turns.run_until(change, scheduler::never);
  EXPECT_TRUE(turns.finish_all());
  EXPECT_TRUE(taker.is_content()) << "stopped before swaps " << at.insert << " and " << at.mover << ", then "
                                  << at.stores << " stores, and after " << at.change << " steps";
}

/// The same one array further: the change has missed the entry in the first one, which has gone by the time at which the insert
/// takes its slot, in the second one.
struct further_stops {
  std::uint64_t in_first;
  unsigned mover;
  std::uint64_t in_second;
  unsigned stores;
};
constexpr unsigned chain_is_moved = 14; // swaps by which a mover is through with the line

template <class Map> void play_further(const further_stops& at) {
  using value = typename Map::mapped_type;
  Map m(tiny_options());
  EXPECT_TRUE(m.insert(late - 1, value{1}));
  auto hand = m.handle(); // so that the first swap is the verb's
  witness<Map> taker(m);
  scheduler turns;
  const auto change = turns.start([&] { taker(); });
  const auto first = turns.start([&] { EXPECT_TRUE(m.reserve(200)); });
  const auto insert = turns.start([&] { EXPECT_TRUE(hand.insert(late, value{late})); });
  const auto second = turns.start([&] { EXPECT_TRUE(m.reserve(2000)); });
  (void)turns.run_until(first, before_nth(chain_is_moved, is_swap));
  (void)turns.run(change, at.in_first);
  EXPECT_TRUE(turns.finish(first));
  (void)turns.run_until(insert, before_nth(1, is_swap));
  (void)turns.run_until(second, before_nth(at.mover, is_swap));
  (void)turns.run(change, at.in_second);
  (void)turns.run_until(insert, scheduler::never);
  (void)turns.run_until(second, before_nth(at.stores, is_store));
  (void)turns.run_until(change, scheduler::never);
  EXPECT_TRUE(turns.finish_all());
  EXPECT_TRUE(taker.is_content()) << "stopped after " << at.in_first << " steps, before swap " << at.mover << ", after "
                                  << at.in_second << " more steps and before store " << at.stores;
}

template <class Map> class regression_dramhit_changes : public ::testing::Test {};
using words_records_tuples =
    ::testing::Types<cubby::map<std::uint64_t, std::uint64_t, cubby::dramhit, clustered_hash>,
                     cubby::map<std::uint64_t, wide_value, cubby::dramhit, clustered_hash>,
                     cubby::map<std::uint64_t, tuple_value, cubby::dramhit_tuples, clustered_hash>>;
TYPED_TEST_SUITE(regression_dramhit_changes, words_records_tuples);

TYPED_TEST(regression_dramhit_changes, of_an_entry_that_moves_are_seen_by_threads_that_look_behind_their_answer) {
  for (unsigned insert = 1; insert <= 2; ++insert)
    for (unsigned mover = 1; mover <= 12; ++mover)
      for (unsigned stores = 1; stores <= 8; ++stores)
        for (std::uint64_t change = 8; change <= 32; change += 4) {
          play<TypeParam>({insert, mover, stores, change});
          if (this->HasFailure()) return;
        }
}

TYPED_TEST(regression_dramhit_changes, of_an_entry_that_moves_from_a_later_array_are_seen_too) {
  for (std::uint64_t in_first = 8; in_first <= 16; in_first += 2)
    for (unsigned mover = 6; mover <= 10; ++mover)
      for (unsigned stores = 1; stores <= 8; ++stores)
        for (std::uint64_t in_second = 4; in_second <= 12; in_second += 2) {
          play_further<TypeParam>({in_first, mover, in_second, stores});
          if (this->HasFailure()) return;
        }
}

} // namespace
} // namespace cubby_test
