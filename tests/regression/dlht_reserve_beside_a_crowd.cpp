// SPDX-License-Identifier: Apache-2.0
// What a reserve has asked for counts, also when a crowded bin makes the successor while the reserve notes its size: it stands still
// before each of its locked instructions in turn. Once the note went to the index that was just replaced.
#include <thread>

#include "engines.hpp"
#include "support/hooks.hpp"

namespace cubby_test {
namespace {

/// Keys are their own hashes.
struct plain_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key; }
};
using asked_table = cubby::map<std::uint64_t, std::uint64_t, cubby::dlht, plain_hash>;

/// Sixteen keys of bin `number` of 2^`bits`, of which twice as many bins have eight each.
void insert_pair_of_eights(asked_table& m, std::uint64_t number, unsigned bits) {
  for (std::uint64_t i = 0; i < 16; ++i)
    (void)m.try_insert((number << (64 - bits)) + ((i % 2) << (63 - bits)) + 1000 + i, 1);
}
void insert_sixteen_of_one_place(asked_table& m, std::uint64_t place) {
  for (std::uint64_t i = 0; i < 16; ++i) (void)m.try_insert((place << 40) + i, 1);
  ASSERT_TRUE(m.reserve(0));
}

/// True when the reserve got as far as its `number`th locked instruction.
bool reserve_beside_a_crowd(unsigned number) {
  asked_table m;
  EXPECT_TRUE(m.reserve(48)); // 32 bins
  for (std::uint64_t n = 0; n < 8; ++n) EXPECT_TRUE(m.insert((n << 61) + 1, 1));
  insert_pair_of_eights(m, 9, 5);
  EXPECT_TRUE(m.reserve(0));
  EXPECT_EQ(m.stats().bins, 64u) << "a crowd has doubled it";
  parking spot;
  std::atomic<bool> ended{false};
  std::thread other([&] {
    const park_before stop(
        spot, [left = number](step kind, const void*) mutable { return kind == step::rmw8 && --left == 0; });
    EXPECT_TRUE(m.reserve(96)); // 64 bins
    ended.store(true);
  });
  EXPECT_TRUE(eventually([&] { return spot.parked() || ended.load(); }));
  const bool parked = spot.parked();
  // Waits where the reserve stands still with a lock that growth needs.
  std::thread crowd([&] { insert_pair_of_eights(m, 37, 6); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  spot.release();
  other.join();
  crowd.join();
  for (const std::uint64_t place : {0x123456u, 0x654321u}) insert_sixteen_of_one_place(m, place);
  EXPECT_EQ(m.stats().bins, 4 * 64u) << "parked before locked instruction " << number;
  return parked;
}

TEST(regression_dlht_reserve, counts_beside_a_crowd) {
  unsigned stops = 0;
  while (stops < 40 && reserve_beside_a_crowd(stops + 1)) ++stops;
  EXPECT_GT(stops, 3u);
}

} // namespace
} // namespace cubby_test
