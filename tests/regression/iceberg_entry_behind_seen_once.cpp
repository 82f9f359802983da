// SPDX-License-Identifier: Apache-2.0
// The last entry behind a front bucket was erased: its version grew, and its filter was cleared a few steps later, in the same version. A find
// that had read the filter in between met the entry of the next insert, which had not returned. The find after it read the cleared
// filter, and missed the entry.
#include <optional>

#include "engines.hpp"
#include "support/fiber_scheduler.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {
namespace entry_behind_seen_once {

constexpr std::uint64_t in_front = 56;
constexpr std::uint64_t behind = 7;
struct scattering_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return splitmix(key); }
};
using small_map = cubby::map<std::uint64_t, std::uint64_t, cubby::iceberg, scattering_hash>;

/// The erase stands still before step `erased`, the finds before step `looked`, and the writer again `inserted` steps later, until both
/// finds have ended. False: the second one misses what the first one has met.
bool is_seen_again(std::uint64_t erased, std::uint64_t looked, std::uint64_t inserted) {
  table_options o = tiny_options();
  o.capacity = 1;
  o.grow_at = 97;
  small_map m(o);
  for (std::uint64_t k = 0; k < in_front; ++k) EXPECT_TRUE(m.insert(100 + k, k));
  EXPECT_TRUE(m.insert(behind, 5));
  auto one = m.handle(), two = m.handle();
  std::optional<std::uint64_t> first, second;
  fiber_scheduler turns;
  const auto writer = turns.start([&] {
    EXPECT_TRUE(two.erase(behind));
    EXPECT_TRUE(two.insert(behind, 6));
  });
  const auto reader = turns.start([&] {
    first = one.find(behind);
    second = one.find(behind);
  });
  (void)turns.run(writer, erased);
  (void)turns.run(reader, looked);
  (void)turns.run(writer, inserted);
  EXPECT_TRUE(turns.ends_alone(reader));
  EXPECT_TRUE(turns.finish_all());
  return first != 6 || second == 6;
}

TEST(iceberg_entry_behind_seen_once, is_seen_by_the_next_find_as_well) {
  for (std::uint64_t erased = 20; erased < 80; ++erased) {
    for (std::uint64_t looked = 1; looked < 12; ++looked) {
      for (std::uint64_t inserted = 20; inserted < 90; inserted += sparse_stride(4))
        ASSERT_TRUE(is_seen_again(erased, looked, inserted)) << erased << ", " << looked << ", " << inserted;
    }
  }
}

} // namespace entry_behind_seen_once
} // namespace
} // namespace cubby_test
