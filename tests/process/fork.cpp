// SPDX-License-Identifier: Apache-2.0
// docs/processes.md: what a child of `fork` may do with the tables of its parent, while other threads of the parent were inside.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engines.hpp"
#include "process/child.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

constexpr std::uint64_t keys = 8;
/// Many more than what waits at any time.
std::uint64_t fork_assigns() { return 300'000 / sparse_stride(10); }
/// Two lots of a stripe, and the values of the table: what waits at any time.
constexpr long most_living = 4096;

/// A thread that stays inside a table until it is told to go.
class visitor {
public:
  template <class F> explicit visitor(F visit) : thread_([this, visit] { visit([this] { stay(); }); }) {
    std::unique_lock hold(mutex_);
    changed_.wait(hold, [this] { return inside_; });
  }
  ~visitor() {
    {
      const std::lock_guard hold(mutex_);
      leaves_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  visitor(const visitor&) = delete;
  visitor& operator=(const visitor&) = delete;

private:
  void stay() {
    std::unique_lock hold(mutex_);
    inside_ = true;
    changed_.notify_all();
    changed_.wait(hold, [this] { return leaves_; });
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool inside_ = false;
  bool leaves_ = false;
  std::thread thread_;
};

class forked_engine : public testing::Test {
public:
  void SetUp() override {
    if (cubby::detail::cpu::thread_sanitizer)
      GTEST_SKIP() << "ThreadSanitizer allows no threads in the child of a fork";
  }
};
/// Over the engines with records: what a child has freed is seen by the values in them.
template <class Engine> class forked : public forked_engine {
public:
  using map_type = cubby::map<std::uint64_t, counted, Engine>;
  forked() {
    for (std::uint64_t k = 0; k < keys; ++k) map_.insert(k, counted(k));
  }
  void assign_all() {
    for (std::uint64_t n = 0; n < fork_assigns(); ++n) map_.assign(n % keys, counted(n));
  }
  map_type map_{cubby::options{.capacity = 16}};
};
TYPED_TEST_SUITE(forked, shared_engines);

TYPED_TEST(forked, a_child_frees_although_a_thread_of_the_parent_was_inside) {
  const visitor other([this](auto stay) { this->map_.visit(0, [&](const counted&) { stay(); }); });
  EXPECT_EQ(status_of_child([this](result_of_child& told) {
              this->assign_all();
              told.expect(counted::living < most_living, "records are freed");
              told.expect(this->map_.find(1).has_value(), "and entries found");
            }),
            0);
}

TYPED_TEST(forked, a_child_frees_although_a_handle_of_another_thread_was_inside) {
  const visitor other([this](auto stay) {
    auto h = this->map_.handle();
    h.visit(0, [&](const counted&) { stay(); });
  });
  EXPECT_EQ(status_of_child([this](result_of_child& told) {
              this->assign_all();
              told.expect(counted::living < most_living, "records are freed");
            }),
            0);
}

TYPED_TEST(forked, pins_of_the_thread_that_forks_stay) {
  auto mine = this->map_.handle();
  const counted* const held = mine.find_ref(3);
  ASSERT_NE(held, nullptr);
  EXPECT_EQ(status_of_child([&](result_of_child& told) {
              this->assign_all();
              told.expect(counted::living >= static_cast<long>(fork_assigns()),
                          "nothing is freed under the handle's pin");
              told.expect(held->words[0] == 3 && held->words[2] == 3, "which keeps its reference good");
              mine.unpin();
              this->assign_all();
              told.expect(counted::living < static_cast<long>(fork_assigns()) + most_living, "and again when it ends");
            }),
            0);
  int inside = -1;
  this->map_.visit(2, [&](const counted& v) {
    inside = status_of_child([&](result_of_child& told) {
      this->assign_all();
      told.expect(v.words[0] == 2 && v.words[2] == 2, "a visit goes on in the child");
    });
  });
  EXPECT_EQ(inside, 0);
}

/// The child has lost the thread of the table; both tables get one of the child's. At the fork that thread is asleep: what it held
/// otherwise would stay held in the child.
TYPED_TEST(forked, a_child_moves_a_table_whose_thread_it_has_lost) {
  using table = typename TestFixture::map_type;
  table from(cubby::options{.growth = cubby::growth_policy::background});
  for (std::uint64_t k = 0; k < 1000; ++k) ASSERT_TRUE(from.insert(k, counted(k)));
  ASSERT_TRUE(from.reserve(0)); // ends its work
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(status_of_child([&](result_of_child& told) {
              table to(std::move(from));
              told.expect(from.ok() && from.empty() && to.size() == 1000, "all entries have moved");
              swap(from, to);
              for (std::uint64_t k = 1000; k < 5000; ++k) {
                from.insert(k, counted(k));
                to.insert(k, counted(k));
              }
              told.expect(from.size() == 5000 && to.size() == 4000, "and both tables grow");
            }),
            0);
}

/// The handle of another thread can be destroyed, and its thread record serves again.
TYPED_TEST(forked, handles_of_other_threads_can_be_destroyed) {
  using handle_type = typename TestFixture::map_type::handle_type;
  std::vector<std::optional<handle_type>> all(8);
  for (auto& one : all) one.emplace(this->map_.handle());
  const visitor other([&](auto stay) {
    for (auto& one : all) (void)one->find_ref(1);
    all[0]->visit(2, [&](const counted&) { stay(); });
    for (auto& one : all) one->unpin();
  });
  EXPECT_EQ(status_of_child([&](result_of_child& told) {
              all.clear();
              auto h = this->map_.handle();
              const counted* const held = h.find_ref(5);
              this->assign_all();
              told.expect(held->words[0] == 5 && counted::living >= static_cast<long>(fork_assigns()),
                          "its next owner is inside");
              h.unpin();
              this->assign_all();
              this->assign_all();
              told.expect(counted::living < static_cast<long>(fork_assigns()), "and outside");
            }),
            0);
}

TYPED_TEST(forked, children_of_children_and_their_threads_free_too) {
  const visitor other([this](auto stay) { this->map_.visit(0, [&](const counted&) { stay(); }); });
  EXPECT_EQ(status_of_child([this](result_of_child& told) {
              const visitor another([this](auto stay) { this->map_.visit(1, [&](const counted&) { stay(); }); });
              told.expect(status_of_child([this](result_of_child& of_grandchild) {
                            std::thread([this] { this->assign_all(); }).join();
                            of_grandchild.expect(counted::living < most_living, "records are freed");
                          }) == 0,
                          "the grandchild");
            }),
            0);
}

template <class Engine> class forked_background : public forked_engine {};
TYPED_TEST_SUITE(forked_background, shared_plain_engines);

/// The thread of a `background` table is not there: writes do its work, and the table's end waits for no thread.
TYPED_TEST(forked_background, a_table_without_its_thread_grows_and_ends) {
  auto grown = std::make_unique<cubby::map<std::uint64_t, std::uint64_t, TypeParam>>(
      cubby::options{.capacity = 16, .growth = cubby::growth_policy::background});
  for (std::uint64_t k = 0; k < 100; ++k) grown->insert(k, k);
  // What the thread holds at the fork stays held: it has to sleep by then.
  grown->reserve(0);
  while (grown->stats().migrating) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(status_of_child([&](result_of_child& told) {
              for (std::uint64_t k = 100; k < 20'000; ++k) grown->insert(k, k);
              std::size_t found = 0;
              for (std::uint64_t k = 0; k < 20'000; ++k) found += grown->contains(k) ? 1 : 0;
              told.expect(found == 20'000, "every key is there");
              told.expect(grown->stats().growths > 3, "it has grown");
              grown.reset();
            }),
            0);
  EXPECT_TRUE(grown->contains(1));
}

/// At some of these forks a thread of the parent holds a lock of the retired records.
TYPED_TEST(forked, a_child_ends_tables_whose_values_others_were_replacing) {
  if (!TestFixture::map_type::capabilities.lock_free_insert) GTEST_SKIP() << "a writer of this engine holds a lock";
  auto table = std::make_unique<typename TestFixture::map_type>(cubby::options{.capacity = 16});
  for (std::uint64_t k = 0; k < keys; ++k) table->insert(k, counted(k));
  std::atomic<bool> stops{false};
  std::thread writer([&] {
    for (std::uint64_t n = 0; !stops; ++n) table->assign(n % keys, counted(n));
  });
  for (std::uint64_t n = 0; n < 60; n += sparse_stride(3)) {
    std::this_thread::sleep_for(std::chrono::microseconds(200 + n * 37 % 500));
    EXPECT_EQ(status_of_child([&](result_of_child&) { table.reset(); }), 0);
    if (testing::Test::HasFailure()) break;
  }
  stops = true;
  writer.join();
}

/// Frees memory, but stops in it when told.
struct stops_in_free {
  static inline std::atomic<long> living{0};
  static inline std::atomic<void (*)()> stop{nullptr};
};
template <class T> struct stopping_allocator {
  using value_type = T;
  stopping_allocator() = default;
  template <class U> explicit stopping_allocator(const stopping_allocator<U>&) {}
  T* allocate(std::size_t n) {
    ++stops_in_free::living;
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* at, std::size_t n) {
    --stops_in_free::living;
    if (const auto stop = stops_in_free::stop.exchange(nullptr)) stop();
    std::allocator<T>().deallocate(at, n);
  }
  bool operator==(const stopping_allocator&) const = default;
};

/// Records of texts are freed one by one, each in a call that retires another one.
TYPED_TEST(forked, a_child_frees_by_the_record_of_a_thread_that_was_freeing) {
  using text_map = cubby::map<std::string, counted, TypeParam, cubby::hash<std::string>, stopping_allocator<std::byte>>;
  static std::atomic<bool> inside{false};
  static std::atomic<bool> leaves{false};
  inside = leaves = false;
  text_map texts(cubby::options{.capacity = 16});
  const std::string key(40, 'k');
  texts.insert(key, counted(0));
  const auto assign_often = [&](auto& table) {
    for (std::uint64_t n = 0; n < 20'000; ++n) table.assign(key, counted(n));
  };
  std::thread other([&] {
    assign_often(texts);
    stops_in_free::stop = [] {
      inside = true;
      while (!leaves) std::this_thread::yield();
    };
    assign_often(texts);
  });
  while (!inside) std::this_thread::yield();
  EXPECT_EQ(status_of_child([&](result_of_child& told) {
              const long before = stops_in_free::living;
              auto h = texts.handle(); // takes the record of the thread that is not there
              assign_often(h);
              told.expect(stops_in_free::living < before + most_living, "records are freed");
            }),
            0);
  leaves = true;
  other.join();
}

/// The guard of another thread has ended, and the record of its handle can be given back.
TYPED_TEST(forked, handles_that_other_threads_guard_can_be_destroyed) {
  using handle_type = typename TestFixture::map_type::handle_type;
  std::optional<handle_type> one(this->map_.handle());
  const visitor other([&](auto stay) {
    const auto guarded = one->guard();
    stay();
  });
  EXPECT_EQ(status_of_child([&](result_of_child& told) {
              const auto* const its = one->own_thread_record();
              one.reset();
              told.expect(this->map_.handle().own_thread_record() == its, "the next handle takes its record");
              this->assign_all();
              told.expect(counted::living < most_living, "records are freed");
            }),
            0);
}

} // namespace
} // namespace cubby_test
