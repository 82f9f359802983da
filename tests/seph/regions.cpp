// SPDX-License-Identifier: Apache-2.0
// Space for halves of segments: a thread that maps the next region holds up no other one. The hook in front of each allocation stands for
// a kernel or a heap that takes its time.
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include <cubby/detail/engines/seph/halves.hpp>

#include "support/threads.hpp"

namespace cubby_test {
namespace {

using cubby::detail::engines::seph::memory_halves;
using cubby::detail::engines::seph::slot;
namespace memory = cubby::detail::memory;

std::atomic<bool> stops{false}, stopped{false};
bool stop_here(std::size_t) {
  if (!stops.exchange(false)) return false;
  stopped = true;
  while (stopped) std::this_thread::yield();
  return false;
}
bool refuse(std::size_t) { return true; }

/// Other tests of the program have a hook, too.
class with_hook {
public:
  explicit with_hook(memory::refuse_function hook) : before_(memory::installed_failure()) {
    memory::install_failure(hook);
  }
  ~with_hook() { memory::install_failure(before_); }
  with_hook(const with_hook&) = delete;
  with_hook& operator=(const with_hook&) = delete;

private:
  memory::refuse_function before_;
};

TEST(seph_regions, others_take_halves_while_one_maps_the_next_region) {
  memory_halves all(8192);
  slot* taken[3];
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(all.take(taken, 3)); // so that regions are large
  const with_hook hook(&stop_here);
  stops = true;
  std::thread maps([&] {
    slot* mine[3];
    while (!stopped && stops) EXPECT_TRUE(all.take(mine, 3));
  });
  const bool is_mapping = eventually([] { return stopped.load(); });
  std::atomic<bool> has_taken{false};
  std::thread other([&] {
    slot* mine[1];
    EXPECT_TRUE(all.take(mine, 1));
    has_taken = true;
  });
  const bool went_on = is_mapping && eventually([&] { return has_taken.load(); }, std::chrono::seconds(10));
  stops = false;
  stopped = false;
  maps.join();
  other.join();
  EXPECT_TRUE(is_mapping);
  EXPECT_TRUE(went_on) << "a thread waits for the mapping of another";
}

TEST(seph_regions, what_is_left_is_given_out_where_no_region_can_be_had) {
  memory_halves all(8192);
  slot* taken[3];
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(all.take(taken, 3));
  const with_hook hook(&refuse);
  unsigned more = 0;
  while (all.take(taken, 3)) ++more;
  EXPECT_GT(more, 0u);
  slot* one[1];
  while (all.take(one, 1)) continue;
  all.give(taken[0]); // of the last split that had its halves
  EXPECT_TRUE(all.take(one, 1));
  EXPECT_EQ(one[0], taken[0]);
}

memory_halves* gets_more = nullptr;
bool refuse_one_and_add_another(std::size_t) {
  memory_halves* const to = std::exchange(gets_more, nullptr);
  if (to == nullptr) return false;
  EXPECT_TRUE(to->prepare(64)); // as another thread would, whose request the kernel grants
  return true;
}
TEST(seph_regions, that_another_thread_adds_serve_a_thread_whose_own_request_is_refused) {
  memory_halves all(8192);
  slot* taken[3];
  gets_more = &all;
  const with_hook hook(&refuse_one_and_add_another);
  EXPECT_TRUE(all.take(taken, 3));
  EXPECT_EQ(gets_more, nullptr);
}

} // namespace
} // namespace cubby_test
