// SPDX-License-Identifier: Apache-2.0
// Guarantee A of a partitioned table. What has been flushed is seen by every thread, and each handle's writes on a key take
// effect in its order. No sum loses an addend, and any key and value of a word is legal. The verbs that would need an answer
// are not there.
#include <array>
#include <map>
#include <memory>
#include <optional>

#include <cubby/coro.hpp>

#include "partitioned/ways.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test {
/// A sum that says of itself that it may be made while its partition is held.
struct highest {
  std::uint32_t seen;
  friend highest operator+(highest a, highest b) noexcept { return a.seen < b.seen ? b : a; }
};
} // namespace cubby_test

template <> inline constexpr bool cubby::adds_in_place<cubby_test::highest> = true;

namespace cubby_test::partitioned_tests {
namespace {

class partitioned_writes : public ::testing::TestWithParam<way> {};
INSTANTIATE_TEST_SUITE_P(partitioned, partitioned_writes, ::testing::ValuesIn(every_way),
                         [](const auto& one) { return one.param.name; });

using model = std::map<std::uint64_t, std::uint64_t>;

template <class Reader>
void expect_same(const Reader& r, const model& expected, std::uint64_t keys) {
  std::vector<std::uint64_t> asked, values(keys);
  const auto found = std::make_unique<bool[]>(keys);
  for (std::uint64_t k = 0; k < keys; ++k) {
    asked.push_back(k);
    const auto at = expected.find(k);
    const auto got = r.find(k);
    ASSERT_EQ(got.has_value(), at != expected.end()) << "key " << k;
    ASSERT_EQ(r.contains(k), got.has_value());
    if (got) {
      ASSERT_EQ(*got, at->second) << "key " << k;
    }
  }
  ASSERT_EQ(r.find_batch(asked, values, {found.get(), keys}), expected.size());
  for (std::uint64_t k = 0; k < keys; ++k) {
    ASSERT_EQ(found[k], expected.count(k) == 1);
    if (found[k]) {
      ASSERT_EQ(values[k], expected.at(k));
    }
  }
  model scanned;
  r.visit_all(
      [&](std::uint64_t k, std::uint64_t v) { ASSERT_TRUE(scanned.emplace(k, v).second) << "met twice: " << k; });
  ASSERT_EQ(scanned, expected);
  ASSERT_EQ(r.size(), expected.size());
}

/// Many unflushed writes on few keys: in another order they would end otherwise.
TEST_P(partitioned_writes, of_one_handle_take_effect_in_its_order_and_are_seen_after_flush) {
  constexpr std::uint64_t keys = 40; // the first four have reserved words
  map m(tiny(GetParam()));
  auto h = handle_of(m, GetParam());
  auto other = m.handle();
  model expected;
  random_source random(6300);
  for (unsigned round = 0; round < scaled(60); ++round) {
    for (std::uint64_t i = random.below(1500); i != 0; --i) {
      const std::uint64_t k = random.below(random.one_in(2) ? 6 : keys);
      const std::uint64_t v = random.next();
      switch (random.below(4)) {
      case 0:
        h.erase(k);
        expected.erase(k);
        break;
      case 1:
        ASSERT_EQ(h.insert_or_add(k, v), outcome::done);
        expected[k] += v;
        break;
      default: ASSERT_EQ(h.insert_or_assign(k, v), outcome::done); expected[k] = v;
      }
      if (random.one_in(100)) h.serve();
    }
    ASSERT_TRUE(h.flush());
    expect_same(m, expected, keys);
    expect_same(other, expected, keys);
    if (::testing::Test::HasFatalFailure()) return;
    if (random.one_in(4)) {
      ASSERT_TRUE(m.shrink_to_fit());
    }
  }
}

TEST_P(partitioned_writes, add_up_exactly_from_any_sender) {
  constexpr std::uint64_t keys = 100;
  constexpr unsigned threads = 4;
  const std::uint64_t each = scaled(20000);
  map m(tiny(GetParam()));
  std::vector<std::vector<std::uint64_t>> sums(threads, std::vector<std::uint64_t>(keys, 0));
  run_threads(threads, [&](unsigned t) {
    auto h = handle_of(m, GetParam(), t, threads);
    random_source random(6310 + t);
    for (std::uint64_t i = 0; i < each; ++i) {
      const std::uint64_t k = random.below(random.one_in(3) ? keys : 5);
      const std::uint64_t n = random.below(1000);
      ASSERT_EQ(h.insert_or_add(k, n), outcome::done);
      sums[t][k] += n;
      if (random.one_in(5000)) {
        ASSERT_TRUE(h.flush());
      }
    }
  }); // the handles' ends flush
  for (std::uint64_t k = 0; k < keys; ++k) {
    std::uint64_t expected = 0;
    for (const auto& mine : sums) expected += mine[k];
    ASSERT_EQ(m.find(k).value_or(0), expected) << "key " << k;
  }
}

/// What one handle has flushed before it tells another thread, that thread finds.
TEST_P(partitioned_writes, are_seen_by_a_thread_that_was_told_of_the_flush) {
  map m(tiny(GetParam()));
  std::atomic<std::uint64_t> told{0};
  const std::uint64_t rounds = scaled(300);
  run_threads(2, [&](unsigned t) {
    if (t == 0) {
      auto h = handle_of(m, GetParam());
      for (std::uint64_t n = 1; n <= rounds; ++n) {
        h.insert_or_assign(n, n);
        h.insert_or_assign(0, n);
        h.erase(n - 1 == 0 ? ~n : n - 1);
        ASSERT_TRUE(h.flush());
        told.store(n);
      }
      return;
    }
    for (std::uint64_t n = 0; n < rounds;) {
      n = told.load();
      if (n == 0) continue;
      const auto latest = m.find(0);
      ASSERT_TRUE(latest.has_value());
      ASSERT_GE(*latest, n) << "a flushed write is not there";
      if (n > 1) {
        ASSERT_FALSE(m.contains(n - 1)) << "a flushed erase is not there";
      }
    }
  });
  EXPECT_EQ(m.size(), 2u);
}

cubby::task look_up(const map& m, std::uint64_t k, std::optional<std::uint64_t>& out) {
  out = co_await m.async_find(k);
}

TEST_P(partitioned_writes, are_found_by_coroutines) {
  map m(tiny(GetParam()));
  {
    auto h = m.handle();
    for (std::uint64_t k = 0; k < 50; ++k) h.insert_or_assign(k, k + 7);
  }
  std::vector<std::optional<std::uint64_t>> answers(100);
  cubby::round_robin runner;
  for (std::uint64_t k = 0; k < answers.size(); ++k) runner.spawn(look_up(m, k, answers[k]));
  runner.run();
  for (std::uint64_t k = 0; k < answers.size(); ++k) {
    ASSERT_EQ(answers[k].has_value(), k < 50);
    if (k < 50) {
      ASSERT_EQ(*answers[k], k + 7);
    }
  }
}

template <class K, class V>
void whole_life(const way& w, const std::vector<K>& keys, const std::vector<V>& values) {
  cubby::delegated_map<K, V> m(tiny(w));
  auto h = m.handle();
  const auto value_of = [&](std::size_t i) { return values[i % values.size()]; };
  for (std::size_t i = 0; i < keys.size(); ++i) h.insert_or_assign(keys[i], value_of(i));
  ASSERT_TRUE(h.flush());
  ASSERT_EQ(m.size(), keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(m.find(keys[i]), value_of(i)) << i;
  ASSERT_TRUE(m.reserve(3000));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(m.find(keys[i]), value_of(i)) << i;
    h.insert_or_assign(keys[i], value_of(i + 1));
  }
  ASSERT_TRUE(h.flush());
  std::size_t scanned = 0;
  m.visit_all([&](const K& k, const V& v) {
    std::size_t i = 0;
    while (i < keys.size() && !(keys[i] == k)) ++i;
    ASSERT_LT(i, keys.size());
    ASSERT_EQ(v, value_of(i + 1));
    ++scanned;
  });
  EXPECT_EQ(scanned, keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    h.erase(keys[i]);
    ASSERT_TRUE(h.flush());
    ASSERT_FALSE(m.contains(keys[i])) << i;
  }
  EXPECT_TRUE(m.empty());
}

TEST_P(partitioned_writes, take_any_key_and_any_value_of_a_word) {
  std::vector<std::uint64_t> edges;
  for (std::uint64_t n = 0; n < 20; ++n) {
    edges.push_back(n);
    edges.push_back(~n);
  }
  for (unsigned bit = 5; bit < 64; ++bit) edges.push_back(std::uint64_t{1} << bit);
  whole_life<std::uint64_t, std::uint64_t>(GetParam(), edges, edges);
  std::vector<std::uint8_t> bytes(256);
  for (unsigned n = 0; n < 256; ++n) bytes[n] = static_cast<std::uint8_t>(n);
  whole_life<std::uint8_t, std::int16_t>(GetParam(), bytes, {0, -1, 32767});
  static int things[2];
  whole_life<const int*, float>(GetParam(), {nullptr, &things[0], &things[1]}, {0.0F, -1.5F});
}

TEST(partitioned_values, are_added_as_what_they_are) {
  cubby::delegated_map<std::uint32_t, double> m;
  cubby::delegated_map<std::uint32_t, std::int8_t> small;
  auto h = m.handle();
  auto g = small.handle();
  for (int i = 0; i < 8; ++i) {
    h.insert_or_add(7, -0.25);
    g.insert_or_add(7, -3);
  }
  ASSERT_TRUE(h.flush());
  ASSERT_TRUE(g.flush());
  EXPECT_EQ(m.find(7), -2.0);
  EXPECT_EQ(small.find(7), -24);
}

static_assert(cubby::adds_in_place<double> && cubby::adds_in_place<std::int8_t>);
static_assert(!cubby::adds_in_place<const int*> && !cubby::adds_in_place<std::array<std::uint32_t, 2>>);

TEST(partitioned_values, of_a_class_that_says_so_are_added_by_its_own_plus) {
  cubby::delegated_map<std::uint32_t, highest> m;
  auto h = m.handle();
  for (const std::uint32_t n : {3u, 9u, 4u}) h.insert_or_add(0, highest{n});
  ASSERT_TRUE(h.flush());
  EXPECT_EQ(m.find(0)->seen, 9u);
}

template <class H> concept answers_insert = requires(H& h) { h.insert(1, 1); };
template <class H> concept answers_assign = requires(H& h) { h.assign(1, 1); };
template <class H> concept answers_update = requires(H& h) { h.update(1, [](auto v) { return v; }); };
template <class H> concept answers_extract = requires(H& h) { h.extract(1); };
template <class H> concept answers_erase = requires(H& h) { static_cast<bool>(h.erase(1)); };
template <class H> concept executes = requires(H& h) { h.execute({}, {}); };
template <class M> concept writes_without_a_handle = requires(M& m) { m.insert_or_assign(1, 1); };

TEST(partitioned_verbs, that_would_need_an_answer_do_not_compile) {
  using handle = map::handle_type;
  EXPECT_FALSE(answers_insert<handle>);
  EXPECT_FALSE(answers_assign<handle>);
  EXPECT_FALSE(answers_update<handle>);
  EXPECT_FALSE(answers_extract<handle>);
  EXPECT_FALSE(answers_erase<handle>);
  EXPECT_FALSE(executes<handle>);
  EXPECT_FALSE(writes_without_a_handle<map>);
  EXPECT_TRUE(map::capabilities.delegates);
  EXPECT_TRUE(cubby::detail::contract::delegating<map::engine_type>);
  EXPECT_FALSE(cubby::detail::contract::engine<map::engine_type>);
}

} // namespace
} // namespace cubby_test::partitioned_tests
