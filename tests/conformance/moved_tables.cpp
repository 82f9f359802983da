// SPDX-License-Identifier: Apache-2.0
// Idle tables that move: no entry is lost or copied, what is left is an empty table with the same options, and each of the two frees
// what is its own. In every engine, also while a growth is under way and while records wait for their end.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <cubby/delegated_map.hpp>
#include <cubby/durable_map.hpp>
#include <cubby/in_place_map.hpp>

#include "engines.hpp"
#include "support/counting.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

template <class Mode> void expect_keys(const typename Mode::map& m, std::uint64_t first, std::uint64_t last) {
  EXPECT_EQ(m.size(), last - first);
  for (std::uint64_t n = first; n < last; ++n) {
    const auto got = m.find(Mode::key(n));
    ASSERT_TRUE(got.has_value()) << n;
    ASSERT_EQ(Mode::number(*got), n);
  }
}
template <class Mode> void insert_keys(typename Mode::map& m, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t n = first; n < last; ++n) ASSERT_TRUE(m.insert(Mode::key(n), Mode::value(n))) << n;
}

template <class Mode> class moved_tables : public ::testing::Test {};
TYPED_TEST_SUITE(moved_tables, main_modes);

TYPED_TEST(moved_tables, have_all_entries_and_leave_an_empty_table) {
  using map = typename TypeParam::map;
  static_assert(std::movable<map> && std::is_nothrow_move_constructible_v<map> && std::is_nothrow_swappable_v<map>);
  static_assert(!std::is_copy_constructible_v<map> && !std::is_copy_assignable_v<map>);
  map from(tiny_options());
  insert_keys<TypeParam>(from, 0, 500);
  const auto before = from.stats();
  map to(std::move(from));
  expect_keys<TypeParam>(to, 0, 500);
  EXPECT_EQ(to.stats().growths, before.growths) << "it is the same table";
  EXPECT_TRUE(from.ok() && from.empty() && !from.contains(TypeParam::key(1)));
  insert_keys<TypeParam>(from, 300, 700);
  expect_keys<TypeParam>(from, 300, 700);
  insert_keys<TypeParam>(to, 500, 900);
  EXPECT_EQ(to.erase_if([](const auto& k, const auto&) { return TypeParam::number_of_key(k) >= 500; }), 400u);
  expect_keys<TypeParam>(to, 0, 500);
}

/// Under each policy; those with a thread of their own give it a table that has another address now.
TYPED_TEST(moved_tables, go_on_growing_where_they_were) {
  for (const auto growth : growing_policies) {
    auto from = std::make_unique<typename TypeParam::map>(tiny_options(growth));
    std::uint64_t keys = 0;
    for (std::uint64_t step = 0; step < 12; ++step) {
      const std::uint64_t least = keys + 97;
      const bool stops = growth == cubby::growth_policy::incremental; // in the middle of a growth
      for (; keys < least || (stops && keys < 4000 && !from->stats().migrating); ++keys)
        insert_keys<TypeParam>(*from, keys, keys + 1);
      auto to = std::make_unique<typename TypeParam::map>(std::move(*from));
      insert_keys<TypeParam>(*from, 0, 20); // the thread of what is left works, too
      from.reset();
      expect_keys<TypeParam>(*to, 0, keys);
      from = std::move(to);
    }
    for (std::uint64_t n = 0; n < keys; ++n) ASSERT_TRUE(from->erase(TypeParam::key(n))) << n;
    EXPECT_TRUE(from->empty());
  }
}

TYPED_TEST(moved_tables, keep_their_bound_and_leave_one_with_the_same) {
  table_options bounded = tiny_options(cubby::growth_policy::fixed);
  bounded.capacity = 50;
  typename TypeParam::map from(bounded);
  insert_keys<TypeParam>(from, 0, 40);
  typename TypeParam::map to(std::move(from));
  insert_keys<TypeParam>(to, 40, 50);
  EXPECT_EQ(to.try_insert(TypeParam::key(50), TypeParam::value(50)), cubby::outcome::full);
  insert_keys<TypeParam>(from, 0, 50);
  EXPECT_EQ(from.try_insert(TypeParam::key(50), TypeParam::value(50)), cubby::outcome::full);
  expect_keys<TypeParam>(to, 0, 50);
}

TYPED_TEST(moved_tables, are_assigned_swapped_returned_and_kept_in_vectors) {
  using map = typename TypeParam::map;
  map a(tiny_options());
  map b(tiny_options());
  insert_keys<TypeParam>(a, 0, 100);
  insert_keys<TypeParam>(b, 100, 300);
  swap(a, b);
  expect_keys<TypeParam>(a, 100, 300);
  expect_keys<TypeParam>(b, 0, 100);
  a.swap(a);
  a = std::move(b);
  expect_keys<TypeParam>(a, 0, 100);
  EXPECT_TRUE(b.empty());
  map& same = a;
  a = std::move(same);
  expect_keys<TypeParam>(a, 0, 100);
  a = {};
  EXPECT_TRUE(a.empty());
  const auto made = [](std::uint64_t last) {
    map m(tiny_options());
    insert_keys<TypeParam>(m, 0, last);
    return last == 0 ? map() : std::move(m);
  };
  a = made(30);
  expect_keys<TypeParam>(a, 0, 30);
  std::vector<map> all;
  for (std::uint64_t n = 1; n < 10; ++n) all.push_back(made(n));
  all.erase(all.begin());
  for (std::uint64_t n = 2; n < 10; ++n) expect_keys<TypeParam>(all[n - 2], 0, n);
}

template <class Engine> class moved_owners : public ::testing::Test {};
TYPED_TEST_SUITE(moved_owners, every_engine);

TYPED_TEST(moved_owners, free_what_is_theirs) {
  using map = cubby::map<std::uint64_t, tracked, TypeParam, cubby::hash<std::uint64_t>, counting_allocator<std::byte>>;
  allocation_account account;
  allocation_account other_account;
  {
    const auto made = [](allocation_account& in) {
      return map(cubby::options{}, cubby::hash<std::uint64_t>{}, counting_allocator<std::byte>(in));
    };
    map from = made(account);
    for (std::uint64_t n = 0; n < 3000; ++n) from.insert_or_assign(n % 700, tracked(n));
    for (std::uint64_t n = 0; n < 100; ++n) from.erase(n);
    map to(std::move(from));
    EXPECT_EQ(account.blocks.load(), 600) << "what had been retired is freed, and no entry is copied";
    EXPECT_EQ(tracked::living().load(), 600);
    map other = made(other_account);
    other.insert(1, tracked(1));
    other = std::move(to);
    EXPECT_EQ(other_account.blocks.load(), 0) << "the entries of the target are destroyed";
    for (std::uint64_t n = 700; n < 1000; ++n) ASSERT_TRUE(other.insert(n, tracked(n)) && from.insert(n, tracked(n)));
    EXPECT_EQ(other_account.blocks.load(), 0) << "the allocator comes with the entries";
    EXPECT_EQ(account.blocks.load(), 1200);
  }
  EXPECT_EQ(account.blocks.load(), 0);
  EXPECT_EQ(account.bytes.load(), 0);
  EXPECT_EQ(tracked::living().load(), 0);
}

/// A hash with a state.
struct shifted_hash {
  std::uint64_t shift = 0;
  std::uint64_t operator()(std::uint64_t n) const noexcept { return n + shift; }
};
TYPED_TEST(moved_owners, keep_their_hash_and_their_seed) {
  cubby::map<std::uint64_t, int, TypeParam, shifted_hash> from(cubby::options{.seed = 42}, shifted_hash{7});
  for (std::uint64_t n = 0; n < 300; ++n) from.insert(n, 1);
  cubby::map<std::uint64_t, int, TypeParam, shifted_hash> to;
  to = std::move(from);
  for (std::uint64_t n = 0; n < 300; ++n) ASSERT_TRUE(to.contains(n));
  for (std::uint64_t n = 300; n < 600; ++n) ASSERT_TRUE(to.insert(n, 1) && from.insert(n, 1));
  EXPECT_EQ(to.size(), 600u);
  EXPECT_EQ(from.size(), 300u);
}

TYPED_TEST(moved_owners, may_be_sets) {
  cubby::set<std::string, TypeParam> from{"a", "b"};
  auto to = std::move(from);
  EXPECT_TRUE(to.contains("a") && to.contains("b") && from.empty() && from.insert("c"));
  to.swap(from);
  EXPECT_TRUE(to.contains("c") && from.size() == 2);
}

TYPED_TEST(moved_owners, may_be_maps_of_values_that_only_move) {
  if constexpr (!cubby::map<int, int, TypeParam>::capabilities.one_thread_only) {
    cubby::in_place_map<int, std::unique_ptr<int>, TypeParam> from;
    ASSERT_TRUE(from.insert(1, std::make_unique<int>(5)));
    auto to = std::move(from);
    EXPECT_TRUE(to.modify(1, [](std::unique_ptr<int>& v) { ++*v; }));
    EXPECT_TRUE(from.empty() && from.insert(1, nullptr));
    to.swap(from);
    EXPECT_EQ(**from.extract(1), 6);
    to = std::move(from);
    EXPECT_TRUE(to.empty());
  } else {
    GTEST_SKIP() << "this engine is for one thread";
  }
}

/// A value whose destructor puts keys into a table, and counts those that it meets there.
template <class Engine> struct caller {
  using map = cubby::map<int, caller, Engine>;
  map* of = nullptr;
  int* met = nullptr;
  caller(map* m, int* n) noexcept : of(m), met(n) {}
  caller(const caller&) = default;
  caller& operator=(const caller&) = default;
  ~caller() {
    if (of == nullptr) return;
    *met += of->contains(-1) ? 1 : 0;
    for (int n = 0; n < 300; ++n) of->try_emplace(n, nullptr, nullptr);
  }
};
/// Puts a value into `m` that waits for its end, and calls `about` then.
template <class Engine> void let_one_wait(typename caller<Engine>::map& m, typename caller<Engine>::map& about,
                                          int& met) {
  ASSERT_TRUE(m.try_emplace(-2, &about, &met));
  {
    const auto keep = m.guard();
    ASSERT_TRUE(m.erase(-2));
  }
  met = 0;
}
/// In a table for one thread nothing waits behind the last guard.
template <class Engine> inline constexpr bool lets_wait = !cubby::map<int, int, Engine>::capabilities.one_thread_only;
TYPED_TEST(moved_owners, are_whole_for_the_destructors_that_a_move_runs) {
  if constexpr (!lets_wait<TypeParam>) GTEST_SKIP() << "nothing waits";
  typename caller<TypeParam>::map from(tiny_options());
  int met = 0;
  ASSERT_TRUE(from.try_emplace(-1, nullptr, nullptr));
  let_one_wait<TypeParam>(from, from, met);
  auto to = std::move(from);
  EXPECT_EQ(met, 1) << "it has met the entry that moves";
  EXPECT_EQ(to.size(), 301u) << "what it has inserted moves, too";
  for (int n = 300; n < 1000; ++n)
    ASSERT_TRUE(to.try_emplace(n, nullptr, nullptr) && from.try_emplace(n, nullptr, nullptr));
  EXPECT_EQ(to.size(), 1001u);
  EXPECT_EQ(from.size(), 700u);
}
TYPED_TEST(moved_owners, are_whole_for_the_destructors_that_an_assignment_runs) {
  if constexpr (!lets_wait<TypeParam>) GTEST_SKIP() << "nothing waits";
  for (const bool swapped : {false, true}) {
    typename caller<TypeParam>::map target(tiny_options());
    typename caller<TypeParam>::map source(tiny_options());
    int met = 0;
    ASSERT_TRUE(target.try_emplace(-1, nullptr, nullptr) && source.try_emplace(7000, nullptr, nullptr));
    let_one_wait<TypeParam>(source, target, met);
    if (swapped) swap(target, source);
    else target = std::move(source);
    EXPECT_EQ(met, swapped ? 0 : 1) << "the target was whole; swap moves it first";
    EXPECT_TRUE(target.contains(7000) && target.size() == 1);
    EXPECT_EQ(source.size(), swapped ? 1u : 0u);
  }
}

TYPED_TEST(moved_owners, leave_a_table_that_has_nothing_of_theirs) {
  using map = cubby::map<int, std::string, TypeParam>;
  table_options chosen = tiny_options();
  map from(chosen);
  for (int n = 0; n < 20'000; ++n) from.insert_or_assign(n % 7000, "a text");
  const auto to = std::move(from);
  chosen.capacity = 0;
  const map fresh(chosen);
  EXPECT_EQ(from.stats().bytes, fresh.stats().bytes);
  EXPECT_EQ(from.stats().retired, 0u);
  EXPECT_EQ(from.stats().growths, 0u);
  EXPECT_EQ(to.size(), 7000u);
}

/// `reserve` inside a guard answers before the space is there, as the growth before it waits for that guard.
TEST(moved_tables_of_relativistic, have_the_space_that_was_promised) {
  cubby::map<int, int, cubby::relativistic> from(tiny_options());
  for (int n = 0; n < 100; ++n) from.insert(n, n);
  {
    const auto keep = from.guard();
    for (int n = 100; n < 200; ++n) from.insert(n, n);
    ASSERT_TRUE(from.reserve(100'000));
  }
  const auto to = std::move(from);
  EXPECT_GE(to.capacity(), 100'000u);
  EXPECT_EQ(to.size(), 200u);
}

TYPED_TEST(moved_owners, serve_threads_before_and_behind_the_move) {
  if constexpr (!cubby::map<int, int, TypeParam>::capabilities.one_thread_only) {
    cubby::map<std::uint64_t, std::string, TypeParam> from(tiny_options(cubby::growth_policy::background));
    const auto fill = [](auto& m, std::uint64_t base) {
      run_threads(3, [&](std::size_t t) {
        for (std::uint64_t n = t; n < 600; n += 3) {
          ASSERT_TRUE(m.insert(base + n, std::to_string(n)));
          if (n % 2 == 0) {
            ASSERT_TRUE(m.erase(base + n));
          }
        }
      });
    };
    fill(from, 0);
    auto to = std::move(from);
    fill(to, 1000);
    fill(from, 2000);
    EXPECT_EQ(to.size(), 600u);
    EXPECT_EQ(from.size(), 300u);
  } else {
    GTEST_SKIP() << "this engine is for one thread";
  }
}

/// Such a copy may throw when half of the move is done.
struct throwing_hash {
  throwing_hash() = default;
  throwing_hash(const throwing_hash&) noexcept(false) {}
  std::uint64_t operator()(int n) const { return static_cast<std::uint64_t>(n); }
};
static_assert(!std::is_move_constructible_v<cubby::map<int, int, cubby::dlht, throwing_hash>>);
static_assert(!std::is_move_assignable_v<cubby::map<int, int, cubby::dlht, throwing_hash>>);
static_assert(!std::is_move_constructible_v<cubby::delegated_map<int, int>>);
static_assert(std::is_move_constructible_v<cubby::map<int, int, cubby::dlht, std::hash<int>>>);
/// A class that is a table, too.
struct derived : cubby::map<int, int> {
  derived() = default;
  derived(derived&& from) noexcept : cubby::map<int, int>(std::move(from)) {}
};
static_assert(std::is_constructible_v<cubby::map<int, int>, derived> &&
              !std::is_constructible_v<cubby::map<int, int>, const derived>);

} // namespace
} // namespace cubby_test
