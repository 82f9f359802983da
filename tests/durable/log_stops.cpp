// SPDX-License-Identifier: Apache-2.0
// Guarantee H where a sync writes a log: a thread that changes an entry stops before each of its steps, while others look, change and sync.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

#include "durable/synced_disk.hpp"
#include "support/hooks.hpp"

namespace cubby_test {
namespace {

using table = word_table;

/// Its thread stops before one of its steps, or of its read-modify-writes alone.
class stop final : public watcher {
public:
  stop(int before, bool all, std::atomic<bool>& stopped, const std::atomic<bool>& go)
      : before_(before), all_(all), stopped_(stopped), go_(go) {}
  void before(step kind, const void*) override {
    if ((!all_ && kind != step::rmw8) || before_-- != 0) return;
    stopped_ = true;
    while (!go_) std::this_thread::yield();
  }

private:
  int before_; // steps until it stops
  bool all_;
  std::atomic<bool>& stopped_;
  const std::atomic<bool>& go_;
};

class stopped_change : public watched_words {
protected:
  static constexpr std::uint64_t key = 42;
  static constexpr auto briefly = std::chrono::milliseconds(20);

  /// Runs `change` once for each of its steps: it stops there, `beside` runs in a thread of its own, and then it goes on.
  template <class Before, class Change, class Beside>
  void at_each_step(Before before, Change change, Beside beside) {
    bool more = true;
    for (int steps = 0; more && !HasFailure(); ++steps) {
      before();
      std::atomic<bool> stopped{false};
      std::atomic<bool> go{false};
      std::thread writer([&] {
        change(); // the thread has its record before the steps count
        changed_ = false;
        {
          const stop s(steps, at_all_, stopped, go);
          change();
        }
        changed_ = true;
        stopped = true;
      });
      while (!stopped) std::this_thread::yield();
      more = !changed_;
      std::thread other([&] { beside(); });
      std::this_thread::sleep_for(briefly); // it may wait for the writer
      go = true;
      writer.join();
      other.join();
    }
  }
  std::atomic<bool> changed_{false};
  bool at_all_ = true; // steps; else those alone that take locks
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
/// In a full log a change has no entry, so the checkpoint that a sync then is has to wait for it.
TEST_F(stopped_change, is_in_the_pages_where_the_log_is_full) {
  auto t = must_open<table>(disk_.path, with_log(std::size_t{64} << 10));
  std::uint64_t value = 0;
  at_each_step(
      [&] {
        if (value != 0) {
          EXPECT_TRUE(t->sync()); // begins after the change has ended
          EXPECT_EQ(left_of(key), value);
        }
        for (std::uint64_t n = 0; n < 3000; ++n) t->insert_or_assign(1000 + n % 10, n);
      },
      [&] { t->insert_or_assign(key, ++value); }, [&] { EXPECT_TRUE(t->sync()); });
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
/// A checkpoint stops. What changes then is covered, and is the older record of the next one.
TEST_F(stopped_change, beside_a_checkpoint_is_restored) {
  at_all_ = false;
  auto t = must_open<text_table>(disk_.path, with_log(std::size_t{2} << 20));
  std::uint64_t value = 0;
  const auto put = [&] { t->insert_or_assign("key", long_value(++value)); };
  at_each_step(
      [&] {
        if (value != 0) {
          EXPECT_TRUE(t->sync());
          const auto covered = t->find("key");
          put();
          EXPECT_EQ(must_open<text_table>(torn(bytes_in(disk_.path), long_value(value)))->find("key"), covered);
        }
        put();
        EXPECT_TRUE(checkpoint(*t));
      },
      [&] { EXPECT_TRUE(checkpoint(*t)); }, put);
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
