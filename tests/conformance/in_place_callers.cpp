// SPDX-License-Identifier: Apache-2.0
// What the code of a caller may do while an `in_place_map` runs it. It may change or move from the key that it gave, throw in a hash, and
// destroy values whose destructors ask for the entry that is held. No entry stays that nobody can reach.
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <cubby/rcu.hpp>

#include "in_place.hpp"

namespace cubby_test {
namespace {

template <class Table> class in_place_callers : public testing::Test {};
TYPED_TEST_SUITE(in_place_callers, every_table_in_place);

const char* const long_text = "a text that is too long for a slot and for a small buffer";
const char* const other_text = "another text, as long as the first one, of another key......";

/// The key is absent, and can be inserted again.
template <class Map, class K> void expect_gone(Map& m, const K& k) {
  ASSERT_EQ(m.size(), 0u); // calls about an entry that stays without a value would wait for ever
  EXPECT_FALSE(m.contains(k));
  EXPECT_TRUE(m.try_emplace(k));
  EXPECT_TRUE(m.erase(k));
  EXPECT_EQ(m.size(), 0u);
}

TYPED_TEST(in_place_callers, a_function_may_change_the_key_of_its_call) {
  for (const std::string text : {"short", long_text}) {
    typename TypeParam::map m;
    ASSERT_TRUE(m.try_emplace(text));
    std::string key = text;
    EXPECT_TRUE(m.erase_if(key, [&](numbers&) {
      key.replace(0, key.size(), other_text, key.size());
      return true;
    }));
    expect_gone(m, text);
    ASSERT_TRUE(m.try_emplace(text));
    key = text;
    EXPECT_TRUE(m.erase_if(key, [&](numbers&) {
      key = std::string(); // its memory is freed
      key.shrink_to_fit();
      return true;
    }));
    expect_gone(m, text);
  }
  cubby::in_place_map<std::uint64_t, numbers, typename TypeParam::engine> m;
  ASSERT_TRUE(m.try_emplace(1));
  std::uint64_t key = 1;
  EXPECT_TRUE(m.erase_if(key, [&](numbers&) {
    key = 2;
    return true;
  }));
  expect_gone(m, std::uint64_t{1});
}

struct named {
  std::string name;
};
struct of_a_name {
  of_a_name() = default;
  explicit of_a_name(named&& from) : name(std::move(from.name)) { throw std::runtime_error("not made"); }
  std::string name;
};
TYPED_TEST(in_place_callers, a_constructor_that_throws_may_have_moved_from_the_key) {
  for (const std::string text : {"short", long_text}) {
    cubby::in_place_map<std::string, of_a_name, typename TypeParam::engine> m;
    named from{text};
    EXPECT_THROW(m.try_emplace(from.name, std::move(from)), std::runtime_error);
    expect_gone(m, text);
  }
}
TYPED_TEST(in_place_callers, a_function_that_throws_about_a_new_value_may_have_changed_the_key) {
  typename TypeParam::map m;
  std::string key = long_text;
  EXPECT_THROW(m.emplace_and_modify(key,
                                    [&](numbers&) {
                                      key = other_text;
                                      throw std::runtime_error("no");
                                    }),
               std::runtime_error);
  expect_gone(m, std::string(long_text));
}

/// A key that is an object. Its hash throws after so many calls.
struct object_key {
  std::string text;
  friend bool operator==(const object_key&, const object_key&) = default;
};
struct counted_hash {
  inline static int left = 1 << 30;
  std::uint64_t operator()(const object_key& k) const {
    if (left-- == 0) throw std::runtime_error("no hash");
    return std::hash<std::string>()(k.text);
  }
};
template <class Engine, class V> using objects_of = cubby::in_place_map<object_key, V, Engine, counted_hash>;

/// Runs `f` with a hash that serves one call.
template <class F> void with_one_hash(F f) {
  counted_hash::left = 1;
  f();
  counted_hash::left = 1 << 30;
}
TYPED_TEST(in_place_callers, no_hash_is_computed_after_the_callers_code) {
  const object_key key{long_text};
  objects_of<typename TypeParam::engine, std::unique_ptr<int>> m;
  ASSERT_TRUE(m.try_emplace(key, std::make_unique<int>(7)));
  with_one_hash([&] {
    const auto out = m.extract(key);
    ASSERT_TRUE(out);
    EXPECT_EQ(**out, 7) << "the value is lost";
  });
  expect_gone(m, key);
  objects_of<typename TypeParam::engine, of_a_name> other;
  with_one_hash([&] { EXPECT_THROW(other.try_emplace(key, named{"x"}), std::runtime_error); });
  expect_gone(other, key);
  ASSERT_TRUE(other.try_emplace(key));
  counted_hash::left = 0;
  EXPECT_EQ(other.erase_if([](const object_key&, of_a_name&) { return true; }), 1u);
  counted_hash::left = 1 << 30;
  EXPECT_TRUE(other.empty());
}

/// Calls a function when it goes.
struct teller {
  std::function<void()>* last = nullptr;
  explicit teller(std::function<void()>* f = nullptr) : last(f) {}
  teller(const teller&) = delete;
  ~teller() {
    if (last != nullptr) (*last)();
  }
};
TYPED_TEST(in_place_callers, a_destructor_of_a_value_that_was_given_up_may_ask_for_its_key) {
  unsigned told = 0;
  std::function<void()> tell;
  cubby::in_place_map<std::uint64_t, teller, typename TypeParam::engine> m;
  tell = [&] { told += m.contains(7) ? 100 : 1; };
  const auto fails = [](teller&) { throw std::runtime_error("no"); };
  EXPECT_THROW(m.emplace_and_modify(7, fails, &tell), std::runtime_error);
  EXPECT_EQ(told, 1u) << "the key is there, or the value was destroyed twice";
  expect_gone(m, std::uint64_t{7});
}

/// Waits for the readers of its image when it is made.
struct patient {
  cubby::rcu::waited how;
  patient() : how(cubby::rcu::synchronize(nullptr, 1'000'000'000)) {}
};
TYPED_TEST(in_place_callers, a_constructor_runs_in_a_guard_and_does_not_wait_for_readers) {
  if constexpr (!TypeParam::is_shared) {
    GTEST_SKIP() << "this engine has no readers";
  } else {
    cubby::in_place_map<std::uint64_t, patient, typename TypeParam::engine> m;
    ASSERT_TRUE(m.try_emplace(1));
    m.visit(1, [](const patient& v) { EXPECT_EQ(v.how, cubby::rcu::waited::inside); });
  }
}

} // namespace
} // namespace cubby_test
