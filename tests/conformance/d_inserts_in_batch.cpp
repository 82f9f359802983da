// SPDX-License-Identifier: Apache-2.0
// Guarantee D of `insert_batch` and `insert_range`: inserts take effect in their order, each on its own, and each answer is that of
// `try_insert`. The table grows under them, and a lack of space loses nothing that was inserted.
#include <iterator>
#include <list>
#include <sstream>
#include <string_view>
#include <vector>

#include <cubby/set.hpp>

#include "engines.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

using cubby::outcome;

template <class Mode>
class d_inserts_in_batch : public ::testing::Test {
protected:
  using key_type = typename Mode::key_type;
  using mapped_type = typename Mode::mapped_type;

  void add(std::uint64_t n, std::uint64_t v) {
    keys.push_back(Mode::key(n));
    values.push_back(Mode::value(v));
  }
  std::size_t run(auto& table) {
    results.assign(keys.size(), outcome::not_executed);
    return table.insert_batch(keys, values, results);
  }

  typename Mode::map map{tiny_options()};
  std::vector<key_type> keys;
  std::vector<mapped_type> values;
  std::vector<outcome> results;
};
TYPED_TEST_SUITE(d_inserts_in_batch, main_modes);

TYPED_TEST(d_inserts_in_batch, the_first_of_equal_keys_is_inserted) {
  ASSERT_TRUE(this->map.insert(TypeParam::key(2), TypeParam::value(99)));
  for (const std::uint64_t n : {1u, 2u, 3u, 1u, 2u, 3u, 1u}) this->add(n, 10 + this->keys.size());
  EXPECT_EQ(this->run(this->map), 2u);
  constexpr outcome wanted[] = {outcome::done,   outcome::exists, outcome::done,  outcome::exists,
                                outcome::exists, outcome::exists, outcome::exists};
  for (std::size_t i = 0; i < this->results.size(); ++i) EXPECT_EQ(this->results[i], wanted[i]) << i;
  EXPECT_EQ(TypeParam::number(*this->map.find(TypeParam::key(1))), 10u);
  EXPECT_EQ(TypeParam::number(*this->map.find(TypeParam::key(2))), 99u);
  EXPECT_EQ(TypeParam::number(*this->map.find(TypeParam::key(3))), 12u);
}

TYPED_TEST(d_inserts_in_batch, every_size_and_growth_inside_a_batch) {
  auto h = this->map.handle();
  std::uint64_t next = 0;
  for (const std::size_t size : {0u, 1u, 31u, 32u, 33u, 64u, 65u, 700u}) {
    this->keys.clear();
    this->values.clear();
    for (std::size_t i = 0; i < size; ++i, ++next) this->add(next, next + 5);
    EXPECT_EQ(this->run(h), size);
    for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(this->results[i], outcome::done) << i << " of " << size;
  }
  EXPECT_EQ(this->map.size(), next);
  for (std::uint64_t n = 0; n < next; ++n) ASSERT_EQ(TypeParam::number(*this->map.find(TypeParam::key(n))), n + 5) << n;
}

TYPED_TEST(d_inserts_in_batch, the_shortest_of_the_three_counts) {
  for (std::uint64_t n = 0; n < 10; ++n) this->add(n, n);
  std::vector<outcome> few(4, outcome::full);
  EXPECT_EQ(this->map.insert_batch(this->keys, this->values, std::span(few).first(3)), 3u);
  EXPECT_EQ(few[2], outcome::done);
  EXPECT_EQ(few[3], outcome::full) << "not written";
  EXPECT_EQ(this->map.size(), 3u);
  this->values.resize(4);
  this->results.assign(10, outcome::full);
  EXPECT_EQ(this->map.insert_batch(this->keys, this->values, this->results), 1u);
  EXPECT_EQ(this->results[4], outcome::full) << "not written";
  EXPECT_EQ(this->map.size(), 4u);
}

TYPED_TEST(d_inserts_in_batch, a_full_table_refuses_the_rest_and_keeps_what_it_took) {
  table_options o = tiny_options(cubby::growth_policy::fixed);
  o.capacity = 50;
  typename TypeParam::map bounded(o);
  for (std::uint64_t n = 0; n < 80; ++n) this->add(n, n);
  this->add(0, 7);
  EXPECT_EQ(this->run(bounded), 50u);
  for (std::uint64_t n = 0; n < 80; ++n) EXPECT_EQ(this->results[n], n < 50 ? outcome::done : outcome::full) << n;
  EXPECT_EQ(this->results[80], outcome::exists) << "it is there, so no space is needed";
  typename TypeParam::map again(o);
  std::list<std::pair<typename TestFixture::key_type, typename TestFixture::mapped_type>> pairs;
  for (std::uint64_t n = 0; n < 80; ++n) pairs.emplace_back(TypeParam::key(n), TypeParam::value(n));
  EXPECT_THROW(again.insert_range(pairs), cubby::table_full);
  EXPECT_EQ(again.size(), 50u);
  for (std::uint64_t n = 0; n < 50; ++n) EXPECT_TRUE(again.contains(TypeParam::key(n))) << n;
}

TYPED_TEST(d_inserts_in_batch, a_range_is_inserted_once) {
  std::vector<std::pair<const typename TestFixture::key_type, typename TestFixture::mapped_type>> pairs;
  for (std::uint64_t n = 0; n < 300; ++n) pairs.emplace_back(TypeParam::key(n % 200), TypeParam::value(n));
  auto h = this->map.handle();
  EXPECT_EQ(h.insert_range(pairs), 200u);
  EXPECT_EQ(this->map.insert_range(std::span(pairs).first(10)), 0u);
  for (std::uint64_t n = 0; n < 200; ++n) ASSERT_EQ(TypeParam::number(*this->map.find(TypeParam::key(n))), n) << n;
}

TYPED_TEST(d_inserts_in_batch, a_range_of_more_than_one_pin) {
  constexpr std::uint64_t count = cubby::detail::elements_in_pin * 2 + 3;
  std::list<std::pair<typename TestFixture::key_type, typename TestFixture::mapped_type>> pairs;
  for (std::uint64_t n = 0; n < count; ++n) pairs.emplace_back(TypeParam::key(n), TypeParam::value(n));
  EXPECT_EQ(this->map.insert_range(pairs), count);
  EXPECT_EQ(this->map.size(), count);
  EXPECT_TRUE(this->map.contains(TypeParam::key(count - 1)));
}

/// `relativistic` resizes only while no pin is held.
TYPED_TEST(d_inserts_in_batch, a_table_grows_inside_a_large_batch) {
  constexpr std::uint64_t count = cubby::detail::elements_in_pin * 4 + 3;
  for (std::uint64_t n = 0; n < count; ++n) this->add(n % (count - 1), n);
  EXPECT_EQ(this->run(this->map), count - 1);
  EXPECT_EQ(this->results.back(), outcome::exists);
  EXPECT_GE(this->map.capacity(), count / 4);
  for (std::uint64_t n = 0; n + 1 < count; ++n) {
    ASSERT_EQ(this->results[n], outcome::done) << n;
    ASSERT_EQ(TypeParam::number(*this->map.find(TypeParam::key(n))), n) << n;
  }
}

template <class Mode>
class d_inserts_beside_others : public d_inserts_in_batch<Mode> {};
TYPED_TEST_SUITE(d_inserts_beside_others, shared_modes);

TYPED_TEST(d_inserts_beside_others, threads_insert_each_key_once) {
  constexpr std::uint64_t keys = 400;
  std::atomic<std::size_t> inserted{0};
  run_threads(2, [&](std::size_t who) {
    auto h = this->map.handle();
    std::vector<typename TestFixture::key_type> mine;
    std::vector<typename TestFixture::mapped_type> with;
    for (std::uint64_t i = 0; i < keys; ++i) {
      const std::uint64_t n = who == 0 ? i : keys - 1 - i;
      mine.push_back(TypeParam::key(n));
      with.push_back(TypeParam::value(n));
    }
    std::vector<outcome> how(keys, outcome::not_executed);
    inserted += h.insert_batch(mine, with, how);
  });
  EXPECT_EQ(inserted.load(), keys);
  EXPECT_EQ(this->map.size(), keys);
}

template <class Engine>
class d_inserts_of_ranges : public ::testing::Test {};
TYPED_TEST_SUITE(d_inserts_of_ranges, every_engine);

struct made_pair {
  std::string first;
  int second = 0;
};
/// Makes its elements when they are read: nothing of them stays.
struct maker {
  using value_type = made_pair;
  using difference_type = std::ptrdiff_t;
  using iterator_concept = std::random_access_iterator_tag;
  int n = 0;
  made_pair operator*() const { return {"a text of more than a few bytes " + std::to_string(n), n}; }
  maker& operator++() { return ++n, *this; }
  maker operator++(int) { return {n++}; }
  bool operator==(const maker&) const = default;
};
struct made_pairs {
  int count;
  [[nodiscard]] maker begin() const { return {0}; }
  [[nodiscard]] maker end() const { return {count}; }
};

TYPED_TEST(d_inserts_of_ranges, elements_that_are_made_when_they_are_read) {
  cubby::map<std::string, std::uint64_t, TypeParam> m(tiny_options());
  EXPECT_EQ(m.insert_range(made_pairs{100}), 100u);
  for (int n = 0; n < 100; ++n)
    EXPECT_EQ(m.find("a text of more than a few bytes " + std::to_string(n)), static_cast<std::uint64_t>(n));
}

TYPED_TEST(d_inserts_of_ranges, keys_and_values_of_other_types) {
  cubby::map<std::uint64_t, std::uint64_t, TypeParam> numbers(tiny_options());
  EXPECT_EQ(numbers.insert_range(std::vector<std::pair<int, short>>{{1, 2}, {3, 4}, {1, 5}}), 2u);
  EXPECT_EQ(numbers.find(1), 2u);
  EXPECT_EQ(numbers.find(3), 4u);
  cubby::map<std::string, std::string, TypeParam> texts(tiny_options());
  const std::vector<std::pair<std::string_view, const char*>> views{{"one", "1"}, {"two", "2"}};
  EXPECT_EQ(texts.insert_range(views), 2u);
  const std::pair<const char*, const char*> letters[] = {{"two", "3"}, {"three", "3"}};
  EXPECT_EQ(texts.insert_range(letters), 1u);
  EXPECT_EQ(texts.find("two"), "2");
  EXPECT_EQ(texts.find("three"), "3");
}

TYPED_TEST(d_inserts_of_ranges, sets_and_ranges_that_can_be_passed_once) {
  cubby::set<std::string, TypeParam> words(tiny_options());
  std::istringstream text("the cat and the dog and the bird");
  EXPECT_EQ(words.insert_range(std::vector<std::string_view>{"cat", "cow"}), 2u);
  struct once {
    std::istringstream& from;
    std::istream_iterator<std::string> begin() { return std::istream_iterator<std::string>(from); }
    std::istream_iterator<std::string> end() { return {}; }
  };
  EXPECT_EQ(words.insert_range(once{text}), 4u);
  EXPECT_EQ(words.size(), 6u);
  const std::string_view more[] = {"bird", "hen", "hen"};
  outcome how[3] = {};
  EXPECT_EQ(words.insert_batch(more, how), 1u);
  EXPECT_EQ(how[0], outcome::exists);
  EXPECT_EQ(how[1], outcome::done);
  EXPECT_EQ(how[2], outcome::exists);
  cubby::set<std::uint32_t, TypeParam> numbers(tiny_options());
  EXPECT_EQ(numbers.insert_range(std::list<int>{1, 2, 2, 3}), 3u);
}

/// Runs a function before it gives the next of its elements, of which each can be read once.
template <class F> struct stream_of_texts {
  using value_type = std::string;
  using difference_type = std::ptrdiff_t;
  int left;
  F* before_next;
  std::string operator*() const { return "a text of more than a few bytes " + std::to_string(left); }
  stream_of_texts& operator++() {
    (*before_next)();
    return --left, *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const { return left == 0; }
};
template <class F> struct streamed_texts {
  F before_next;
  [[nodiscard]] stream_of_texts<F> begin() { return {8, &before_next}; }
  [[nodiscard]] std::default_sentinel_t end() { return {}; }
};

TYPED_TEST(d_inserts_of_ranges, a_range_that_waits_for_its_next_element_holds_back_nothing) {
  cubby::map<std::string, std::string, TypeParam> others(tiny_options());
  cubby::set<std::string, TypeParam> words(tiny_options());
  std::size_t held_back = 0;
  const auto before_next = [&] {
    others.insert_or_assign("a key of more than 8 bytes", "a value");
    others.insert_or_assign("a key of more than 8 bytes", "another value");
    others.shrink_to_fit();
    held_back += others.stats().retired;
  };
  EXPECT_EQ(words.insert_range(streamed_texts<decltype(before_next)>{before_next}), 8u);
  EXPECT_EQ(held_back, 0u);
}

} // namespace
} // namespace cubby_test
