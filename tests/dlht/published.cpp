// SPDX-License-Identifier: Apache-2.0
// What one thread leaves in a table another may read: without a data race, although nothing else orders the two. The
// threads agree on their turns by relaxed flags, which ThreadSanitizer takes for no order at all. So each test says
// something under that sanitizer only, and there it fails when the release behind it is weakened.
#include <atomic>
#include <thread>

#include <cubby/map.hpp>

#include "engines.hpp"
#include "linearizability/client.hpp"

namespace cubby_test {
namespace {

/// Sixteen neighbouring keys to a bin of the smallest table; a larger one parts them.
struct sixteens_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key << 57; }
};
template <class Engine>
using map_over = cubby::map<std::uint64_t, wide_value, Engine, sixteens_hash>;
using map = map_over<cubby::dlht>;
using coding = record_coding<cubby::dlht>;

/// Each function in a thread of its own, one after the other; what it does happens after nothing but its beginning.
template <class... Turns>
void in_turn(Turns... turns) {
  std::atomic<unsigned> turn{0};
  const auto body = [&](unsigned mine, auto& act) {
    while (turn.load(std::memory_order_relaxed) != mine) std::this_thread::yield();
    act();
    turn.store(mine + 1, std::memory_order_relaxed);
    while (turn.load(std::memory_order_relaxed) != sizeof...(turns)) std::this_thread::yield(); // no thread ends early
  };
  unsigned next = 0;
  std::thread threads[] = {
      std::thread([&body, mine = next++, act = std::move(turns)]() mutable { body(mine, act); })...};
  for (auto& t : threads) t.join();
}

template <class Engine>
class published : public ::testing::Test {};
TYPED_TEST_SUITE(published, shared_engines);

TYPED_TEST(published, records_are_read_whole) {
  map_over<TypeParam> m(tiny_options());
  in_turn([&] { ASSERT_TRUE(m.insert(20, coding::encode(1))); }, [&] { ASSERT_EQ(m.find(20), coding::encode(1)); });
  in_turn([&] { ASSERT_TRUE(m.assign(20, coding::encode(2))); }, [&] { ASSERT_EQ(m.find(20), coding::encode(2)); });
}

TYPED_TEST(published, records_are_freed_after_their_readers_have_left) {
  map_over<TypeParam> m(tiny_options());
  ASSERT_TRUE(m.insert(20, coding::encode(1)));
  in_turn([&] { ASSERT_EQ(m.visit(20, [](const wide_value& v) { ASSERT_EQ(v, coding::encode(1)); }), 1u); },
          [&] {
            ASSERT_TRUE(m.erase(20));
            m.shrink_to_fit(); // collects
          });
}

/// The record goes from its bin to a new index by another thread's hands, in a migration that has not ended. It came
/// there by an assign: the bin's header, which the reader sees, knows nothing of it but from the mover.
TEST(published_by_dlht, records_are_read_where_another_has_moved_them) {
  map m(tiny_options());
  ASSERT_TRUE(m.insert(5, coding::encode(0)));
  in_turn([&] { ASSERT_TRUE(m.assign(5, coding::encode(1))); },
          [&] {
            for (std::uint64_t k = 80; k < 96; ++k) ASSERT_TRUE(m.insert(k, coding::encode(k)));
            ASSERT_TRUE(m.stats().migrating);
          },
          [&] { ASSERT_EQ(m.find(5), coding::encode(1)); });
}

/// A thread that meets a new index reads its size and its memory, which another thread has set.
TEST(published_by_dlht, indexes_are_known_to_those_who_help_to_fill_them) {
  map m(tiny_options());
  in_turn(
      [&] {
        for (std::uint64_t k = 80; k < 96; ++k) ASSERT_TRUE(m.insert(k, coding::encode(k)));
      },
      [&] { ASSERT_TRUE(m.insert(120, coding::encode(1))); });
}

TEST(published_by_dlht, what_waits_to_be_freed_is_handed_over_under_its_lock) {
  map m(tiny_options());
  ASSERT_TRUE(m.insert(20, coding::encode(1)));
  in_turn([&] { ASSERT_TRUE(m.erase(20)); }, [&] { m.shrink_to_fit(); });
}

TEST(published_by_dlht, thread_records_are_handed_over_whole) {
  map m(tiny_options());
  in_turn(
      [&] {
        for (unsigned i = 0; i < 8; ++i) ASSERT_FALSE(m.handle().contains(20));
      },
      [&] {
        for (unsigned i = 0; i < 8; ++i) ASSERT_FALSE(m.handle().contains(20));
      });
}

} // namespace
} // namespace cubby_test
