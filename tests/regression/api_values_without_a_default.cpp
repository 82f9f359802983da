// SPDX-License-Identifier: Apache-2.0
// A small value that has no default constructor. Every operation of every table takes it, in slots, in tuples and in
// records. So do batches and pipelines, in which a request may then come without a value.
#include <functional>
#include <vector>

#include <cubby/coro.hpp>
#include <cubby/pipeline.hpp>

#include "engines.hpp"

namespace cubby_test {
namespace {

using cubby::outcome;

int things[8] = {10, 11, 12, 13, 14, 15, 16, 17};

using small_value = std::reference_wrapper<int>;
static_assert(cubby::mode_of<int, small_value> == cubby::storage_mode::words);
/// The same in a record.
struct large_value {
  small_value of;
  std::string note = "a note that is longer than any slot";
  large_value(int& n) : of(n) {}
  operator int&() const { return of; }
};

template <class Engine, class Value, class Key = int> struct kept {
  using map = cubby::map<Key, Value, Engine>;
};
template <class Engine> using small_kept = ::testing::Types<kept<Engine, small_value>>;
using kinds = join<join_over<small_kept, every_plain_engine>,
                   ::testing::Types<kept<cubby::dlht, small_value, std::string>, kept<cubby::dramhit, large_value>>>;

template <class Kind> class values_without_a_default : public ::testing::Test {
protected:
  using table = typename Kind::map;
  using key_type = typename table::key_type;
  using value_type = typename table::mapped_type;
  static key_type key(int n) {
    if constexpr (std::is_same_v<key_type, int>) {
      return n;
    } else {
      return key_type(static_cast<std::size_t>(n), 'k');
    }
  }
  static value_type value(int n) { return value_type(things[n]); }
  static int* place(const value_type& v) { return &static_cast<int&>(v); }
  static int* place(const std::optional<value_type>& v) { return v ? place(*v) : nullptr; }
};
TYPED_TEST_SUITE(values_without_a_default, kinds);

TYPED_TEST(values_without_a_default, are_inserted_changed_and_found) {
  typename TestFixture::table m(tiny_options());
  const auto key = [](int n) { return TestFixture::key(n); };
  const auto value = [](int n) { return TestFixture::value(n); };
  const auto at = [&](int n) { return TestFixture::place(m.find(key(n))); };
  using V = typename TestFixture::value_type;
  ASSERT_TRUE(m.insert(key(1), value(1)));
  ASSERT_TRUE(m.try_emplace(key(2), things[2]));
  ASSERT_TRUE(m.insert_or_assign(key(3), value(3)));
  ASSERT_TRUE(m.insert_or_update(key(4), [&](const V&) { return value(0); }, things[4]));
  for (int n = 1; n < 5; ++n) ASSERT_EQ(at(n), &things[n]) << n;
  ASSERT_TRUE(m.assign(key(1), value(5)));
  ASSERT_TRUE(m.update(key(2), [&](const V&) { return value(6); }));
  ASSERT_FALSE(m.insert_or_update(key(3), [&](const V&) { return value(7); }, things[0]));
  ASSERT_EQ(m.compute(key(4), [&](const V*) -> cubby::computed<V> { return value(0); }), cubby::change::replaced);
  ASSERT_EQ(at(1), &things[5]);
  ASSERT_EQ(at(2), &things[6]);
  ASSERT_EQ(at(3), &things[7]);
  ASSERT_EQ(at(4), &things[0]);
  if constexpr (TestFixture::table::capabilities.exclusive_modify) {
    ASSERT_TRUE(m.modify(key(4), [&](V& v) { v = value(1); }));
    ASSERT_EQ(at(4), &things[1]);
  }
  EXPECT_EQ(TestFixture::place(m.extract(key(4))),
            things + (TestFixture::table::capabilities.exclusive_modify ? 1 : 0));
  EXPECT_TRUE(m.erase_if(key(3), [&](const V& v) { return TestFixture::place(v) == &things[7]; }));
  EXPECT_EQ(m.erase_if([](const auto&, const V&) { return true; }), 2u);
}

TYPED_TEST(values_without_a_default, are_looked_up_together_and_as_coroutines) {
  typename TestFixture::table m(tiny_options());
  using map = typename TestFixture::table;
  using V = typename TestFixture::value_type;
  std::vector<typename TestFixture::key_type> keys;
  for (int n = 0; n < 8; ++n) {
    keys.push_back(TestFixture::key(n));
    ASSERT_TRUE(n == 3 || m.insert(keys.back(), TestFixture::value(n)));
  }
  std::vector<V> values(8, TestFixture::value(0));
  bool found[8] = {};
  EXPECT_EQ(m.find_batch(keys, values, found), 7u);
  for (int n = 0; n < 8; ++n)
    EXPECT_EQ(TestFixture::place(values[static_cast<std::size_t>(n)]), things + (n == 3 ? 0 : n));
  EXPECT_EQ(m.visit_batch(keys, [](std::size_t, const V*) {}), 7u);
  if constexpr (map::capabilities.prefetch) {
    int* seen = nullptr;
    const auto look = [](const map& in, typename TestFixture::key_type k, int*& out) -> cubby::task {
      out = TestFixture::place(co_await in.async_find(k));
    };
    cubby::round_robin tasks;
    tasks.spawn(look(m, keys[5], seen));
    tasks.run();
    EXPECT_EQ(seen, &things[5]);
  }
  if constexpr (map::capabilities.snapshot) {
    EXPECT_EQ(m.snapshot().size(), 7u);
  }
  if constexpr (map::capabilities.shadow_insert) {
    m.shadow_insert(keys[3], things[3]).commit();
    EXPECT_EQ(TestFixture::place(m.find(keys[3])), &things[3]);
  }
}

TYPED_TEST(values_without_a_default, go_through_batches) {
  typename TestFixture::table m(tiny_options());
  const auto key = TestFixture::key(1);
  const typename TestFixture::table::request_type asked[] = {
      {cubby::verb::insert, key, TestFixture::value(1)}, {cubby::verb::find, key},
      {cubby::verb::assign, key, TestFixture::value(2)}, {cubby::verb::insert_or_assign, key, TestFixture::value(3)},
      {cubby::verb::insert, TestFixture::key(2)},        {cubby::verb::erase, key}};
  typename TestFixture::table::reply_type answers[6];
  EXPECT_EQ(m.execute(asked, answers), 6u);
  for (const int n : {0, 1, 2, 3, 5}) EXPECT_EQ(answers[n].result, outcome::done) << n;
  EXPECT_EQ(answers[4].result, outcome::not_executed) << "it has no value to insert";
  EXPECT_EQ(TestFixture::place(answers[1].value), &things[1]);
  EXPECT_EQ(TestFixture::place(answers[5].value), &things[3]);
  EXPECT_TRUE(m.empty());
}

template <class Map, class Fixture> void go_through_a_pipeline() {
  Map m(tiny_options());
  std::vector<std::pair<std::uint64_t, outcome>> said;
  int* found = nullptr;
  {
    auto h = m.handle();
    auto p = h.pipeline([&](auto&& answer) {
      said.emplace_back(answer.tag, answer.result);
      if (answer.tag == 2) found = Fixture::place(answer.value);
    });
    p.insert(Fixture::key(1), Fixture::value(1), 1);
    p.drain();
    p.find(Fixture::key(1), 2);
    p.drain();
    p.insert_or_assign(Fixture::key(1), Fixture::value(2), 3);
    p.drain();
    p.assign(Fixture::key(1), Fixture::value(3), 4);
    p.drain();
    p.erase(Fixture::key(1), 5);
    p.drain();
  }
  ASSERT_EQ(said.size(), 5u);
  for (std::size_t n = 0; n < said.size(); ++n) EXPECT_EQ(said[n], std::pair(n + 1, outcome::done));
  EXPECT_EQ(found, &things[1]);
  auto pending = m.handle().pipeline();
  pending.submit({cubby::verb::insert, Fixture::key(2)}, [](auto&&) {});
  pending.drain([](auto&& answer) { EXPECT_EQ(answer.result, outcome::not_executed) << "it has no value to insert"; });
  EXPECT_TRUE(m.empty());
}

TYPED_TEST(values_without_a_default, go_through_pipelines) {
  if constexpr (!TestFixture::table::capabilities.pipelined) {
    GTEST_SKIP() << "this engine claims no pipelines";
  } else {
    struct names : TestFixture {
      using TestFixture::key;
      using TestFixture::place;
      using TestFixture::value;
    };
    go_through_a_pipeline<typename TestFixture::table, names>();
  }
}

} // namespace
} // namespace cubby_test
