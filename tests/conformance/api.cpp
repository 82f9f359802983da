// SPDX-License-Identifier: Apache-2.0
// What the API adds to its engine: lookups by other types than the key, callbacks that throw, references under a pin,
// hashes, prefetch, and values with rich constructors.
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engines.hpp"
#include "support/counting.hpp"

namespace cubby_test {
namespace {

template <class Engine>
class api : public ::testing::Test {};
TYPED_TEST_SUITE(api, every_engine);

TYPED_TEST(api, strings_are_found_by_views_and_literals) {
  cubby::map<std::string, std::uint64_t, TypeParam> m(tiny_options());
  EXPECT_TRUE(m.insert("short", 1));
  EXPECT_TRUE(m.insert(std::string_view("a key that is longer than a word"), 2));
  EXPECT_TRUE(m.insert(std::string("third"), 3));
  EXPECT_FALSE(m.insert(std::string_view("short"), 4));
  EXPECT_TRUE(m.contains("short"));
  EXPECT_EQ(m.find(std::string_view("a key that is longer than a word")), 2u);
  EXPECT_EQ(m.find("third"), 3u);
  EXPECT_TRUE(m.assign("third", 33));
  EXPECT_EQ(m.visit(std::string_view("third"), [](std::uint64_t v) { EXPECT_EQ(v, 33u); }), 1u);
  EXPECT_TRUE(m.erase(std::string_view("third")));
  EXPECT_FALSE(m.contains("third"));
}

enum class level : std::uint16_t {};

TYPED_TEST(api, enumerations_are_made_of_the_number_that_is_brought) {
  cubby::map<std::uint64_t, level, TypeParam> m(tiny_options());
  const auto next = [](level v) { return level(static_cast<std::uint16_t>(v) + 1); };
  EXPECT_TRUE(m.insert_or_update(1, next, 7));
  EXPECT_EQ(m.find(1), level(7));
  EXPECT_FALSE(m.insert_or_update(1, next, 7));
  EXPECT_EQ(m.find(1), level(8));
}

struct broken : std::runtime_error {
  broken() : std::runtime_error("a callback throws") {}
};

/// A callback that throws changes nothing, holds nothing, leaks nothing: the next call works and all records go.
template <class V, class Engine, class Make>
void throwing_callbacks(Make value) {
  cubby::map<std::uint64_t, V, Engine> m(tiny_options());
  for (std::uint64_t k = 0; k < 50; ++k) ASSERT_TRUE(m.insert(k, value(k)));
  const auto raise = [](const V&) -> V { throw broken(); };
  EXPECT_THROW(m.visit(7, [](const V&) { throw broken(); }), broken);
  EXPECT_THROW(m.update(7, raise), broken);
  EXPECT_THROW(m.insert_or_update(7, raise, value(1)), broken);
  EXPECT_THROW(m.erase_if(7, [](const V&) -> bool { throw broken(); }), broken);
  EXPECT_THROW(m.erase_if([](const std::uint64_t&, const V&) -> bool { throw broken(); }), broken);
  EXPECT_THROW(m.compute(7, [](const V*) -> cubby::computed<V> { throw broken(); }), broken);
  EXPECT_THROW(m.compute(70, [](const V*) -> cubby::computed<V> { throw broken(); }), broken);
  EXPECT_THROW(m.visit_all([](const std::uint64_t&, const V&) { throw broken(); }), broken);
  EXPECT_EQ(m.size(), 50u);
  EXPECT_FALSE(m.contains(70));
  for (std::uint64_t k = 0; k < 50; ++k) ASSERT_EQ(m.find(k), value(k));
  for (std::uint64_t k = 0; k < 500; ++k) m.insert_or_assign(k, value(k + 1)); // growth and reclamation still work
  EXPECT_EQ(m.size(), 500u);
}

TYPED_TEST(api, callbacks_may_throw) {
  throwing_callbacks<std::uint64_t, TypeParam>([](std::uint64_t n) { return n; });
  throwing_callbacks<tracked, TypeParam>([](std::uint64_t n) { return tracked(n); });
  EXPECT_EQ(tracked::living().load(), 0);
}

struct fragile {
  std::uint64_t number = 0, pad[2] = {};
  explicit fragile(std::uint64_t n) : number(n) {
    if (n == 13) throw broken();
  }
};

TYPED_TEST(api, constructors_of_values_may_throw) {
  cubby::map<std::uint64_t, fragile, TypeParam> m(tiny_options());
  for (std::uint64_t n = 0; n < 100; ++n) {
    if (n == 13) {
      EXPECT_THROW(m.try_emplace(n, n), broken);
    } else {
      EXPECT_TRUE(m.try_emplace(n, n));
    }
  }
  EXPECT_EQ(m.size(), 99u);
  EXPECT_FALSE(m.contains(13));
  EXPECT_TRUE(m.try_emplace(13, 14u));
}

TYPED_TEST(api, try_emplace_builds_the_value_only_when_it_is_inserted) {
  cubby::map<std::uint64_t, tracked, TypeParam> m(tiny_options());
  EXPECT_TRUE(m.try_emplace(1, 10u));
  const auto before = tracked::living().load();
  EXPECT_FALSE(m.try_emplace(1, 11u));
  EXPECT_EQ(tracked::living().load(), before);
  EXPECT_EQ(m.find(1)->number(), 10u);
}

TYPED_TEST(api, values_with_rich_constructors) {
  cubby::map<int, std::vector<std::string>, TypeParam> m(tiny_options());
  EXPECT_TRUE(m.try_emplace(1, 3u, "x"));
  EXPECT_EQ(m.find(1)->size(), 3u);
  EXPECT_TRUE(m.update(1, [](const std::vector<std::string>& v) {
    auto more = v;
    more.push_back("y");
    return more;
  }));
  EXPECT_EQ(m.find(1)->back(), "y");
  cubby::map<std::string, std::shared_ptr<int>, TypeParam> shared(tiny_options());
  const auto p = std::make_shared<int>(5);
  EXPECT_TRUE(shared.insert("p", p));
  EXPECT_EQ(shared.find("p"), p);
}

TYPED_TEST(api, find_ref_points_into_the_table_until_unpin) {
  cubby::map<std::string, std::string, TypeParam> m(tiny_options());
  ASSERT_TRUE(m.insert("k", "some value of more than a word"));
  auto h = m.handle();
  const std::string* const first = h.find_ref("k");
  ASSERT_NE(first, nullptr);
  EXPECT_TRUE(m.insert_or_assign("other", "x"));
  EXPECT_FALSE(h.insert_or_assign("k", "a new value"));
  EXPECT_EQ(*first, "some value of more than a word") << "what was returned does not change";
  EXPECT_EQ(*h.find_ref("k"), "a new value");
  EXPECT_EQ(h.find_ref("missing"), nullptr);
  h.unpin();
  EXPECT_EQ(*h.find_ref("k"), "a new value");
}

TYPED_TEST(api, callbacks_may_call_the_table_again) {
  cubby::map<std::uint64_t, std::string, TypeParam> m(tiny_options());
  ASSERT_TRUE(m.insert(1, "one"));
  EXPECT_EQ(m.visit(1,
                    [&](const std::string& v) {
                      for (std::uint64_t k = 2; k < 200; ++k) ASSERT_TRUE(m.insert(k, v)); // grows under the visitor
                      ASSERT_TRUE(m.erase(1));
                      EXPECT_EQ(v, "one");
                    }),
            1u);
  EXPECT_EQ(m.size(), 198u);
}

struct even_hash {
  std::uint64_t operator()(std::uint64_t k) const noexcept { return k * 2; } // weak on purpose: the table mixes it
};

TYPED_TEST(api, a_weak_hash_of_the_users_is_mixed) {
  cubby::map<std::uint64_t, std::uint64_t, TypeParam, even_hash> m(tiny_options());
  for (std::uint64_t k = 0; k < 5000; ++k) ASSERT_TRUE(m.insert(k << 20, k));
  for (std::uint64_t k = 0; k < 5000; ++k) ASSERT_EQ(m.find(k << 20), k);
  EXPECT_LT(m.stats().bytes, 4u << 20);
}

TYPED_TEST(api, the_papers_modulo) {
  cubby::map<std::uint64_t, std::uint64_t, TypeParam, cubby::modulo_hash<std::uint64_t>> m(tiny_options());
  for (std::uint64_t k = 0; k < 5000; ++k) ASSERT_TRUE(m.insert(k, ~k));
  for (std::uint64_t k = 0; k < 5000; ++k) ASSERT_EQ(m.find(k), ~k);
  m.shrink_to_fit();
  EXPECT_EQ(m.size(), 5000u);
}

TYPED_TEST(api, hash_for_and_prefetch_change_nothing) {
  cubby::map<std::string, std::string, TypeParam> m(tiny_options());
  if constexpr (decltype(m)::capabilities.prefetch) m.prefetch("nobody");
  EXPECT_TRUE(m.insert("k", "v"));
  EXPECT_EQ(m.hash_for("k"), m.hash_for(std::string("k")));
  EXPECT_NE(m.hash_for("k"), m.hash_for("l"));
  if constexpr (decltype(m)::capabilities.prefetch) m.prefetch("k");
  EXPECT_EQ(m.size(), 1u);
}

TEST(counted_tables, show_how_their_bins_fill) {
  cubby::map<std::uint64_t, std::uint64_t, cubby::dlht_counted> m(tiny_options());
  for (std::uint64_t k = 100; k < 1100; ++k) ASSERT_TRUE(m.insert(k, k));
  m.reserve(1000); // ends a growth that may be under way
  const auto h = m.histogram();
  std::uint64_t entries = 0, bins = 0, chained = 0;
  for (std::uint64_t n = 0; n < 16; ++n) {
    entries += n * h.bins[n];
    bins += h.bins[n];
  }
  for (std::uint64_t n = 1; n < 5; ++n) chained += h.chains[n];
  EXPECT_EQ(entries, 1000u);
  EXPECT_EQ(bins, m.stats().bins);
  EXPECT_EQ(chained, bins);
}

} // namespace
} // namespace cubby_test
