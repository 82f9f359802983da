// SPDX-License-Identifier: Apache-2.0
// A `background` DRAMHiT table whose thread gets no thread record, because there is no memory for one: inserts do its work. When
// thread records are free again it takes over.
#include <vector>

#include "engines.hpp"
#include "support/failing_memory.hpp"
#include "support/hooks.hpp"

namespace cubby_test {
namespace {

/// Every allocation of the worker is refused, and it is the only thread without a watcher.
class hungry_worker {
public:
  hungry_worker() {
    static constexpr cubby::detail::worker_host here{&start, &sleep, &join};
    cubby::detail::install_worker_host(&here);
  }
  ~hungry_worker() { cubby::detail::install_worker_host(nullptr); }
  hungry_worker(const hungry_worker&) = delete;
  hungry_worker& operator=(const hungry_worker&) = delete;
  static inline std::atomic<bool> fed{false};
  static inline std::atomic<std::uint64_t> turns{0};

private:
  static bool start(void* (*run)(void*), void* worker) {
    thread() = std::thread([run, worker] { (void)run(worker); });
    return true;
  }
  /// Between two looks: whatever the worker allocates next is refused, unless it is fed.
  static void sleep(const void*) {
    static thread_local std::unique_ptr<memory_failure> refusal;
    refusal.reset();
    if (!fed) refusal = std::make_unique<memory_failure>(1);
    ++turns;
    std::this_thread::yield();
  }
  static void join(void*) { thread().join(); }
  static std::thread& thread() {
    static std::thread one;
    return one;
  }
};

void wait_for_turns() {
  const std::uint64_t before = hungry_worker::turns;
  ASSERT_TRUE(eventually([&] { return hungry_worker::turns.load() > before + 2; })) << "the worker does not look up";
}

TEST(regression_dramhit_mover, without_a_thread_record_leaves_its_work_to_inserts) {
  const hungry_worker host;
  hungry_worker::fed = false;
  (void)cubby::detail::registry::local();
  std::vector<cubby::detail::thread_record*> all; // every free thread record, so that the next one has to be allocated
  all.reserve(100000);
  {
    const memory_failure no_more(1);
    while (cubby::detail::thread_record* const one = cubby::detail::registry::claim()) all.push_back(one);
  }
  using table = cubby::map<std::uint64_t, std::uint64_t, cubby::dramhit>;
  table m(tiny_options(cubby::growth_policy::background));
  wait_for_turns();
  std::uint64_t n = 0;
  const auto insert_until = [&](auto done) {
    const std::uint64_t end = n + 5000;
    for (; n < end && !done(); ++n) ASSERT_TRUE(m.insert(n, n));
    EXPECT_TRUE(done()) << n << " entries";
  };
  insert_until([&] { return m.stats().growths == 1; });
  wait_for_turns(); // it has looked in vain
  insert_until([&] { return !m.stats().migrating; });

  hungry_worker::fed = true;
  for (cubby::detail::thread_record* const one : all) cubby::detail::registry::release(one);
  wait_for_turns();
  const std::uint64_t growths = m.stats().growths;
  insert_until([&] { return m.stats().growths > growths; });
  EXPECT_TRUE(eventually([&] { return !m.stats().migrating; })) << "no thread inserts, and nothing moves";
  for (std::uint64_t k = 0; k < n; ++k) ASSERT_EQ(m.find(k), k);
}

} // namespace
} // namespace cubby_test
