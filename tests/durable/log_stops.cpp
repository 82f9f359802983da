// SPDX-License-Identifier: Apache-2.0
// Guarantee H where a sync writes a log: a thread that changes an entry stops before each of its steps, while others look, change and sync.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "durable/synced_disk.hpp"

namespace cubby_test {
namespace {

using table = word_table;

struct stop {
  int before = 0; // steps until it stops
  std::atomic<bool> stopped{false};
  std::atomic<bool> go{false};
};
stop*& stop_of_thread() {
  static thread_local stop* one = nullptr;
  return one;
}
void stop_here(cubby::detail::sync::step, const void*) {
  stop* const s = stop_of_thread();
  if (s == nullptr || s->before-- != 0) return;
  s->stopped = true;
  while (!s->go) std::this_thread::yield();
}

class stopped_change : public watched_words {
protected:
  void SetUp() override {
    watched_words::SetUp();
    cubby::detail::sync::install_hook(stop_here);
  }
  void TearDown() override {
    cubby::detail::sync::install_hook(nullptr);
    watched_words::TearDown();
  }
  static constexpr std::uint64_t key = 42;
  static constexpr auto briefly = std::chrono::milliseconds(20);

  /// Runs `change` once for each of its steps: it stops there, `beside` runs in a thread of its own, and then it goes on.
  template <class Before, class Change, class Beside>
  void at_each_step(Before before, Change change, Beside beside) {
    bool more = true;
    for (int step = 0; more && !HasFailure(); ++step) {
      before();
      stop s;
      s.before = step;
      std::thread writer([&] {
        change(); // the thread has its record before the steps count
        changed_ = false;
        stop_of_thread() = &s;
        change();
        stop_of_thread() = nullptr;
        changed_ = true;
        s.stopped = true;
      });
      while (!s.stopped) std::this_thread::yield();
      more = !changed_;
      std::thread other([&] { beside(); });
      std::this_thread::sleep_for(briefly); // it may wait for the writer
      s.go = true;
      writer.join();
      other.join();
    }
  }
  std::atomic<bool> changed_{false};
};

TEST_F(stopped_change, is_in_the_log_or_in_the_pages) {
  auto t = must_open<table>(disk_.path, with_log(std::size_t{256} << 10));
  std::uint64_t value = 0;
  for (const bool pages : {false, true}) {
    at_each_step(
        [&] {
          if (value == 0) return;
          EXPECT_TRUE(t->sync());
          EXPECT_EQ(left_of(key), value);
        },
        [&] { t->insert_or_assign(key, ++value); }, [&] { EXPECT_TRUE(pages ? checkpoint(*t) : t->sync()); });
  }
}
TEST_F(stopped_change, that_is_seen_is_covered) {
  auto t = must_open<table>(disk_.path, with_log(std::size_t{256} << 10));
  std::uint64_t value = 0;
  bool erases = false;
  const auto look = [&] {
    const auto seen = t->find(key);
    EXPECT_TRUE(t->sync());
    if (changed_) return;
    const auto left = left_of(key);
    if (seen && !erases) {
      EXPECT_GE(left.value_or(0), *seen);
    }
    if (!seen && erases) {
      EXPECT_FALSE(left.has_value());
    }
  };
  at_each_step([] {}, [&] { t->insert_or_assign(key, ++value); }, look);
  erases = true;
  at_each_step(
      [&] {
        t->insert_or_assign(key, 1);
        EXPECT_TRUE(t->sync());
      },
      [&] { t->erase(key); }, look);
}
TEST_F(stopped_change, stands_in_the_log_in_its_order) {
  auto t = must_open<table>(disk_.path, with_log(std::size_t{256} << 10));
  std::uint64_t n = 0;
  at_each_step(
      [&] {
        EXPECT_TRUE(t->sync());
        if (n != 0) {
          EXPECT_EQ(left_of(key), t->find(key));
        }
      },
      [&] { t->insert_or_assign(key, ++n); }, [&] { t->insert_or_assign(key, 1000); });
}

} // namespace
} // namespace cubby_test
