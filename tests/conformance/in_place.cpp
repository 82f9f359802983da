// SPDX-License-Identifier: Apache-2.0
// Values that are changed where they lie (`in_place_map`), over each engine that keeps entries in records.
#include <atomic>
#include <map>
#include <memory>
#include <memory_resource>
#include <stdexcept>
#include <string>
#include <string_view>

#include <cubby/pmr.hpp>

#include "in_place.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

template <class Table> class in_place : public testing::Test {};
TYPED_TEST_SUITE(in_place, every_table_in_place);

/// Of a value that only moves.
template <class Engine> using jobs_of = cubby::in_place_map<std::uint64_t, std::unique_ptr<std::uint64_t>, Engine>;

TYPED_TEST(in_place, changes_the_value_itself_by_a_function_that_runs_once) {
  typename TypeParam::map m;
  ASSERT_TRUE(m.insert("one", numbers{1}));
  const numbers* where = nullptr;
  m.visit("one", [&](const numbers& v) { where = &v; });
  unsigned runs = 0;
  for (std::uint64_t n = 2; n <= 100; ++n) {
    ASSERT_TRUE(m.modify(std::string_view("one"), [&](numbers& v) {
      ++runs;
      EXPECT_EQ(&v, where) << "a copy";
      v.push_back(n);
    }));
  }
  EXPECT_EQ(runs, 99u);
  EXPECT_EQ(m.find("one")->size(), 100u);
  EXPECT_FALSE(m.modify("two", [](numbers&) { FAIL() << "an absent key was shown"; }));
}

TYPED_TEST(in_place, claims_what_its_calls_can_do) {
  using map = typename TypeParam::map;
  static_assert(map::capabilities.exclusive_modify && !map::capabilities.lock_free_find && !map::capabilities.snapshot);
  static_assert(!map::capabilities.lock_free_insert && !map::capabilities.pipelined &&
                !map::capabilities.shadow_insert);
  using of_engine = cubby::map<int, int, typename TypeParam::engine>;
  EXPECT_EQ(map::capabilities.shrinks, of_engine::capabilities.shrinks);
}

TYPED_TEST(in_place, inserts_or_changes_in_one_step) {
  typename TypeParam::map m;
  const auto push = [](numbers& v) { v.push_back(7); };
  EXPECT_TRUE(m.insert_or_modify("k", push, 3U, 5U)); // three fives
  EXPECT_FALSE(m.insert_or_modify(std::string_view("k"), push, 3U, 5U));
  EXPECT_EQ(m.find("k"), (numbers{5, 5, 5, 7}));
  EXPECT_FALSE(m.insert("k", numbers{}));
  EXPECT_FALSE(m.try_emplace("k", 9U));
  EXPECT_EQ(m.try_insert("k", 9U), cubby::outcome::exists);
  EXPECT_EQ(m.try_insert("l", 9U), cubby::outcome::done);
  EXPECT_TRUE(m.assign("k", numbers{1}));
  EXPECT_FALSE(m.assign("absent", numbers{1}));
  EXPECT_FALSE(m.insert_or_assign("k", numbers{2}));
  EXPECT_TRUE(m.insert_or_assign("new", numbers{3}));
  EXPECT_EQ(m.find("k"), numbers{2});
  EXPECT_EQ(m.size(), 3u);
}

TYPED_TEST(in_place, changes_a_new_value_and_an_old_one_alike) {
  typename TypeParam::map m;
  const auto push = [](numbers& v) { v.push_back(7); };
  EXPECT_TRUE(m.emplace_and_modify("k", push));
  EXPECT_FALSE(m.emplace_and_modify(std::string_view("k"), push, 9U, 9U));
  EXPECT_EQ(m.find("k"), (numbers{7, 7}));
  EXPECT_THROW(m.emplace_and_modify("l", [](numbers&) { throw std::runtime_error("no"); }, 3U), std::runtime_error);
  EXPECT_FALSE(m.contains("l")) << "a new value whose change failed stays";
  EXPECT_EQ(m.size(), 1u);
}

/// A mutex can be neither copied nor moved.
struct fixed_value {
  explicit fixed_value(std::uint64_t n) : number(n) {}
  fixed_value(const fixed_value&) = delete;
  std::uint64_t number;
};
TYPED_TEST(in_place, holds_values_that_can_be_neither_copied_nor_moved) {
  cubby::in_place_map<std::uint64_t, fixed_value, typename TypeParam::engine> m;
  EXPECT_TRUE(m.try_emplace(1, 5U));
  EXPECT_TRUE(m.modify(1, [](fixed_value& v) { ++v.number; }));
  EXPECT_TRUE(m.erase_if(1, [](fixed_value& v) { return v.number == 6; }));
  EXPECT_TRUE(m.empty());
}

TYPED_TEST(in_place, changes_and_takes_out_values_that_only_move) {
  jobs_of<typename TypeParam::engine> m;
  ASSERT_TRUE(m.insert(1, std::make_unique<std::uint64_t>(10)));
  EXPECT_TRUE(m.modify(1, [](auto& v) { ++*v; }));
  EXPECT_FALSE(m.insert_or_assign(1, std::make_unique<std::uint64_t>(20)));
  auto mine = std::make_unique<std::uint64_t>(30);
  EXPECT_FALSE(m.insert(1, std::move(mine)));
  ASSERT_NE(mine, nullptr) << "an insert that did not insert has taken its argument";
  EXPECT_TRUE(m.assign(1, std::move(mine)));
  const auto out = m.extract(1);
  ASSERT_TRUE(out);
  EXPECT_EQ(**out, 30u);
  EXPECT_FALSE(m.extract(1));
  EXPECT_TRUE(m.empty());
}

TYPED_TEST(in_place, erases_by_a_function_that_may_change_what_stays) {
  typename TypeParam::map m;
  m.insert("k", numbers{1, 2});
  const auto pop = [](numbers& v) {
    v.pop_back();
    return v.empty();
  };
  EXPECT_FALSE(m.erase_if("k", pop));
  EXPECT_EQ(m.find("k"), numbers{1});
  EXPECT_TRUE(m.erase_if(std::string_view("k"), pop));
  EXPECT_FALSE(m.erase_if("k", pop));
  EXPECT_FALSE(m.contains("k"));
  m.insert("k", numbers{3});
  EXPECT_TRUE(m.erase("k"));
  EXPECT_FALSE(m.erase(std::string_view("k")));
}

TYPED_TEST(in_place, scans_and_batches_show_each_value_and_change_it) {
  typename TypeParam::map m;
  std::vector<std::string> keys;
  for (std::uint64_t n = 0; n < 1000; ++n) keys.push_back("the key of number " + std::to_string(n));
  for (std::uint64_t n = 0; n < 1000; n += 2) ASSERT_TRUE(m.insert(keys[n], numbers{n}));
  std::size_t answered = 0;
  EXPECT_EQ(m.visit_batch(keys,
                          [&](std::size_t i, const numbers* v) {
                            ++answered;
                            ASSERT_EQ(v != nullptr, i % 2 == 0);
                            if (v == nullptr) return;
                            ASSERT_EQ(v->front(), i);
                          }),
            500u);
  EXPECT_EQ(answered, 1000u);
  EXPECT_EQ(m.modify_batch(keys,
                           [](std::size_t, numbers* v) {
                             if (v != nullptr) v->push_back(1);
                           }),
            500u);
  (void)m.reserve(5000); // engines that move entries in the background have moved them, or a scan may show one twice
  if (m.stats().migrating) GTEST_SKIP() << "the table still moves";
  m.modify_all([](const std::string&, numbers& v) { v.push_back(2); });
  std::map<std::string, numbers> seen;
  m.visit_all([&](const std::string& k, const numbers& v) { seen.emplace(k, v); });
  ASSERT_EQ(seen.size(), 500u);
  for (std::uint64_t n = 0; n < 1000; n += 2) ASSERT_EQ(seen.at(keys[n]), (numbers{n, 1, 2}));
  EXPECT_EQ(m.erase_if([](const std::string&, const numbers& v) { return v.front() % 4 == 0; }), 250u);
  EXPECT_EQ(m.size(), 250u);
  m.clear();
  EXPECT_TRUE(m.empty());
}

TYPED_TEST(in_place, clear_and_release_gives_the_memory_back) {
  typename TypeParam::map m;
  for (std::uint64_t n = 0; n < 20000; ++n) ASSERT_TRUE(m.insert("key " + std::to_string(n), numbers{n}));
  const std::size_t before = m.stats().bytes;
  ASSERT_TRUE(m.clear_and_release());
  EXPECT_TRUE(m.empty());
  EXPECT_LT(m.stats().bytes, before / 4);
  EXPECT_TRUE(m.insert("key", numbers{1}));
}

TYPED_TEST(in_place, takes_lists_and_ranges_and_gives_containers) {
  using map = typename TypeParam::map;
  map m{{"a", numbers{1}}, {"b", numbers{2}}, {"a", numbers{9}}};
  EXPECT_EQ(m.find("a"), numbers{1}) << "of equal keys the first stays";
  const std::map<std::string, numbers> more{{"b", {3}}, {"c", {4}}};
  EXPECT_EQ(m.insert_range(more), 1u);
  EXPECT_EQ((m.template to<std::map<std::string, numbers>>()),
            (std::map<std::string, numbers>{{"a", {1}}, {"b", {2}}, {"c", {4}}}));
  cubby::in_place_map<std::int64_t, int, typename TypeParam::engine> wide;
  EXPECT_EQ(wide.insert_range(std::vector<std::pair<int, int>>{{-1, 5}}), 1u);
  EXPECT_TRUE(wide.contains(-1)) << "a key of another type of words was not converted";
  std::vector<std::pair<std::uint64_t, std::unique_ptr<std::uint64_t>>> jobs;
  for (std::uint64_t n = 0; n < 3; ++n) jobs.emplace_back(n % 2, std::make_unique<std::uint64_t>(n));
  const jobs_of<typename TypeParam::engine> moved(std::make_move_iterator(jobs.begin()),
                                                  std::make_move_iterator(jobs.end()));
  EXPECT_EQ(moved.size(), 2u);
  EXPECT_EQ(jobs[0].second, nullptr);
  ASSERT_NE(jobs[2].second, nullptr) << "the value of a key that is there already was moved";
}

TYPED_TEST(in_place, values_get_the_resource_of_the_map) {
  std::pmr::synchronized_pool_resource pool;
  cubby::pmr::in_place_map<int, std::pmr::string, typename TypeParam::engine> m(&pool);
  const std::pmr::string text("a text that takes memory of its own");
  ASSERT_TRUE(m.insert(1, text) && m.try_emplace(2, text) && m.insert_or_assign(3, text));
  ASSERT_TRUE(m.emplace_and_modify(4, [](std::pmr::string& s) { s += "more"; }, text));
  m.visit_all([&](const int& k, const std::pmr::string& s) { EXPECT_EQ(s.get_allocator().resource(), &pool) << k; });
}

TYPED_TEST(in_place, merges_by_moving_the_values) {
  jobs_of<typename TypeParam::engine> to, from;
  const auto value = [](std::uint64_t n) { return std::make_unique<std::uint64_t>(n); };
  ASSERT_TRUE(to.insert(1, value(10)));
  std::uint64_t* where = nullptr;
  for (std::uint64_t n = 1; n <= 100; ++n) ASSERT_TRUE(from.insert(n, value(n)));
  from.visit(2, [&](const auto& v) { where = v.get(); });
  EXPECT_EQ(to.merge(from), 99u);
  EXPECT_EQ(to.merge(to), 0u);
  auto h = to.handle();
  EXPECT_EQ(to.merge(h), 0u) << "a handle of the map itself";
  EXPECT_EQ(to.size(), 100u);
  EXPECT_EQ(from.size(), 1u) << "an entry whose key is there stays";
  to.visit(1, [](const auto& v) { EXPECT_EQ(*v, 10u); });
  from.visit(1, [](const auto& v) { EXPECT_EQ(*v, 1u); });
  to.visit(2, [&](const auto& v) { EXPECT_EQ(v.get(), where) << "a copy"; });
}

/// Their keys come in the order of a scan, and the seeds of both are the same here.
TYPED_TEST(in_place, merges_ask_for_the_space_that_they_need) {
  jobs_of<typename TypeParam::engine> to, from;
  for (std::uint64_t n = 0; n < 3000; ++n) ASSERT_TRUE(from.insert(n, nullptr));
  EXPECT_EQ(to.merge(std::move(from)), 3000u);
}

struct fails_to_be_made : std::runtime_error {
  fails_to_be_made() : std::runtime_error("not made") {}
};
struct may_not_be_made {
  explicit may_not_be_made(bool fails) {
    if (fails) throw fails_to_be_made();
  }
  int changes = 0;
};

TYPED_TEST(in_place, exceptions_pass_through_and_leave_no_entry_without_a_value) {
  cubby::in_place_map<std::string, may_not_be_made, typename TypeParam::engine> m;
  EXPECT_THROW(m.try_emplace("k", true), fails_to_be_made);
  EXPECT_FALSE(m.contains("k"));
  EXPECT_EQ(m.size(), 0u);
  ASSERT_TRUE(m.try_emplace("k", false));
  EXPECT_THROW(m.modify("k",
                        [](may_not_be_made& v) {
                          ++v.changes;
                          throw fails_to_be_made();
                        }),
               fails_to_be_made);
  int changes = 0;
  m.visit("k", [&](const may_not_be_made& v) { changes = v.changes; });
  EXPECT_EQ(changes, 1) << "what the function did stays, and the entry is free again";
  EXPECT_THROW(m.erase_if("k", [](may_not_be_made&) -> bool { throw fails_to_be_made(); }), fails_to_be_made);
  EXPECT_TRUE(m.contains("k"));
}

struct fails_to_be_moved {
  fails_to_be_moved() = default;
  fails_to_be_moved(fails_to_be_moved&& from) : fails(from.fails) {
    if (fails) throw fails_to_be_made();
  }
  bool fails = true;
};

TYPED_TEST(in_place, an_extract_whose_move_throws_leaves_the_entry) {
  cubby::in_place_map<std::string, fails_to_be_moved, typename TypeParam::engine> m;
  ASSERT_TRUE(m.try_emplace("k"));
  EXPECT_THROW((void)m.extract("k"), fails_to_be_made);
  EXPECT_EQ(m.size(), 1u);
  ASSERT_TRUE(m.modify("k", [](fails_to_be_moved& v) { v.fails = false; })) << "the entry is free again";
  EXPECT_TRUE(m.extract("k").has_value());
  EXPECT_TRUE(m.empty());
}

TYPED_TEST(in_place, nothing_is_lost_between_changes_and_extracts_of_threads) {
  if constexpr (!TypeParam::is_shared) {
    GTEST_SKIP() << "one thread at a time";
  } else {
    typename TypeParam::map m;
    std::atomic<std::uint64_t> taken{0};
    constexpr std::uint64_t rounds = 4000;
    run_threads(4, [&](unsigned me) {
      auto h = m.handle();
      for (std::uint64_t n = 0; n < rounds; ++n) {
        const std::string key = "key " + std::to_string(n % 3);
        if (me == 0) {
          if (auto v = m.extract(key)) taken += v->size();
        } else {
          h.insert_or_modify(key, [](numbers& v) { v.push_back(1); }, 1U, 1U);
        }
      }
    });
    std::uint64_t left = 0;
    m.visit_all([&](const std::string&, const numbers& v) { left += v.size(); });
    EXPECT_EQ(taken + left, 3 * rounds);
  }
}

TYPED_TEST(in_place, a_value_is_built_once_for_many_threads_that_insert_it) {
  if constexpr (!TypeParam::is_shared) {
    GTEST_SKIP() << "one thread at a time";
  } else {
    struct counted {
      explicit counted(std::atomic<unsigned>& made) { ++made; }
    };
    constexpr std::uint64_t keys = 500;
    cubby::in_place_map<std::uint64_t, counted, typename TypeParam::engine> m; // it grows meanwhile
    std::atomic<unsigned> made{0}, inserted{0};
    run_threads(4, [&](unsigned) {
      for (std::uint64_t k = 0; k < keys; ++k) inserted += m.try_emplace(k, made) ? 1 : 0;
    });
    EXPECT_EQ(made, keys);
    EXPECT_EQ(inserted, keys);
    EXPECT_EQ(m.size(), keys);
  }
}

/// Readers see both halves of a value that a writer changes one after the other, while the table grows.
TYPED_TEST(in_place, readers_see_whole_values_only) {
  if constexpr (!TypeParam::is_shared) {
    GTEST_SKIP() << "one thread at a time";
  } else {
    typename TypeParam::map m;
    ASSERT_TRUE(m.insert("k", numbers{0, 0}));
    std::atomic<bool> ends{false};
    std::atomic<std::uint64_t> torn{0};
    run_threads(3, [&](unsigned me) {
      if (me == 0) {
        for (std::uint64_t n = 1; n <= 3000; ++n) {
          m.modify("k", [n](numbers& v) {
            v[0] = n;
            v.push_back(n);
            v[1] = n;
            v.pop_back();
          });
          m.insert("other " + std::to_string(n), numbers{n});
        }
        ends = true;
      } else {
        while (!ends) {
          m.visit("k", [&](const numbers& v) { torn += v.size() != 2 || v[0] != v[1] ? 1 : 0; });
        }
      }
    });
    EXPECT_EQ(torn, 0u);
  }
}

TYPED_TEST(in_place, calls_about_the_entry_that_is_shown_are_refused) {
  if (!cubby::detail::fail::checks) GTEST_SKIP() << "this build does not look for them";
  typename TypeParam::map m;
  ASSERT_TRUE(m.insert("k", numbers{1}));
  ASSERT_TRUE(m.insert("l", numbers{1}));
  EXPECT_THROW(m.modify("k", [&](numbers&) { (void)m.find("k"); }), cubby::self_deadlock);
  EXPECT_THROW(m.modify("k", [&](numbers&) { m.erase("k"); }), cubby::self_deadlock);
  EXPECT_THROW(m.visit("k", [&](const numbers&) { m.modify("k", [](numbers&) {}); }), cubby::self_deadlock);
  EXPECT_TRUE(m.modify("k", [&](numbers& v) { v.push_back(m.find("l")->size()); })) << "another entry may be asked for";
  EXPECT_EQ(m.find("k"), (numbers{1, 1}));
}

} // namespace
} // namespace cubby_test
