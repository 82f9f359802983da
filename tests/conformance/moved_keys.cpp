// SPDX-License-Identifier: Apache-2.0
// Keys that are handed over (`K&&`): moved into their records without a copy, left alone if they are in the table, and compared as
// before after the move. Keys that only move are inserted, found and erased.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engines.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

/// Counts its copies. One that was moved from is equal to the key 0, so a table that still looks at it gives itself away.
class counted_key {
public:
  counted_key(std::uint64_t number = 0) : number_(number) {}
  counted_key(const counted_key& other) : number_(other.number_) { copies().fetch_add(1); }
  counted_key(counted_key&& other) noexcept : number_(std::exchange(other.number_, 0)) {}
  counted_key& operator=(const counted_key&) = delete;
  ~counted_key() {}
  [[nodiscard]] std::uint64_t number() const { return number_; }
  friend bool operator==(const counted_key& a, const counted_key& b) { return a.number_ == b.number_; }
  static std::atomic<std::uint64_t>& copies() {
    static std::atomic<std::uint64_t> count{0};
    return count;
  }

private:
  std::uint64_t number_;
};
/// All keys in one bin, with one hash: each insert compares keys.
struct one_bin {
  std::uint64_t operator()(const counted_key&) const noexcept { return 12345; }
};
struct spread {
  std::uint64_t operator()(const counted_key& k) const noexcept { return k.number(); }
};
constexpr std::uint64_t few = 8; // engines with bounded bins take so many of one hash

template <class Engine> class moved_keys : public ::testing::Test {};
TYPED_TEST_SUITE(moved_keys, every_engine);

TYPED_TEST(moved_keys, are_not_copied) {
  cubby::map<counted_key, int, TypeParam, spread> m(tiny_options());
  cubby::map<cubby::in_namespace<counted_key>, int, TypeParam, spread> named(tiny_options());
  cubby::set<counted_key, TypeParam, spread> s(tiny_options());
  const auto before = counted_key::copies().load();
  for (std::uint64_t n = 0; n < 300; n += 6) {
    ASSERT_TRUE(m.insert(counted_key(n), 1));
    ASSERT_TRUE(m.try_emplace(counted_key(n + 1), 1));
    ASSERT_TRUE(m.insert_or_assign(counted_key(n + 2), 1));
    ASSERT_EQ(m.try_insert(counted_key(n + 3), 1), cubby::outcome::inserted);
    ASSERT_TRUE(m.insert_or_visit(counted_key(n + 4), 1, [](const int&) {}));
    ASSERT_EQ(m.handle().find_or_emplace(counted_key(n + 5), [] { return 1; }), 1);
    ASSERT_TRUE(m.try_emplace_or_visit(counted_key(n + 1000), 1, [](const int&) {}));
    ASSERT_TRUE(s.insert(counted_key(n)));
    ASSERT_EQ(s.try_insert(counted_key(n + 1)), cubby::outcome::inserted);
    ASSERT_TRUE(named.insert(cubby::in_namespace<counted_key>{3, counted_key(n)}, 1));
  }
  EXPECT_EQ(counted_key::copies().load(), before);
  for (std::uint64_t n = 0; n < 300; ++n) ASSERT_TRUE(m.contains(counted_key(n))) << n;
  const counted_key kept(5000);
  EXPECT_TRUE(m.insert(kept, 1));
  EXPECT_EQ(counted_key::copies().load(), before + 1) << "a key that is not handed over is copied once";
}

TYPED_TEST(moved_keys, that_are_in_the_table_stay_with_the_caller) {
  cubby::map<counted_key, int, TypeParam, spread> m(tiny_options());
  ASSERT_TRUE(m.insert(counted_key(7), 1));
  counted_key mine(7);
  EXPECT_FALSE(m.insert(std::move(mine), 2));
  EXPECT_FALSE(m.try_emplace(std::move(mine), 2));
  EXPECT_FALSE(m.insert_or_assign(std::move(mine), 3));
  EXPECT_FALSE(m.insert_or_visit(std::move(mine), 4, [](const int& v) { EXPECT_EQ(v, 3); }));
  EXPECT_EQ(m.find_or_emplace(std::move(mine), [] { return 5; }), 3);
  EXPECT_EQ(mine.number(), 7u);
}

/// After the move the caller's key is equal to 0, which is in the table under the same hash.
TYPED_TEST(moved_keys, are_compared_where_they_have_been_moved_to) {
  cubby::map<counted_key, std::uint64_t, TypeParam, one_bin> m(tiny_options());
  cubby::set<counted_key, TypeParam, one_bin> s(tiny_options());
  for (std::uint64_t n = 0; n < few; ++n) {
    ASSERT_EQ(s.insert(counted_key(n)), true) << n;
    if (n % 4 == 0) {
      ASSERT_TRUE(m.insert(counted_key(n), n)) << n;
    }
    if (n % 4 == 1) {
      ASSERT_TRUE(m.insert_or_assign(counted_key(n), n)) << n;
    }
    if (n % 4 == 2) {
      ASSERT_TRUE(m.insert_or_visit(counted_key(n), n, [](const std::uint64_t&) {})) << n;
    }
    if (n % 4 == 3) {
      ASSERT_EQ(m.find_or_emplace(counted_key(n), [&] { return n; }), n);
    }
  }
  for (std::uint64_t n = 0; n < few; ++n) {
    ASSERT_EQ(m.find(counted_key(n)), n);
    ASSERT_TRUE(s.contains(counted_key(n)));
  }
  EXPECT_EQ(m.size(), few);
}

TYPED_TEST(moved_keys, may_only_move) {
  cubby::map<std::unique_ptr<int>, int, TypeParam> m(tiny_options());
  std::vector<int*> all;
  for (int n = 0; n < 200; ++n) {
    auto key = std::make_unique<int>(n);
    all.push_back(key.get());
    ASSERT_TRUE(m.insert(std::move(key), n));
  }
  std::size_t met = 0;
  m.visit_all([&](const std::unique_ptr<int>& k, const int& v) { met += *k == v ? 1 : 0; });
  EXPECT_EQ(met, 200u);
  for (int n = 0; n < 200; ++n) {
    std::unique_ptr<int> view(all[static_cast<std::size_t>(n)]);
    EXPECT_EQ(m.find(view), n);
    EXPECT_TRUE(m.contains(view));
    (void)view.release();
  }
  EXPECT_EQ(m.erase_if([](const std::unique_ptr<int>& k, const int&) { return *k < 150; }), 150u);
  EXPECT_EQ(m.size(), 50u);
}

template <class Engine> class moved_keys_by_threads : public ::testing::Test {};
TYPED_TEST_SUITE(moved_keys_by_threads, shared_engines);

TYPED_TEST(moved_keys_by_threads, are_inserted_once) {
  constexpr std::uint64_t keys = 400;
  cubby::map<counted_key, std::size_t, TypeParam, spread> m(tiny_options());
  std::vector<std::atomic<int>> inserted(keys);
  const auto before = counted_key::copies().load();
  run_threads(4, [&](std::size_t t) {
    for (std::uint64_t n = 0; n < keys; ++n) {
      counted_key mine(n);
      const bool won =
          n % 2 == 0 ? m.insert(std::move(mine), t) : m.insert_or_visit(std::move(mine), t, [](const std::size_t&) {});
      if (won) inserted[n].fetch_add(1);
    }
  });
  for (std::uint64_t n = 0; n < keys; ++n) ASSERT_EQ(inserted[n].load(), 1) << n;
  EXPECT_EQ(m.size(), keys);
  EXPECT_EQ(counted_key::copies().load(), before);
}

TYPED_TEST(moved_keys_by_threads, are_assigned_whole) {
  constexpr std::uint64_t keys = 100;
  cubby::map<counted_key, std::uint64_t, TypeParam, spread> m(tiny_options());
  run_threads(4, [&](std::size_t) {
    for (std::uint64_t n = 0; n < 4 * keys; ++n) m.insert_or_assign(counted_key(n % keys), n % keys);
  });
  EXPECT_EQ(m.size(), keys);
  m.visit_all([](const counted_key& k, const std::uint64_t& v) { EXPECT_EQ(k.number(), v); });
}

} // namespace
} // namespace cubby_test
