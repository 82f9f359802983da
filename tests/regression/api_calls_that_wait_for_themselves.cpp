// SPDX-License-Identifier: Apache-2.0
// A change inside the function of another change of the same entry, and a call that waits for a reservation of its own
// thread: neither could ever end. Debug builds throw `self_deadlock` and leave the entry as it was; what does end goes on.
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "engines.hpp"

namespace cubby_test {
namespace {

template <class Mode> class calls_that_wait_for_themselves : public ::testing::Test {
protected:
  void SetUp() override {
    if (!cubby::detail::fail::checks) GTEST_SKIP() << "this build does not look for them";
  }
};
TYPED_TEST_SUITE(calls_that_wait_for_themselves, every_mode);

TYPED_TEST(calls_that_wait_for_themselves, are_refused_when_one_changes_what_another_is_shown) {
  using map = typename TypeParam::map;
  using V = typename map::mapped_type;
  map m(tiny_options());
  const auto key = TypeParam::key(1);
  const auto value = [](std::uint64_t n) { return TypeParam::value(n); };
  ASSERT_TRUE(m.insert(key, value(0)));
  ASSERT_TRUE(m.insert(TypeParam::key(2), value(0)));
  std::uint64_t n = 0; // no two values are the same, so that no inner call is without effect
  const auto fresh = [&](const V&) { return value(++n); };
  const std::function<void()> inner[] = {
      [&] { (void)m.update(key, fresh); },
      [&] { (void)m.assign(key, value(++n)); },
      [&] { (void)m.insert_or_assign(key, value(++n)); },
      [&] { (void)m.insert_or_update(key, fresh, value(++n)); },
      [&] { (void)m.compute(key, [&](const V*) -> cubby::computed<V> { return value(++n); }); },
  };
  for (const auto& call : inner) {
    const auto outer = [&](const V&) {
      call();
      return value(++n);
    };
    EXPECT_THROW((void)m.update(key, outer), cubby::self_deadlock);
    EXPECT_THROW((void)m.insert_or_update(key, outer, value(0)), cubby::self_deadlock);
    EXPECT_THROW((void)m.compute(key, [&](const V* v) -> cubby::computed<V> { return outer(*v); }),
                 cubby::self_deadlock);
    EXPECT_THROW((void)m.erase_if(key,
                                  [&](const V& v) {
                                    outer(v);
                                    return true;
                                  }),
                 cubby::self_deadlock);
    ASSERT_EQ(m.find(key), value(0));
  }
  EXPECT_TRUE(m.update(key, fresh)) << "what was refused is forgotten";
}

TYPED_TEST(calls_that_wait_for_themselves, are_refused_when_one_has_the_entry_to_itself) {
  using map = typename TypeParam::map;
  if constexpr (!map::capabilities.exclusive_modify) {
    GTEST_SKIP() << "this engine has no modify";
  } else {
    using V = typename map::mapped_type;
    map m(tiny_options());
    const auto key = TypeParam::key(1);
    ASSERT_TRUE(m.insert(key, TypeParam::value(1)));
    ASSERT_TRUE(m.insert(TypeParam::key(2), TypeParam::value(2)));
    EXPECT_THROW((void)m.modify(key, [&](V&) { m.erase(key); }), cubby::self_deadlock);
    EXPECT_THROW((void)m.modify(key, [&](V&) { (void)m.extract(key); }), cubby::self_deadlock);
    EXPECT_THROW((void)m.modify(key, [&](V&) { (void)m.modify(key, [](V&) {}); }), cubby::self_deadlock);
    EXPECT_THROW((void)m.modify(key, [&](V&) { m.clear(); }), cubby::self_deadlock);
    EXPECT_EQ(m.find(key), TypeParam::value(1));
  }
}

TYPED_TEST(calls_that_wait_for_themselves, are_told_from_those_that_end) {
  using map = typename TypeParam::map;
  using V = typename map::mapped_type;
  map m(tiny_options());
  map other(tiny_options());
  const auto key = TypeParam::key(1);
  ASSERT_TRUE(m.insert(key, TypeParam::value(1)));
  ASSERT_TRUE(other.insert(key, TypeParam::value(1)));
  for (std::uint64_t n = 2; n < 50; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
  std::uint64_t runs = 0;
  EXPECT_TRUE(m.update(key, [&](const V& v) {
    ++runs;
    EXPECT_TRUE(m.contains(key));
    EXPECT_TRUE(other.assign(key, v)) << "of another table";
    for (std::uint64_t n = 2; n < 50; ++n) EXPECT_TRUE(m.assign(TypeParam::key(n), v)) << "of another entry";
    EXPECT_FALSE(m.insert(key, v));
    return TypeParam::value(7);
  }));
  EXPECT_GE(runs, 1u);
  EXPECT_EQ(m.find(key), TypeParam::value(7));
  EXPECT_FALSE(m.update(key, [&](const V&) {
    m.erase(key);
    return TypeParam::value(8);
  })) << "an erase inside leaves nothing to change";
}

/// Keys of one hash that are not the same.
struct same_hash {
  std::uint64_t operator()(const std::string&) const { return 7; }
};
TEST(calls_that_wait_for_themselves_not, are_those_of_another_key_with_the_same_hash) {
  cubby::map<std::string, int, cubby::dlht, same_hash> m;
  ASSERT_TRUE(m.insert("one", 1));
  ASSERT_TRUE(m.insert("two", 2));
  EXPECT_TRUE(m.update("one", [&](int v) {
    EXPECT_TRUE(m.assign("two", 3));
    return v + 1;
  }));
  EXPECT_EQ(m.find("one"), 2);
}

TYPED_TEST(calls_that_wait_for_themselves, are_refused_for_a_reservation_of_their_own) {
  using map = typename TypeParam::map;
  using V = typename map::mapped_type;
  if constexpr (!map::capabilities.shadow_insert) {
    GTEST_SKIP() << "this engine claims no shadow inserts";
  } else {
    map m(tiny_options());
    const auto key = TypeParam::key(1);
    const auto value = TypeParam::value(1);
    {
      const auto mine = m.shadow_insert(key, value);
      ASSERT_TRUE(mine);
      EXPECT_THROW((void)m.insert_or_assign(key, value), cubby::self_deadlock);
      EXPECT_THROW((void)m.insert_or_update(key, [](const V& v) { return v; }, value), cubby::self_deadlock);
      EXPECT_THROW((void)m.compute(key, [&](const V*) -> cubby::computed<V> { return value; }), cubby::self_deadlock);
      EXPECT_TRUE(m.insert_or_assign(TypeParam::key(2), value));
    }
    EXPECT_TRUE(m.insert_or_assign(key, value)) << "the reservation has ended";
    ASSERT_TRUE(m.erase(key));
    if constexpr (!map::capabilities
                       .one_thread_only) { // a reservation that another thread has been given is waited for
      auto mine = m.shadow_insert(key, value);
      std::thread theirs([given = std::move(mine)]() mutable {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        given.commit();
      });
      EXPECT_FALSE(m.insert_or_assign(key, TypeParam::value(2)));
      theirs.join();
      EXPECT_EQ(m.find(key), TypeParam::value(2));
    }
  }
}

/// Long texts in key records whose hashes and sizes are the same.
struct one_hash_for_all {
  using is_transparent = void;
  std::uint64_t operator()(std::string_view) const noexcept { return 5; }
};
template <class Engine> void change_another_long_text() {
  cubby::map<std::string, std::uint64_t, Engine, one_hash_for_all> m(tiny_options());
  const std::string one(100, 'a');
  const std::string other(100, 'b');
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(m.insert(one, 1));
    ASSERT_TRUE(m.insert(other, 1));
    EXPECT_THROW((void)m.modify(one, [&](std::uint64_t&) { m.erase(one); }), cubby::self_deadlock);
    EXPECT_TRUE(m.modify(one, [&](std::uint64_t&) { EXPECT_TRUE(m.assign(other, 2)); }));
    EXPECT_TRUE(m.modify(one, [&](std::uint64_t&) { EXPECT_TRUE(m.erase(other)); }));
    ASSERT_TRUE(m.erase(one));
  }
}
TEST(calls_about_another_key, are_not_refused_for_an_equal_hash_and_size) {
  if (!cubby::detail::fail::checks) GTEST_SKIP() << "this build does not look for them";
  change_another_long_text<cubby::iceberg>();
  change_another_long_text<cubby::iceberg_wide>();
}

} // namespace
} // namespace cubby_test
