// SPDX-License-Identifier: Apache-2.0
// Guarantee B: of all inserts of one key exactly one wins, and of all erases of one entry exactly one, while the table
// grows from nothing under every growth policy.
#include <atomic>
#include <memory>
#include <vector>

#include "engines.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

constexpr unsigned threads = 4;

template <class Mode>
class b_uniqueness : public ::testing::Test {};
TYPED_TEST_SUITE(b_uniqueness, shared_modes);

TYPED_TEST(b_uniqueness, one_of_many_inserts_of_a_key_wins) {
  const std::uint64_t keys = scaled(1500);
  for (const auto growth : growing_policies) {
    typename TypeParam::map m(tiny_options(growth));
    std::vector<std::atomic<unsigned>> winners(keys);
    std::vector<std::atomic<unsigned>> who(keys);
    run_threads(threads, [&](unsigned t) {
      auto h = m.handle();
      for (std::uint64_t n = 0; n < keys; ++n) {
        if (!h.insert(TypeParam::key(n), TypeParam::value(t + 1))) continue;
        winners[n].fetch_add(1);
        who[n].store(t + 1);
      }
    });
    EXPECT_EQ(m.size(), keys);
    for (std::uint64_t n = 0; n < keys; ++n) {
      ASSERT_EQ(winners[n].load(), 1u) << "key " << n;
      ASSERT_EQ(TypeParam::number(*m.find(TypeParam::key(n))), who[n].load()) << "the winner's value is there";
    }
  }
}

TYPED_TEST(b_uniqueness, one_of_many_erases_of_an_entry_wins) {
  const std::uint64_t keys = scaled(1500);
  for (const auto growth : growing_policies) {
    typename TypeParam::map m(tiny_options(growth));
    for (std::uint64_t n = 0; n < keys; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
    std::atomic<std::uint64_t> erased{0};
    run_threads(threads, [&](unsigned t) {
      std::uint64_t mine = 0;
      for (std::uint64_t n = 0; n < keys; ++n) {
        if (t % 2 == 0) {
          mine += m.erase(TypeParam::key(n)) ? 1 : 0;
        } else if (const auto got = m.extract(TypeParam::key(n))) {
          EXPECT_EQ(TypeParam::number(*got), n);
          ++mine;
        }
      }
      erased.fetch_add(mine);
    });
    EXPECT_EQ(erased.load(), keys);
    EXPECT_TRUE(m.empty());
  }
}

/// Every verb that may insert, at once, against erases: what went in less what went out is what is there.
TYPED_TEST(b_uniqueness, inserts_less_erases_are_what_is_left) {
  constexpr std::uint64_t keys = 40;
  typename TypeParam::map m(tiny_options());
  std::vector<std::atomic<std::int64_t>> balance(keys);
  run_threads(threads, [&](unsigned t) {
    random_source random(20 + t);
    for (std::uint64_t i = 0; i < scaled(15000); ++i) {
      const std::uint64_t n = random.below(keys);
      const auto k = TypeParam::key(n);
      const auto v = TypeParam::value(i);
      bool in = false, out = false;
      switch (random.below(6)) {
      case 0: in = m.insert(k, v); break;
      case 1: in = m.insert_or_assign(k, v); break;
      case 2: in = m.insert_or_update(k, [&](const auto&) { return v; }, v); break;
      case 3: out = m.erase(k); break;
      case 4: out = m.extract(k).has_value(); break;
      default: out = m.erase_if(k, [](const auto& was) { return TypeParam::number(was) % 2 == 0; });
      }
      balance[n].fetch_add((in ? 1 : 0) - (out ? 1 : 0));
    }
  });
  std::size_t left = 0;
  for (std::uint64_t n = 0; n < keys; ++n) {
    ASSERT_EQ(balance[n].load(), m.contains(TypeParam::key(n)) ? 1 : 0) << "key " << n;
    left += m.contains(TypeParam::key(n)) ? 1u : 0u;
  }
  EXPECT_EQ(m.size(), left);
}

template <class Engine>
class b_uniqueness_set : public ::testing::Test {};
TYPED_TEST_SUITE(b_uniqueness_set, shared_plain_engines);

TYPED_TEST(b_uniqueness_set, a_set_is_a_lock_manager) {
  constexpr std::uint64_t locks = 8;
  cubby::set<std::uint64_t, TypeParam> held(tiny_options());
  std::vector<std::uint64_t> guarded(locks, 0); // plain: the sanitizer sees a lock that two threads hold
  std::atomic<std::uint64_t> entered{0};
  run_threads(threads, [&](unsigned t) {
    random_source random(30 + t);
    std::uint64_t mine = 0;
    for (std::uint64_t i = 0; i < scaled(10000); ++i) {
      const std::uint64_t k = random.below(locks);
      if (!held.insert(k)) continue;
      ++guarded[k];
      ++mine;
      EXPECT_TRUE(held.erase(k));
    }
    entered.fetch_add(mine);
  });
  std::uint64_t sum = 0;
  for (const auto g : guarded) sum += g;
  EXPECT_EQ(sum, entered.load());
  EXPECT_TRUE(held.empty());
}

} // namespace
} // namespace cubby_test
