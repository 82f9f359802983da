// SPDX-License-Identifier: Apache-2.0
// A scan in phases that threads share: each unit is shown once, and no phase begins before the one in front of it has ended.
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include <cubby/detail/core/scan_phases.hpp>

#include "support/threads.hpp"

namespace cubby_test {
namespace {

struct phase {
  unsigned number;
  std::uint64_t units;
};
using phases = cubby::detail::scan_phases<phase>;

/// Phases 1 to 9, of 0 to 80 units.
bool to_next(phase& at) {
  ++at.number;
  at.units = at.number * 10 - 10;
  return at.number < 10;
}

TEST(scan_phases, show_each_unit_once) {
  phases all(phase{0, 100});
  std::atomic<unsigned> shown[10][100] = {};
  run_threads(3, [&](unsigned) {
    all.share_out(
        7,
        [&](const phase& at, std::uint64_t first, std::uint64_t count) {
          for (std::uint64_t i = first; i < first + count; ++i) ++shown[at.number][i];
        },
        to_next);
  });
  for (unsigned p = 0; p < 10; ++p)
    for (unsigned i = 0; i < 100; ++i)
      ASSERT_EQ(shown[p][i], i < (p == 0 ? 100 : p * 10 - 10) ? 1U : 0U) << p << ' ' << i;
}

TEST(scan_phases, begin_when_all_of_the_last_one_has_been_shown) {
  phases all(phase{0, 100});
  std::atomic<bool> stands{false}, goes_on{false}, early{false};
  std::atomic<std::uint64_t> of_first{0};
  std::thread slow([&] {
    all.share_out(
        1,
        [&](const phase& at, std::uint64_t, std::uint64_t) {
          if (at.number != 0 || stands.exchange(true)) return;
          while (!goes_on) std::this_thread::yield();
          ++of_first;
        },
        to_next);
  });
  while (!stands) std::this_thread::yield();
  std::thread fast([&] {
    all.share_out(
        1,
        [&](const phase& at, std::uint64_t, std::uint64_t) {
          if (at.number == 0) ++of_first;
          else if (!goes_on) early = true;
        },
        to_next);
  });
  EXPECT_TRUE(eventually([&] { return of_first == 99; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(20)); // the fast thread would go on in this time
  goes_on = true;
  slow.join();
  fast.join();
  EXPECT_FALSE(early) << "a phase began while a part of the last one was being shown";
}

TEST(scan_phases, end_for_all_threads_when_one_throws) {
  phases all(phase{0, 1000});
  std::atomic<unsigned> shown{0};
  std::atomic<bool> ended{false};
  run_threads(3, [&](unsigned) {
    try {
      all.share_out(
          1,
          [&](const phase&, std::uint64_t first, std::uint64_t) {
            if (first == 0) throw std::runtime_error("no");
            while (!ended) std::this_thread::yield();
            ++shown;
          },
          to_next);
    } catch (const std::runtime_error&) {
      all.end();
      ended = true;
    }
  });
  EXPECT_LE(shown, 2u) << "the others went on";
}

} // namespace
} // namespace cubby_test
