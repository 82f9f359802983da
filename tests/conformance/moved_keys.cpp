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
#include "in_place.hpp"
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
    ASSERT_TRUE(m.insert_or_add(counted_key(n + 2000), 1));
    ASSERT_EQ(m.add_and_fetch(counted_key(n + 2001), 2), 2);
    ASSERT_TRUE(m.insert_or_update(counted_key(n + 2002), [](const int& v) { return v + 1; }, 1));
    ASSERT_EQ(m.compute(counted_key(n + 2003), [](const int*) { return cubby::computed<int>(1); }),
              cubby::change::inserted);
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
  EXPECT_FALSE(m.insert_or_add(std::move(mine), 1));
  EXPECT_EQ(m.add_and_fetch(std::move(mine), 1), 5);
  EXPECT_FALSE(m.insert_or_update(std::move(mine), [](const int& v) { return v + 1; }, 9));
  EXPECT_EQ(m.compute(std::move(mine), [](const int* v) { return cubby::computed<int>(*v + 1); }),
            cubby::change::replaced);
  if constexpr (decltype(m)::capabilities.shadow_insert) {
    EXPECT_FALSE(m.shadow_insert(std::move(mine), 1));
  }
  EXPECT_EQ(m.find(mine), 7);
  EXPECT_EQ(mine.number(), 7u);
}

TYPED_TEST(moved_keys, are_reserved_without_a_copy) {
  using map = cubby::map<counted_key, int, TypeParam, spread>;
  using set = cubby::set<counted_key, TypeParam, spread>;
  if constexpr (!map::capabilities.shadow_insert) {
    GTEST_SKIP() << "this engine has no hidden entries";
  } else {
    map m(tiny_options());
    set s(tiny_options());
    const auto before = counted_key::copies().load();
    for (std::uint64_t n = 1; n < 100; ++n) {
      auto pair = m.shadow_insert(counted_key(n), 1);
      auto key = s.shadow_insert(counted_key(n));
      ASSERT_TRUE(pair && key);
      ASSERT_FALSE(m.insert(counted_key(n), 2)) << "the key is reserved";
      pair.commit();
      if (n % 2 == 0) key.commit();
    }
    EXPECT_EQ(counted_key::copies().load(), before);
    for (std::uint64_t n = 1; n < 100; ++n)
      ASSERT_TRUE(m.contains(counted_key(n)) && s.contains(counted_key(n)) == (n % 2 == 0));
  }
}

/// The pairs of a range are moved where the iterators say so.
TYPED_TEST(moved_keys, of_a_range_are_moved_by_move_iterators) {
  std::vector<std::pair<counted_key, std::unique_ptr<int>>> pairs;
  std::vector<counted_key> keys;
  for (std::uint64_t n = 1; n < 100; ++n) {
    pairs.emplace_back(counted_key(n % 90), std::make_unique<int>(static_cast<int>(n)));
    keys.emplace_back(n);
  }
  const auto before = counted_key::copies().load();
  const auto first = std::make_move_iterator(pairs.begin());
  const auto last = std::make_move_iterator(pairs.end());
  const cubby::map<counted_key, std::unique_ptr<int>, TypeParam, spread> m(first, last);
  const cubby::set<counted_key, TypeParam, spread> s(std::make_move_iterator(keys.begin()),
                                                     std::make_move_iterator(keys.end()));
  EXPECT_EQ(counted_key::copies().load(), before);
  EXPECT_EQ(m.size(), 90u);
  EXPECT_EQ(s.size(), 99u);
  EXPECT_EQ(pairs[0].second, nullptr);
  EXPECT_EQ(pairs[95].first.number(), 6u) << "a key that is in the table stays with the caller";
  EXPECT_NE(pairs[95].second, nullptr);
  m.visit_all([](const counted_key& k, const std::unique_ptr<int>& v) {
    EXPECT_EQ(static_cast<std::uint64_t>(*v) % 90, k.number());
  });
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

/// While other threads insert and erase the key, a call may have to try again after its key has moved.
TYPED_TEST(moved_keys_by_threads, are_counted_by_calls_that_try_again) {
  constexpr std::uint64_t rounds = 3000, keys = 3;
  cubby::map<counted_key, std::uint64_t, TypeParam, spread> m(tiny_options());
  std::atomic<std::uint64_t> erased{0};
  run_threads(3, [&](std::size_t t) {
    for (std::uint64_t n = 0; n < rounds; ++n) {
      const std::uint64_t k = 1 + n % keys;
      if (t == 0) m.insert_or_add(counted_key(k), 1);
      if (t == 1)
        m.compute(counted_key(k),
                  [](const std::uint64_t* v) { return cubby::computed<std::uint64_t>(v == nullptr ? 1 : *v + 1); });
      if (t == 2) {
        erased.fetch_add(m.extract(counted_key(k)).value_or(0));
        m.insert_or_update(counted_key(k), [](const std::uint64_t& v) { return v + 1; }, 1u);
      }
    }
  });
  std::uint64_t left = 0;
  m.visit_all([&](const counted_key& k, const std::uint64_t& v) {
    EXPECT_TRUE(k.number() >= 1 && k.number() <= keys) << "a key that was moved from lies in the table";
    left += v;
  });
  EXPECT_EQ(left + erased.load(), 3 * rounds);
}

/// Keys that only move, and are compared by what they point to.
struct by_content {
  std::uint64_t operator()(const std::unique_ptr<int>& k) const noexcept { return static_cast<std::uint64_t>(*k); }
};
struct equal_content {
  bool operator()(const std::unique_ptr<int>& a, const std::unique_ptr<int>& b) const noexcept { return *a == *b; }
};
template <class Engine>
using owned_keys =
    cubby::in_place_map<std::unique_ptr<int>, numbers, Engine, by_content, std::allocator<std::byte>, equal_content>;

template <class Table> class moved_keys_in_place : public testing::Test {};
TYPED_TEST_SUITE(moved_keys_in_place, every_table_in_place);

TYPED_TEST(moved_keys_in_place, go_into_the_map_or_stay) {
  owned_keys<typename TypeParam::engine> m;
  const auto key = [](int n) { return std::make_unique<int>(n); };
  const auto push = [](numbers& v) { v.push_back(7); };
  EXPECT_TRUE(m.insert(key(1), numbers{1}));
  EXPECT_TRUE(m.try_emplace(key(2), 1U, 2U));
  EXPECT_EQ(m.try_insert(key(3), 1U, 3U), cubby::outcome::inserted);
  EXPECT_TRUE(m.insert_or_assign(key(4), numbers{4}));
  EXPECT_TRUE(m.insert_or_modify(key(5), push, 1U, 5U));
  EXPECT_TRUE(m.emplace_and_modify(key(6), push, 1U, 6U));
  for (std::uint64_t n = 1; n <= 6; ++n) {
    auto mine = key(static_cast<int>(n));
    EXPECT_FALSE(m.insert(std::move(mine), numbers{}));
    EXPECT_FALSE(m.try_emplace(std::move(mine)));
    EXPECT_EQ(m.try_insert(std::move(mine)), cubby::outcome::exists);
    EXPECT_FALSE(m.insert_or_assign(std::move(mine), numbers{n}));
    EXPECT_FALSE(m.insert_or_modify(std::move(mine), push));
    EXPECT_FALSE(m.emplace_and_modify(std::move(mine), push));
    ASSERT_NE(mine, nullptr) << "a key that is in the table stays with the caller";
    EXPECT_EQ(m.find(mine), (numbers{n, 7, 7}));
  }
  std::vector<std::pair<std::unique_ptr<int>, numbers>> more;
  more.emplace_back(key(7), numbers{7});
  more.emplace_back(key(1), numbers{});
  owned_keys<typename TypeParam::engine> other(std::make_move_iterator(more.begin()),
                                               std::make_move_iterator(more.end()));
  EXPECT_EQ(other.size(), 2u);
  EXPECT_EQ(more[0].first, nullptr);
}

/// While other threads insert and erase the key, a call may have to try again after its key has moved.
TYPED_TEST(moved_keys_in_place, are_counted_by_calls_that_try_again) {
  if constexpr (!TypeParam::is_shared) {
    GTEST_SKIP() << "an engine for one thread";
  } else {
    constexpr int rounds = 2000;
    owned_keys<typename TypeParam::engine> m;
    std::atomic<std::size_t> erased{0};
    run_threads(3, [&](std::size_t t) {
      for (int n = 0; n < rounds; ++n) {
        const auto push = [](numbers& v) { v.push_back(7); };
        auto mine = std::make_unique<int>(1 + n % 3);
        if (t == 0) m.insert_or_modify(std::move(mine), push, 1U, 7U);
        if (t == 1) m.emplace_and_modify(std::move(mine), push);
        if (t == 2) {
          const auto out = m.extract(mine);
          if (out) erased.fetch_add(out->size());
          m.insert_or_modify(std::move(mine), push, 1U, 7U);
        }
      }
    });
    std::size_t left = 0;
    m.visit_all([&](const std::unique_ptr<int>& k, const numbers& v) {
      EXPECT_NE(k, nullptr);
      left += v.size();
    });
    EXPECT_EQ(left + erased.load(), 3U * rounds);
  }
}

} // namespace
} // namespace cubby_test
