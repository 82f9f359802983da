// SPDX-License-Identifier: Apache-2.0
// Scans by several threads (`visit_all(threads(n), f)`, `erase_if(on(pool, n), p)`): they show what a scan by one thread shows, also while
// others write and the table grows.
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <cubby/execution.hpp>
#include <cubby/in_place_map.hpp>

#include "engines.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

using cubby::threads;

template <class Map> class shared_scans : public testing::Test {};
template <class Engine> using map_of_words = testing::Types<cubby::map<std::uint64_t, std::uint64_t, Engine>>;
template <class Engine> using map_of_texts = testing::Types<cubby::map<std::uint64_t, std::string, Engine>>;
using maps = join<join_over<map_of_words, shared_plain_engines>, join_over<map_of_texts, shared_engines>,
                  map_of_words<cubby::dlht_counted>>;
TYPED_TEST_SUITE(shared_scans, maps);

/// How often a scan may show an entry that is there throughout, while entries move.
template <class Map> bool is_as_promised(unsigned times) {
  return times == 1 || (times > 1 && !Map::capabilities.scans_once);
}

template <class V> V value_for(std::uint64_t key) {
  if constexpr (std::is_same_v<V, std::string>) return std::to_string(key) + " is a text that lies in a record";
  else return key * 3;
}

/// More than what a thread takes at a time: 64 buckets of `iceberg`, of which the largest segment then has 128.
std::uint64_t entries() { return sparse() ? 8'000 : 20'000; }

TYPED_TEST(shared_scans, show_each_entry_once_with_its_value) {
  using V = typename TypeParam::mapped_type;
  TypeParam m;
  for (std::uint64_t k = 0; k < entries(); ++k) ASSERT_TRUE(m.insert(k, value_for<V>(k)));
  for (const unsigned count : {0u, 1u, 2u, 5u, 100u}) {
    std::mutex lock;
    std::vector<std::atomic<std::uint8_t>> seen(entries());
    std::set<std::thread::id> by;
    m.visit_all(threads(count), [&](const std::uint64_t& k, const V& v) {
      ASSERT_LT(k, entries());
      ++seen[k];
      EXPECT_EQ(v, value_for<V>(k));
      if (k % 16 != 0) return; // all threads need the lock
      const std::scoped_lock alone(lock);
      by.insert(std::this_thread::get_id());
    });
    for (std::uint64_t k = 0; k < entries(); ++k) ASSERT_EQ(seen[k], 1) << k;
    EXPECT_LE(by.size(), count < 1 ? 1 : count);
  }
}

/// A scan that its function ends calls it no more.
template <class Map> void expect_scans_that_end(Map& m, std::uint64_t keys) {
  for (const std::uint64_t last : {std::uint64_t{1}, keys / 2, keys}) {
    std::set<std::uint64_t> seen;
    EXPECT_FALSE(m.visit_while([&](const std::uint64_t& k, const auto&) {
      EXPECT_TRUE(seen.insert(k).second) << k;
      return seen.size() < last;
    }));
    EXPECT_EQ(seen.size(), last);
  }
  std::uint64_t count = 0;
  EXPECT_TRUE(m.visit_while([&](const std::uint64_t&, const auto&) { return ++count != 0; }));
  EXPECT_EQ(count, keys);
  EXPECT_THROW(m.visit_while([](const std::uint64_t&, const auto&) -> bool { throw std::runtime_error("stop"); }),
               std::runtime_error);
}
TYPED_TEST(shared_scans, end_when_the_function_says_so) {
  TypeParam m;
  for (std::uint64_t k = 0; k < entries(); ++k) ASSERT_TRUE(m.insert(k, value_for<typename TypeParam::mapped_type>(k)));
  expect_scans_that_end(m, entries());
  auto h = m.handle();
  expect_scans_that_end(h, entries());
}
TEST(scans_of_one_thread, end_when_the_function_says_so) {
  cubby::map<std::uint64_t, int, cubby::dlht_single> m;
  cubby::in_place_map<std::uint64_t, int> values;
  for (std::uint64_t k = 0; k < 5000; ++k) ASSERT_TRUE(m.insert(k, 1) && values.insert(k, 1));
  expect_scans_that_end(m, 5000);
  expect_scans_that_end(values, 5000);
  const cubby::set<int> some{1, 2, 3};
  EXPECT_FALSE(some.visit_while([](int) { return false; }));
  EXPECT_TRUE(cubby::set<int>().visit_while([](int) { return false; })) << "no entry has answered";
}

TYPED_TEST(shared_scans, erase_what_the_predicate_names_and_count_it) {
  using V = typename TypeParam::mapped_type;
  TypeParam m;
  for (std::uint64_t k = 0; k < entries(); ++k) ASSERT_TRUE(m.insert(k, value_for<V>(k)));
  EXPECT_EQ(m.erase_if(threads(3), [](const std::uint64_t& k, const V&) { return k % 4 == 0; }), entries() / 4);
  EXPECT_EQ(m.size(), entries() - entries() / 4);
  for (std::uint64_t k = 0; k < entries(); ++k) ASSERT_EQ(m.contains(k), k % 4 != 0);
}

/// What is there all the time is shown exactly once, while another thread lets the table grow and erases.
TYPED_TEST(shared_scans, miss_and_double_nothing_while_the_table_grows) {
  using V = typename TypeParam::mapped_type;
  TypeParam m;
  for (std::uint64_t k = 0; k < entries(); ++k) ASSERT_TRUE(m.insert(k, value_for<V>(k)));
  std::atomic<bool> over{false};
  std::thread writer([&] {
    for (std::uint64_t k = entries(); !over; ++k) {
      m.insert(k, value_for<V>(k));
      if (k >= entries() + 5000) m.erase(k - 5000);
      if (k % (entries() * 3 / 2) == 0) (void)m.shrink_to_fit();
    }
  });
  for (std::uint64_t round = 0; round < 6; round += sparse_stride(2)) {
    std::vector<std::atomic<std::uint8_t>> seen(entries());
    m.visit_all(threads(3), [&](const std::uint64_t& k, const V& v) {
      if (k >= entries()) return;
      ++seen[k];
      EXPECT_EQ(v, value_for<V>(k));
    });
    for (std::uint64_t k = 0; k < entries(); ++k)
      ASSERT_TRUE(is_as_promised<TypeParam>(seen[k])) << k << ": " << +seen[k];
  }
  over = true;
  writer.join();
}

/// The same when the function itself lets the table grow and shrink, ten times each, or three times. A short run under ThreadSanitizer
/// makes it less large: that shows as many races, and what a scan repeats is shown by the others.
TYPED_TEST(shared_scans, miss_and_double_nothing_when_the_function_resizes_the_table) {
  using V = typename TypeParam::mapped_type;
  TypeParam m;
  for (std::uint64_t k = 0; k < entries(); ++k) ASSERT_TRUE(m.insert(k, value_for<V>(k)));
  const std::size_t before = m.capacity();
  const std::uint64_t much = entries() * (sparse() && cubby::detail::cpu::thread_sanitizer ? 5 : 20);
  ASSERT_TRUE(m.reserve(much));
  ASSERT_GT(m.capacity(), before) << "the calls below would change nothing";
  ASSERT_TRUE(m.shrink_to_fit());
  std::atomic<std::uint64_t> shown{0};
  std::vector<std::atomic<std::uint8_t>> seen(entries());
  const std::uint64_t between = entries() / (sparse() ? 7 : 20);
  m.visit_all(threads(3), [&](const std::uint64_t& k, const V& v) {
    ++seen[k];
    EXPECT_EQ(v, value_for<V>(k));
    const std::uint64_t number = shown++;
    if (number % between != 0 || number >= entries()) return; // a scan that begins again shows more
    if (number / between % 2 == 0) {
      EXPECT_TRUE(m.reserve(much));
    } else {
      EXPECT_TRUE(m.shrink_to_fit());
    }
  });
  for (std::uint64_t k = 0; k < entries(); ++k)
    ASSERT_TRUE(is_as_promised<TypeParam>(seen[k])) << k << ": " << +seen[k];
}

TYPED_TEST(shared_scans, end_with_the_first_exception) {
  using V = typename TypeParam::mapped_type;
  TypeParam m;
  for (std::uint64_t k = 0; k < entries(); ++k) ASSERT_TRUE(m.insert(k, value_for<V>(k)));
  std::atomic<std::uint64_t> shown{0};
  const auto throws = [&](const std::uint64_t&, const V&) {
    if (++shown == 10) throw std::runtime_error("the tenth");
  };
  EXPECT_THROW(m.visit_all(threads(4), throws), std::runtime_error);
  EXPECT_LT(shown, entries()) << "it went on to the end";
  EXPECT_TRUE(m.insert(entries(), value_for<V>(entries()))) << "the table is as it was";
}

/// The functions of a scan may use the table, also for what erases and inserts entries.
TYPED_TEST(shared_scans, call_functions_that_use_the_table) {
  using V = typename TypeParam::mapped_type;
  TypeParam m;
  for (std::uint64_t k = 0; k < entries(); ++k) ASSERT_TRUE(m.insert(k, value_for<V>(k)));
  m.visit_all(threads(2), [&](const std::uint64_t& k, const V&) {
    if (k >= entries()) return;
    EXPECT_TRUE(m.erase(k));
    EXPECT_TRUE(m.insert(k + entries(), value_for<V>(k)));
  });
  EXPECT_EQ(m.size(), entries());
}

/// Few entries, so that a scan that shows each some entries later has most of them yet to show when the first call moves them all.
TYPED_TEST(shared_scans, show_nothing_again_that_the_function_has_erased) {
  using V = typename TypeParam::mapped_type;
  for (const bool by_threads : {false, true}) {
    TypeParam m;
    for (std::uint64_t k = 0; k < 24; ++k) ASSERT_TRUE(m.insert(k, value_for<V>(k)));
    bool has_grown = false;
    const auto grow_and_erase = [&](const std::uint64_t& k, const V&) {
      has_grown = has_grown || m.reserve(m.capacity() * 4);
      EXPECT_TRUE(has_grown);
      EXPECT_TRUE(m.erase(k)) << k;
    };
    if (by_threads) m.visit_all(threads(1), grow_and_erase);
    else m.visit_all(grow_and_erase);
    EXPECT_TRUE(m.empty());
  }
}

/// Nor when it lets the table shrink and grow: with these seeds a back bucket of `iceberg` hands an entry that was met to a later one.
TYPED_TEST(shared_scans, show_nothing_again_that_has_been_erased_between_resizes) {
  using V = typename TypeParam::mapped_type;
  for (const std::uint64_t seed : {133u, 433u, 939u, 984u}) {
    std::mt19937_64 random(seed);
    const std::uint64_t count = 60 + random() % 1500;
    TypeParam m({.seed = seed});
    for (std::uint64_t k = 0; k < count; ++k) ASSERT_TRUE(m.insert(k, value_for<V>(k)));
    std::vector<bool> gone(count);
    m.visit_all([&](const std::uint64_t& k, const V&) {
      if (k >= count) return;
      EXPECT_FALSE(gone[k]) << k << ", seed " << seed;
      if (random() % 3 == 0) {
        const bool grows = random() % 2 == 0;
        EXPECT_TRUE(grows ? m.reserve(random() % 3 == 0 ? 0 : count * (1 + random() % 6)) : m.shrink_to_fit());
      }
      for (int i = 0; i < 4; ++i) {
        const std::uint64_t other = 2'000'000 + random() % 500;
        if (random() % 2 == 0) (void)m.erase(other);
        else (void)m.insert(other, value_for<V>(other));
      }
      if (m.erase(k)) gone[k] = true;
    });
  }
}

/// A handle's scan uses the handle in the calling thread, and records of their own in the others.
TYPED_TEST(shared_scans, begin_at_a_handle) {
  using V = typename TypeParam::mapped_type;
  TypeParam m;
  auto h = m.handle();
  for (std::uint64_t k = 0; k < entries(); ++k) ASSERT_TRUE(h.insert(k, value_for<V>(k)));
  std::atomic<std::uint64_t> shown{0};
  h.visit_all(threads(3), [&](const std::uint64_t&, const V&) { ++shown; });
  EXPECT_EQ(shown, entries());
}

TYPED_TEST(shared_scans, of_several_threads_end_when_the_function_says_so) {
  using V = typename TypeParam::mapped_type;
  TypeParam m;
  for (std::uint64_t k = 0; k < entries(); ++k) ASSERT_TRUE(m.insert(k, value_for<V>(k)));
  std::atomic<std::uint64_t> shown{0};
  EXPECT_FALSE(m.visit_while(threads(3), [&](const std::uint64_t&, const V&) { return ++shown < 10; }));
  EXPECT_LT(shown, 20u) << "it went on";
  EXPECT_TRUE(m.visit_while(threads(3), [](const std::uint64_t&, const V&) { return true; }));
}

/// A pool whose threads run what they are given.
class pool {
public:
  template <class Task> void execute(Task task) { threads_.emplace_back(task); }
  [[nodiscard]] std::size_t tasks() const { return threads_.size(); }

private:
  std::vector<std::jthread> threads_;
};

TYPED_TEST(shared_scans, show_each_entry_once_in_the_threads_of_a_pool) {
  using V = typename TypeParam::mapped_type;
  TypeParam m;
  for (std::uint64_t k = 0; k < entries(); ++k) ASSERT_TRUE(m.insert(k, value_for<V>(k)));
  pool workers;
  std::vector<std::atomic<std::uint8_t>> seen(entries());
  m.visit_all(cubby::on(workers, 4), [&](const std::uint64_t& k, const V&) { ++seen[k]; });
  for (std::uint64_t k = 0; k < entries(); ++k) ASSERT_EQ(seen[k], 1) << k;
  EXPECT_EQ(workers.tasks(), 3u) << "the caller is the fourth";
  EXPECT_EQ(m.erase_if(cubby::on(workers, 2), [](const std::uint64_t& k, const V&) { return k % 2 == 0; }),
            entries() / 2);
  EXPECT_EQ(m.erase_if(std::execution::par, [](const std::uint64_t& k, const V&) { return k % 4 == 1; }),
            entries() / 4);
  EXPECT_TRUE(m.visit_while(std::execution::seq, [](const std::uint64_t& k, const V&) { return k % 4 == 3; }));
}

/// Tasks that begin at once, in the caller, and tasks that begin when the call has ended.
TYPED_TEST(shared_scans, wait_for_no_task_that_has_not_begun) {
  using V = typename TypeParam::mapped_type;
  TypeParam m;
  for (std::uint64_t k = 0; k < entries(); ++k) ASSERT_TRUE(m.insert(k, value_for<V>(k)));
  std::uint64_t shown = 0;
  const auto count = [&](const std::uint64_t&, const V&) { ++shown; };
  m.visit_all(cubby::on([](auto task) { task(); }, 3), count);
  EXPECT_EQ(shown, entries());
  std::vector<std::function<void()>> late;
  m.visit_all(cubby::on([&](auto task) { late.emplace_back(task); }, 3), count);
  EXPECT_EQ(shown, 2 * entries());
  ASSERT_EQ(late.size(), 2u);
  for (const auto& task : late) task();
  EXPECT_EQ(shown, 2 * entries()) << "a late task has shown entries";
}

/// A pool that lets a thread which waits run the tasks that wait, as that of oneTBB.
TYPED_TEST(shared_scans, end_when_the_function_runs_tasks_of_the_pool) {
  using V = typename TypeParam::mapped_type;
  TypeParam m;
  for (std::uint64_t k = 0; k < entries(); ++k) ASSERT_TRUE(m.insert(k, value_for<V>(k)));
  std::vector<std::function<void()>> waiting;
  std::uint64_t shown = 0;
  m.visit_all(cubby::on([&](auto task) { waiting.emplace_back(task); }, 3), [&](const std::uint64_t&, const V&) {
    ++shown;
    if (waiting.empty()) return;
    const auto task = waiting.back();
    waiting.pop_back();
    task();
  });
  EXPECT_EQ(shown, entries());
  EXPECT_TRUE(waiting.empty());
}

TYPED_TEST(shared_scans, pass_on_what_an_executor_throws) {
  using V = typename TypeParam::mapped_type;
  TypeParam m;
  ASSERT_TRUE(m.insert(1, value_for<V>(1)));
  const auto refuse = [](auto) { throw std::runtime_error("the pool has been stopped"); };
  EXPECT_THROW(m.visit_all(cubby::on(refuse, 3), [](const std::uint64_t&, const V&) {}), std::runtime_error);
  m.visit_all(cubby::on(refuse, 1), [](const std::uint64_t&, const V&) {}); // needs nobody else
  bool is_second = false;
  const auto refuse_the_second = [&](auto task) {
    if (is_second) throw std::runtime_error("the pool has been stopped");
    is_second = true;
    task(); // shows all that there is
  };
  EXPECT_THROW(m.visit_all(cubby::on(refuse_the_second, 3), [](const std::uint64_t&, const V&) {}), std::runtime_error);
  if constexpr (TypeParam::capabilities.snapshot) {
    is_second = false;
    EXPECT_THROW((void)m.snapshot(cubby::on(refuse_the_second, 3)), std::runtime_error);
  }
}

TYPED_TEST(shared_scans, copy_a_snapshot_in_several_threads) {
  if constexpr (!TypeParam::capabilities.snapshot) {
    GTEST_SKIP() << "this engine has no snapshot";
  } else {
    using V = typename TypeParam::mapped_type;
    for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{3}, entries()}) {
      TypeParam m;
      for (std::uint64_t k = 0; k < count; ++k) ASSERT_TRUE(m.insert(k, value_for<V>(k)));
      std::map<std::uint64_t, V> seen;
      for (const auto& [k, v] : m.snapshot(threads(3))) EXPECT_TRUE(seen.emplace(k, v).second);
      ASSERT_EQ(seen.size(), count);
      for (const auto& [k, v] : seen) ASSERT_EQ(v, value_for<V>(k));
    }
  }
}

/// A value whose copies throw when they are told to. Counts those that live.
struct brittle {
  explicit brittle(std::uint64_t number) : n(number) { ++alive; }
  brittle(const brittle& other) : n(other.n) {
    if (n == fatal) throw std::runtime_error("a copy");
    ++alive;
  }
  ~brittle() { --alive; }
  std::uint64_t n;
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  static inline std::atomic<std::uint64_t> fatal{none};
  static inline std::atomic<std::int64_t> alive{0};
};
TEST(snapshots_by_threads, leave_nothing_when_a_copy_throws) {
  cubby::map<std::uint64_t, brittle> m;
  for (std::uint64_t k = 0; k < 5000; ++k) ASSERT_TRUE(m.try_emplace(k, k));
  brittle::fatal = 2500;
  EXPECT_THROW((void)m.snapshot(threads(3)), std::runtime_error);
  EXPECT_THROW((void)m.snapshot(), std::runtime_error);
  EXPECT_EQ(brittle::alive, 5000);
  brittle::fatal = brittle::none;
  const auto all = m.snapshot(threads(3));
  EXPECT_EQ(all.size(), 5000u);
  EXPECT_EQ(brittle::alive, 10'000);
}

TEST(shared_scans_in_place, erase_and_end) {
  cubby::in_place_map<std::uint64_t, std::string> m;
  for (std::uint64_t k = 0; k < entries(); ++k) ASSERT_TRUE(m.insert(k, "text"));
  EXPECT_EQ(m.erase_if(threads(3), [](const std::uint64_t& k, std::string&) { return k % 4 == 0; }), entries() / 4);
  EXPECT_EQ(m.size(), entries() - entries() / 4);
  m.modify_all(std::execution::par, [](const std::uint64_t&, std::string& v) { v += "s"; });
  EXPECT_TRUE(m.visit_while(threads(2), [](const std::uint64_t&, const std::string& v) { return v == "texts"; }));
  EXPECT_FALSE(m.visit_while(threads(2), [](const std::uint64_t& k, const std::string&) { return k < 10; }));
}

TEST(shared_scans_of_sets, show_each_key) {
  cubby::set<std::uint64_t> s;
  for (std::uint64_t k = 0; k < entries(); ++k) ASSERT_TRUE(s.insert(k));
  std::atomic<std::uint64_t> sum{0};
  s.visit_all(threads(2), [&](const std::uint64_t& k) { sum += k; });
  EXPECT_EQ(sum, entries() * (entries() - 1) / 2);
  EXPECT_EQ(s.erase_if(threads(2), [](const std::uint64_t& k) { return k < 10; }), 10u);
}

} // namespace
} // namespace cubby_test
