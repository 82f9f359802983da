// SPDX-License-Identifier: Apache-2.0
// Batches, requests and pipelines take what a lookup takes: a view of the text instead of a string. A key is made only where it
// is stored, and the answers are those of keys.
#include <array>
#include <string>
#include <string_view>

#include <cubby/pipeline.hpp>
#include <cubby/set.hpp>

#include "engines.hpp"

namespace cubby_test {
namespace {

using cubby::outcome;

/// An object that counts how often one is made, and how often its text is hashed.
struct counted_name {
  std::string text;
  static inline int made = 0;
  counted_name(std::string_view from = {}) : text(from) { ++made; }
  counted_name(const counted_name& other) : text(other.text) { ++made; }
  counted_name& operator=(const counted_name&) = default;
  friend bool operator==(const counted_name& a, const counted_name& b) { return a.text == b.text; }
  friend bool operator==(const counted_name& a, std::string_view b) { return a.text == b; }
};
struct counted_hash {
  using is_transparent = void;
  static inline int calls = 0;
  std::uint64_t operator()(std::string_view text) const {
    ++calls;
    return std::hash<std::string_view>()(text);
  }
  std::uint64_t operator()(const counted_name& name) const { return (*this)(std::string_view(name.text)); }
};

template <class Engine>
class views_of_keys : public ::testing::Test {
protected:
  using texts = cubby::map<std::string, std::uint64_t, Engine>;
  using names = cubby::map<counted_name, std::uint64_t, Engine, counted_hash>;
  /// Of up to 8 bytes, which lie in the slot, and of more.
  static std::string text(std::size_t n) { return n % 2 == 0 ? std::to_string(n) : "a long key " + std::to_string(n); }
  static std::vector<std::string> all_texts() {
    std::vector<std::string> all;
    for (std::size_t n = 0; n < 70; ++n) all.push_back(text(n));
    return all;
  }
  /// Of which the first byte behind the text is not the end: nothing may read on.
  static std::vector<std::string_view> views_of(const std::string& all, const std::vector<std::string>& of) {
    std::vector<std::string_view> views;
    std::size_t at = 0;
    for (const std::string& one : of) {
      views.push_back(std::string_view(all).substr(at, one.size()));
      at += one.size();
    }
    return views;
  }
  static std::string joined(const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& one : all) text += one;
    return text;
  }

  const std::vector<std::string> strings = all_texts();
  const std::string together = joined(strings);
  const std::vector<std::string_view> views = views_of(together, strings);
};
TYPED_TEST_SUITE(views_of_keys, every_engine);

/// Every third key is there.
template <class Map> void fill_for_views(Map& m, const std::vector<std::string>& keys) {
  for (std::size_t n = 0; n < keys.size(); n += 3) ASSERT_TRUE(m.insert(std::string_view(keys[n]), n));
}

TYPED_TEST(views_of_keys, make_values_of_text_as_well) {
  cubby::map<std::string, std::string, TypeParam> m;
  const std::string_view key = "a key";
  EXPECT_TRUE(m.insert(key, std::string_view("one")));
  EXPECT_FALSE(m.insert_or_assign(key, std::string_view("two")));
  EXPECT_EQ(m.find(key), "two");
  EXPECT_TRUE(m.assign(key, std::string_view("three")));
  EXPECT_EQ(m.find(key), "three");
  const std::pair<std::string_view, std::string_view> more[] = {{key, "four"}, {"another", "five"}};
  EXPECT_EQ(m.insert_range(more), 1U);
  EXPECT_EQ(m.find("another"), "five");
}

TYPED_TEST(views_of_keys, in_batches_of_finds_find_what_keys_find) {
  typename TestFixture::texts m(tiny_options());
  fill_for_views(m, this->strings);
  const std::size_t count = this->views.size();
  std::vector<std::uint64_t> values(count), again(count);
  const auto found = std::make_unique<bool[]>(count);
  const std::span<bool> flags(found.get(), count);
  auto h = m.handle();
  EXPECT_EQ(m.find_batch(this->views, values, flags), (count + 2) / 3);
  EXPECT_EQ(h.find_batch(std::span(this->views), again, flags), (count + 2) / 3);
  EXPECT_EQ(values, again);
  for (std::size_t n = 0; n < count; ++n) {
    EXPECT_EQ(found[n], n % 3 == 0);
    EXPECT_EQ(values[n], n % 3 == 0 ? n : 0);
  }
  std::size_t seen = 0;
  const auto look = [&](std::size_t n, const std::uint64_t* value) {
    ASSERT_EQ(value != nullptr, n % 3 == 0);
    if (value != nullptr) seen += *value == n ? 1 : 0;
  };
  EXPECT_EQ(m.visit_batch(this->views, look), (count + 2) / 3);
  EXPECT_EQ(seen, (count + 2) / 3);
  EXPECT_EQ(m.find_batch(this->strings, values, flags), (count + 2) / 3) << "keys go on";
  EXPECT_EQ(m.find_batch({this->strings.data(), 2}, values, flags), 1u) << "a pointer and a count go on";
  const char* const literals[] = {"0", "none"};
  EXPECT_EQ(m.find_batch(literals, values, flags), 1u);
}

TYPED_TEST(views_of_keys, in_batches_of_a_set_find_what_keys_find) {
  cubby::set<std::string, TypeParam> s(tiny_options());
  for (std::size_t n = 0; n < this->strings.size(); n += 3) ASSERT_TRUE(s.insert(this->strings[n]));
  const std::size_t count = this->views.size();
  const auto found = std::make_unique<bool[]>(count);
  EXPECT_EQ(s.contains_batch(this->views, std::span(found.get(), count)), (count + 2) / 3);
  for (std::size_t n = 0; n < count; ++n) EXPECT_EQ(found[n], n % 3 == 0);
  const std::array<cubby::request<std::string_view>, 2> asked{
      {{cubby::verb::insert, "new"}, {cubby::verb::find, "new"}}};
  std::array<cubby::reply<>, 2> replies;
  EXPECT_EQ(s.execute(asked, replies, cubby::batch_policy::stop_at_first_failure), 2u);
  EXPECT_TRUE(s.contains("new"));
}

TYPED_TEST(views_of_keys, in_requests_of_a_batch_do_what_keys_do) {
  typename TestFixture::texts by_view(tiny_options()), by_key(tiny_options());
  fill_for_views(by_view, this->strings);
  fill_for_views(by_key, this->strings);
  std::vector<cubby::request<std::string_view, std::uint64_t>> of_text;
  std::vector<typename TestFixture::texts::request_type> keys;
  for (std::size_t n = 0; n < this->views.size(); ++n) {
    const auto what = static_cast<cubby::verb>(n % 6);
    of_text.push_back({what, this->views[n], n, n});
    keys.push_back({what, this->strings[n], n, n});
  }
  std::vector<cubby::reply<std::uint64_t>> of_views(of_text.size()), of_keys(keys.size());
  EXPECT_EQ(by_view.execute(of_text, of_views), of_text.size());
  EXPECT_EQ(by_key.execute(keys, of_keys), keys.size());
  for (std::size_t n = 0; n < of_text.size(); ++n) {
    EXPECT_EQ(of_views[n].result, of_keys[n].result) << n;
    EXPECT_EQ(of_views[n].value, of_keys[n].value) << n;
    EXPECT_EQ(by_view.find(this->strings[n]), by_key.find(this->strings[n])) << n;
  }
  EXPECT_EQ(by_view.size(), by_key.size());
}

/// A find, an assign, an erase, and an insert of what is there make no key. Each request's text is hashed once.
TYPED_TEST(views_of_keys, in_a_batch_make_a_key_only_where_it_is_stored) {
  typename TestFixture::names m;
  for (const char* key : {"one", "two", "three"}) ASSERT_TRUE(m.insert(counted_name(key), 1));
  std::array<std::uint64_t, 3> values{};
  std::array<bool, 3> found{};
  counted_name::made = 0;
  const std::array<std::string_view, 3> asked{"one", "none", "three"};
  EXPECT_EQ(m.find_batch(asked, values, found), 2u);
  EXPECT_EQ(m.visit_batch(asked, [](std::size_t, const std::uint64_t*) {}), 2u);
  EXPECT_EQ(counted_name::made, 0);
  const std::vector<cubby::request<std::string_view, std::uint64_t>> requests{{cubby::verb::find, "one"},
                                                                              {cubby::verb::insert, "two", 2},
                                                                              {cubby::verb::assign, "none", 2},
                                                                              {cubby::verb::erase, "none"},
                                                                              {cubby::verb::find, "none"}};
  std::vector<cubby::reply<std::uint64_t>> replies(requests.size());
  counted_hash::calls = 0;
  EXPECT_EQ(m.execute(requests, replies), requests.size());
  EXPECT_EQ(counted_hash::calls, 5) << "one for each request";
  EXPECT_EQ(counted_name::made, 0);
  const std::vector<cubby::request<std::string_view, std::uint64_t>> stores{{cubby::verb::insert, "four", 4}};
  EXPECT_EQ(m.execute(stores, replies), 1u);
  EXPECT_EQ(counted_name::made, 1);
  EXPECT_EQ(m.find("four"), 4u);
}

TYPED_TEST(views_of_keys, in_a_pipeline_do_what_keys_do) {
  if constexpr (!TestFixture::texts::capabilities.pipelined) {
    GTEST_SKIP() << "this engine claims no pipelines";
  } else {
    typename TestFixture::texts m(tiny_options());
    fill_for_views(m, this->strings);
    auto h = m.handle();
    std::size_t right = 0;
    auto p = h.template pipeline<std::string_view>(
        [&](auto&& r) {
          const bool there = r.tag % 3 == 0;
          right += r.value.has_value() == there && (!there || *r.value == r.tag) ? 1 : 0;
        },
        {.window = 8});
    for (std::size_t n = 0; n < this->views.size(); ++n) p.find(this->views[n], n);
    p.drain();
    EXPECT_EQ(right, this->views.size());
    std::vector<cubby::reply<std::uint64_t>> replies(1);
    auto to_space = h.template pipeline<std::string_view>();
    const std::vector<cubby::request<std::string_view, std::uint64_t>> one{
        {cubby::verb::insert_or_add, this->views[0], 5, 9}};
    EXPECT_EQ(to_space.submit(one, replies).taken, 1u);
    EXPECT_EQ(to_space.drain(replies), 1u);
    EXPECT_EQ(replies[0].tag, 9u);
    EXPECT_EQ(m.find(this->strings[0]), 5u);
  }
}

/// The hash of a table of strings, counted. Of keys and of views, a batch of finds asks for it once each.
TYPED_TEST(views_of_keys, in_a_batch_of_finds_are_hashed_once) {
  const cubby::map<std::string, std::uint64_t, TypeParam, counted_hash> m(cubby::options{.capacity = 1000});
  std::vector<std::uint64_t> values(this->views.size());
  const auto found = std::make_unique<bool[]>(values.size());
  const auto expect_one_each = [&](const auto& keys) {
    counted_hash::calls = 0;
    EXPECT_EQ(m.find_batch(keys, values, std::span(found.get(), values.size())), 0u);
    EXPECT_EQ(static_cast<std::size_t>(counted_hash::calls), keys.size());
  };
  expect_one_each(this->views);
  expect_one_each(this->strings);
}

/// So does a pipeline.
TYPED_TEST(views_of_keys, in_a_pipeline_are_hashed_once) {
  using map = cubby::map<std::string, std::uint64_t, TypeParam, counted_hash>;
  if constexpr (!map::capabilities.pipelined) {
    GTEST_SKIP() << "this engine claims no pipelines";
  } else {
    map m(cubby::options{.capacity = 1000});
    for (std::size_t n = 0; n < this->strings.size(); n += 3) ASSERT_TRUE(m.insert(this->strings[n], n));
    auto h = m.handle();
    std::size_t found = 0;
    auto p = h.template pipeline<std::string_view>([&](auto&& r) { found += r.result == outcome::done ? 1 : 0; });
    counted_hash::calls = 0;
    for (std::size_t n = 0; n < this->views.size(); ++n) p.find(this->views[n], n);
    p.drain();
    EXPECT_EQ(found, (this->views.size() + 2) / 3);
    EXPECT_EQ(static_cast<std::size_t>(counted_hash::calls), this->views.size());
    auto of_strings = h.pipeline([&](auto&& r) { found += r.result == outcome::done ? 1 : 0; });
    counted_hash::calls = 0;
    for (std::size_t n = 0; n < this->views.size(); ++n) of_strings.find(this->strings[n], n);
    of_strings.drain();
    EXPECT_EQ(found, 2 * ((this->views.size() + 2) / 3));
    EXPECT_EQ(static_cast<std::size_t>(counted_hash::calls), this->views.size());
  }
}

/// A vector of bool has no bools in memory, so answers go there through a function.
TYPED_TEST(views_of_keys, are_answered_one_by_one_into_any_container) {
  typename TestFixture::texts m(tiny_options());
  cubby::set<std::string, TypeParam> s(tiny_options());
  const auto all = TestFixture::all_texts();
  for (std::size_t n = 0; n < all.size(); n += 3) {
    m.insert(all[n], n);
    s.insert(all[n]);
  }
  const std::string text = TestFixture::joined(all);
  const std::vector<std::string_view> views = TestFixture::views_of(text, all);
  std::vector<bool> in_map(views.size()), in_set(views.size()), in_set_by_keys(views.size());
  const auto note = [](std::vector<bool>& to) {
    return [&to](std::size_t i, auto found) { to[i] = static_cast<bool>(found); };
  };
  EXPECT_EQ(m.visit_batch(views, note(in_map)), 24u);
  EXPECT_EQ(s.visit_batch(views, note(in_set)), 24u);
  EXPECT_EQ(s.handle().visit_batch(all, note(in_set_by_keys)), 24u);
  for (std::size_t n = 0; n < views.size(); ++n) {
    ASSERT_EQ(in_map[n], n % 3 == 0) << n;
    ASSERT_EQ(in_set[n], n % 3 == 0) << n;
    ASSERT_EQ(in_set_by_keys[n], n % 3 == 0) << n;
  }
}

/// Two iterators in braces are the ends of a range, also where both could be keys.
TEST(keys_in_braces, are_keys_or_the_ends_of_a_range) {
  const int objects[3] = {};
  const std::array<const void*, 3> keys{&objects[0], &objects[1], &objects[2]};
  cubby::map<const void*, int> m;
  cubby::set<const void*> s;
  for (const void* k : keys) ASSERT_TRUE(m.insert(k, 1) && s.insert(k));
  const void* const* const first = keys.data();
  EXPECT_EQ(m.visit_batch({first, first + 3}, [](std::size_t, const int*) {}), 3u);
  EXPECT_EQ(s.visit_batch({first, first + 3}, [](std::size_t, bool) {}), 3u);
  cubby::map<std::uint64_t, int> numbers{{1, 10}, {2, 20}};
  EXPECT_EQ(numbers.visit_batch({1, 2, 3}, [](std::size_t i, const int* v) { EXPECT_EQ(v != nullptr, i < 2); }), 2u);
  std::array<int, 2> values{};
  std::array<bool, 2> found{};
  EXPECT_EQ(numbers.find_batch({2, 3}, values, found), 1u);
  EXPECT_EQ(values[0], 20);
}

/// Ranges of one's own may derive from tables.
struct range_of_all : cubby::map<int, int> {
  using cubby::map<int, int>::map;
  range_of_all(range_of_all&& other) noexcept : cubby::map<int, int>(std::move(other)) {}
  [[nodiscard]] static const int* begin() { return nullptr; }
  [[nodiscard]] static const int* end() { return nullptr; }
};
TEST(tables_that_are_ranges, move) {
  range_of_all from;
  ASSERT_TRUE(from.insert(1, 2));
  const range_of_all to(std::move(from));
  EXPECT_EQ(to.find(1), 2);
}

} // namespace
} // namespace cubby_test
