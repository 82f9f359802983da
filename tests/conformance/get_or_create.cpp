// SPDX-License-Identifier: Apache-2.0
// Insert or look in one step: `insert_or_visit`, `try_emplace_or_visit`, `find_or_emplace` and `add_and_fetch`, alone and by several
// threads. Their inserts are unique, their visitors see what is there, and sums name each step once.
#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "engines.hpp"
#include "support/counting.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

template <class Mode> class get_or_create : public ::testing::Test {};
TYPED_TEST_SUITE(get_or_create, main_modes);

TYPED_TEST(get_or_create, inserts_or_shows_what_is_there) {
  typename TypeParam::map m(tiny_options());
  using V = typename TypeParam::mapped_type;
  for (std::uint64_t n = 0; n < 200; ++n) {
    const auto k = TypeParam::key(n);
    ASSERT_TRUE(m.insert_or_visit(k, TypeParam::value(n), [](const V&) { FAIL() << "nothing was there"; }));
    std::uint64_t seen = torn;
    ASSERT_FALSE(m.insert_or_visit(k, TypeParam::value(n + 1), [&](const V& v) { seen = TypeParam::number(v); }));
    ASSERT_EQ(seen, n);
    seen = torn;
    ASSERT_FALSE(m.try_emplace_or_visit(k, TypeParam::value(n + 1), [&](const V& v) { seen = TypeParam::number(v); }));
    ASSERT_EQ(seen, n);
  }
  auto h = m.handle();
  ASSERT_TRUE(h.try_emplace_or_visit(TypeParam::key(999), TypeParam::value(7), [](const V&) { FAIL(); }));
  EXPECT_EQ(TypeParam::number(*m.find(TypeParam::key(999))), 7u);
  EXPECT_EQ(m.size(), 201u);
}

TYPED_TEST(get_or_create, creates_only_what_is_absent) {
  typename TypeParam::map m(tiny_options());
  std::uint64_t made = 0;
  for (std::uint64_t round = 0; round < 2; ++round) {
    for (std::uint64_t n = 0; n < 200; ++n) {
      const auto got = m.find_or_emplace(TypeParam::key(n), [&] {
        ++made;
        return TypeParam::value(n + round);
      });
      ASSERT_TRUE(got.has_value());
      ASSERT_EQ(TypeParam::number(*got), n);
    }
  }
  EXPECT_EQ(made, 200u);
  EXPECT_EQ(m.size(), 200u);
}

template <class Engine> class get_or_create_of : public ::testing::Test {};
TYPED_TEST_SUITE(get_or_create_of, every_engine);

TYPED_TEST(get_or_create_of, sums_answer_with_what_they_leave) {
  cubby::map<std::string, std::uint64_t, TypeParam> m(tiny_options());
  cubby::map<int, std::string, TypeParam> texts(tiny_options());
  EXPECT_EQ(m.add_and_fetch("a", 5), 5u);
  EXPECT_EQ(m.add_and_fetch(std::string("a"), 3), 8u);
  EXPECT_EQ(m.handle().add_and_fetch("a", 1), 9u);
  EXPECT_EQ(m.find("a"), 9u);
  EXPECT_EQ(texts.add_and_fetch(1, "ab"), "ab");
  EXPECT_EQ(texts.add_and_fetch(1, "c"), "abc");
}

struct stop : std::runtime_error {
  stop() : std::runtime_error("a function throws") {}
};

TYPED_TEST(get_or_create_of, functions_that_throw_leave_the_table_as_it_was) {
  cubby::map<int, tracked, TypeParam> m(tiny_options());
  EXPECT_THROW((void)m.find_or_emplace(1, []() -> tracked { throw stop(); }), stop);
  EXPECT_FALSE(m.contains(1));
  ASSERT_TRUE(m.try_emplace_or_visit(1, 10u, [](const tracked&) { throw stop(); }));
  EXPECT_THROW(m.try_emplace_or_visit(1, 11u, [](const tracked&) { throw stop(); }), stop);
  EXPECT_EQ(m.find(1)->number(), 10u);
  EXPECT_EQ(m.size(), 1u);
  m.clear();
}

TYPED_TEST(get_or_create_of, values_that_only_move_are_inserted_or_shown) {
  cubby::map<std::string, std::unique_ptr<int>, TypeParam> m(tiny_options());
  EXPECT_TRUE(m.try_emplace_or_visit("k", new int(1), [](const std::unique_ptr<int>&) { FAIL(); }));
  int seen = 0;
  EXPECT_FALSE(m.insert_or_visit("k", std::make_unique<int>(2), [&](const std::unique_ptr<int>& p) { seen = *p; }));
  EXPECT_EQ(seen, 1);
}

TYPED_TEST(get_or_create_of, functions_may_call_the_table) {
  cubby::map<int, std::string, TypeParam> m(tiny_options());
  const auto got = m.find_or_emplace(1, [&] {
    for (int k = 2; k < 200; ++k) m.insert(k, "other");
    m.insert(1, "inside"); // the factory's own value then loses
    return std::string("outside");
  });
  EXPECT_EQ(got, "inside");
  EXPECT_FALSE(m.insert_or_visit(1, "x", [&](const std::string& v) {
    m.erase(1);
    EXPECT_EQ(v, "inside");
  }));
  EXPECT_EQ(m.size(), 198u);
}

TYPED_TEST(get_or_create_of, a_full_table_refuses_and_still_shows) {
  cubby::options bound;
  bound.capacity = 8;
  bound.growth = cubby::growth_policy::fixed;
  cubby::map<std::uint64_t, std::uint64_t, TypeParam> m(bound);
  for (std::uint64_t k = 0; k < 8; ++k) ASSERT_EQ(m.find_or_emplace(k, [&] { return k; }), k);
  EXPECT_THROW((void)m.find_or_emplace(8, [] { return 1u; }), cubby::table_full);
  EXPECT_THROW(m.insert_or_visit(8, 1u, [](const std::uint64_t&) {}), cubby::table_full);
  EXPECT_THROW((void)m.add_and_fetch(8, 1u), cubby::table_full);
  EXPECT_EQ(m.find_or_emplace(7, [] { return 1u; }), 7u);
  EXPECT_EQ(m.add_and_fetch(7, 1u), 8u);
}

template <class Mode> class get_or_create_by_threads : public ::testing::Test {};
TYPED_TEST_SUITE(get_or_create_by_threads, shared_modes);

constexpr std::uint64_t workers = 4;
constexpr std::uint64_t keys = 300;

TYPED_TEST(get_or_create_by_threads, all_get_the_value_of_one_winner) {
  typename TypeParam::map m(tiny_options());
  std::vector<std::vector<std::uint64_t>> got(workers, std::vector<std::uint64_t>(keys, torn));
  std::vector<std::uint64_t> made(workers, 0);
  run_threads(workers, [&](std::size_t t) {
    auto h = m.handle();
    for (std::uint64_t n = 0; n < keys; ++n) {
      const auto value = h.find_or_emplace(TypeParam::key(n), [&] {
        ++made[t];
        return TypeParam::value(n * workers + t);
      });
      if (value) got[t][n] = TypeParam::number(*value);
    }
  });
  for (std::uint64_t n = 0; n < keys; ++n) {
    ASSERT_EQ(got[0][n] / workers, n);
    for (std::uint64_t t = 1; t < workers; ++t) ASSERT_EQ(got[t][n], got[0][n]) << "key " << n << " thread " << t;
  }
  for (const auto count : made) EXPECT_LE(count, keys) << "at most once in a call";
  EXPECT_EQ(m.size(), keys);
}

TYPED_TEST(get_or_create_by_threads, one_inserts_and_the_others_look) {
  typename TypeParam::map m(tiny_options());
  using V = typename TypeParam::mapped_type;
  std::vector<std::atomic<std::uint64_t>> inserted(keys), looked(keys);
  run_threads(workers, [&](std::size_t t) {
    for (std::uint64_t n = 0; n < keys; ++n) {
      const bool mine = m.insert_or_visit(TypeParam::key(n), TypeParam::value(n), [&](const V& v) {
        if (TypeParam::number(v) == n) looked[n].fetch_add(1);
      });
      if (mine) inserted[n].fetch_add(1);
    }
    (void)t;
  });
  for (std::uint64_t n = 0; n < keys; ++n) {
    ASSERT_EQ(inserted[n].load(), 1u) << n;
    ASSERT_EQ(looked[n].load(), workers - 1) << n;
  }
}

template <class Engine> class sums_by_threads : public ::testing::Test {};
TYPED_TEST_SUITE(sums_by_threads, shared_engines);

/// Every sum from 1 to the last is answered exactly once: what `insert_or_add` and a find behind it cannot do.
template <class Map, class K> void each_sum_once(Map& m, const K& k) {
  constexpr std::uint64_t steps = 500;
  std::vector<std::vector<std::uint64_t>> got(workers);
  run_threads(workers, [&](std::size_t t) {
    for (std::uint64_t i = 0; i < steps; ++i) got[t].push_back(m.add_and_fetch(k, 1).value_or(0));
  });
  std::vector<std::uint64_t> all;
  for (const auto& one : got) {
    EXPECT_TRUE(std::is_sorted(one.begin(), one.end()));
    all.insert(all.end(), one.begin(), one.end());
  }
  std::sort(all.begin(), all.end());
  for (std::uint64_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i + 1);
}

TYPED_TEST(sums_by_threads, number_each_addition) {
  cubby::map<std::uint64_t, std::uint64_t, TypeParam> words(tiny_options());
  each_sum_once(words, 7u);
  cubby::map<std::string, std::uint64_t, TypeParam> texts(tiny_options());
  each_sum_once(texts, "a key of more than a word");
}

} // namespace
} // namespace cubby_test
