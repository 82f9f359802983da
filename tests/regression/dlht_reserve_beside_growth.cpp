// SPDX-License-Identifier: Apache-2.0
// A reserve that answers true has made the space, also when another thread's insert makes a smaller successor in
// between. The reserve stands still before each of its locked instructions in turn, and the table grows meanwhile.
#include <thread>

#include "engines.hpp"
#include "support/hooks.hpp"

namespace cubby_test {
namespace {

constexpr std::uint64_t wanted = 20000;

/// True when the reserve got as far as its `number`th locked instruction.
bool reserve_while_growing(unsigned number) {
  cubby::map<std::uint64_t, std::uint64_t, cubby::dlht> m(tiny_options());
  parking spot;
  std::atomic<bool> ended{false};
  std::thread other([&] {
    const park_before stop(
        spot, [left = number](step kind, const void*) mutable { return kind == step::rmw8 && --left == 0; });
    EXPECT_TRUE(m.reserve(wanted));
    EXPECT_GE(m.stats().capacity, wanted) << "parked before locked instruction " << number;
    ended.store(true);
  });
  EXPECT_TRUE(eventually([&] { return spot.parked() || ended.load(); }));
  const bool parked = spot.parked();
  // Grows the table, unless the reserve stands still with a lock that growth needs: then this thread waits for it.
  std::thread grower([&] {
    const std::uint64_t before = m.stats().capacity;
    for (std::uint64_t k = 0; k < 400 && m.stats().capacity == before; ++k) m.insert(k, k);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  spot.release();
  other.join();
  grower.join();
  return parked;
}

TEST(regression_dlht_reserve, makes_the_space_that_it_promises) {
  unsigned stops = 0;
  while (stops < 40 && reserve_while_growing(stops + 1)) ++stops;
  EXPECT_GT(stops, 3u);
}

} // namespace
} // namespace cubby_test
