// SPDX-License-Identifier: Apache-2.0
// Guarantee G: nothing is freed while a pin can see it, everything is freed in the end. Records live in an allocator
// that counts and poisons; values count themselves.
#include <atomic>
#include <memory>
#include <optional>
#include <thread>

#include "engines.hpp"
#include "support/counting.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

template <class Engine>
class g_reclamation : public ::testing::Test {
protected:
  using allocator = counting_allocator<std::byte>;
  using map = cubby::map<std::uint64_t, tracked, Engine, cubby::hash<std::uint64_t>, allocator>;
  std::unique_ptr<map> make(table_options o = tiny_options()) {
    return std::make_unique<map>(o, cubby::hash<std::uint64_t>{}, allocator(account));
  }
  void TearDown() override {
    EXPECT_EQ(account.blocks.load(), 0) << "records that were never freed";
    EXPECT_EQ(account.bytes.load(), 0);
    EXPECT_EQ(tracked::living().load(), 0) << "values that were never destroyed";
  }
  allocation_account account;
};
TYPED_TEST_SUITE(g_reclamation, every_engine);

TYPED_TEST(g_reclamation, the_destructor_frees_what_every_verb_left) {
  auto m = this->make();
  random_source random(80);
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const std::uint64_t k = random.below(100);
    switch (random.below(8)) {
    case 0: m->insert(k, tracked(i)); break;
    case 1: m->assign(k, tracked(i)); break;
    case 2: m->insert_or_assign(k, tracked(i)); break;
    case 3: m->erase(k); break;
    case 4: m->extract(k); break;
    case 5: m->update(k, [&](const tracked& v) { return tracked(v.number() + 1); }); break;
    case 6: m->try_emplace(k, i); break;
    default:
      m->compute(k, [&](const tracked* v) -> cubby::computed<tracked> {
        if (v == nullptr) return tracked(i);
        return cubby::computed<tracked>::erase();
      });
    }
  }
}

TYPED_TEST(g_reclamation, garbage_does_not_pile_up_without_the_users_help) {
  auto m = this->make();
  for (std::uint64_t k = 0; k < 64; ++k) ASSERT_TRUE(m->insert(k, tracked(k)));
  std::int64_t most = 0;
  const std::uint64_t retired = 200'000 / sparse_stride(2);
  for (std::uint64_t i = 0; i < retired; ++i) {
    m->insert_or_assign(i % 64, tracked(i));
    most = std::max(most, this->account.blocks.load());
  }
  EXPECT_LT(most, static_cast<std::int64_t>(retired / 10)) << "a tenth of what was retired";
}

TYPED_TEST(g_reclamation, clear_and_release_frees_records_at_once_when_nobody_looks) {
  auto m = this->make();
  for (std::uint64_t k = 0; k < 1000; ++k) ASSERT_TRUE(m->insert(k, tracked(k)));
  m->clear_and_release();
  EXPECT_EQ(this->account.blocks.load(), 0);
  EXPECT_EQ(tracked::living().load(), 0);
}

TYPED_TEST(g_reclamation, shrink_to_fit_frees_what_was_retired_under_every_shrink_policy) {
  for (const auto shrink : {cubby::shrink_policy::never, cubby::shrink_policy::manual}) {
    table_options chosen = tiny_options();
    chosen.shrink = shrink;
    auto m = this->make(chosen);
    for (std::uint64_t k = 0; k < 100; ++k) ASSERT_TRUE(m->insert(k, tracked(k)));
    for (std::uint64_t k = 0; k < 100; ++k) ASSERT_TRUE(m->assign(k, tracked(k + 1)));
    EXPECT_TRUE(m->shrink_to_fit());
    EXPECT_EQ(m->stats().retired, 0u);
    EXPECT_EQ(this->account.blocks.load(), 100);
  }
}

template <class Engine>
class g_shared : public g_reclamation<Engine> {};
TYPED_TEST_SUITE(g_shared, shared_engines);

TYPED_TEST(g_shared, what_a_reader_holds_is_not_freed_under_it) {
  for (const auto growth : growing_policies) {
    auto m = this->make(tiny_options(growth));
    std::atomic<bool> stop{false};
    run_threads(4, [&](unsigned t) {
      auto h = m->handle();
      random_source random(90 + t);
      if (t < 2) {
        for (std::uint64_t i = 0; i < scaled(8000); ++i) {
          const std::uint64_t k = random.below(32);
          if (i % 1000 == 999) m->shrink_to_fit();
          if (random.one_in(3)) h.erase(k);
          else h.insert_or_assign(k + (random.one_in(4) ? 100 + i : 0), tracked(i));
        }
        stop.store(true);
        return;
      }
      while (!stop.load()) {
        const std::uint64_t k = random.below(32);
        if (const tracked* const v = h.find_ref(k)) {
          const std::uint64_t first = v->number();
          std::this_thread::yield();
          ASSERT_NE(first, torn);
          ASSERT_EQ(v->number(), first) << "freed, or changed, under a pin";
        }
        h.unpin();
        h.visit(k, [](const tracked& v) {
          const std::uint64_t first = v.number();
          std::this_thread::yield();
          ASSERT_EQ(v.number(), first);
        });
      }
    });
  }
}

TYPED_TEST(g_shared, a_reference_lives_as_long_as_its_pin) {
  auto m = this->make();
  ASSERT_TRUE(m->insert(1, tracked(77)));
  auto h = m->handle();
  const tracked* const v = h.find_ref(1);
  ASSERT_NE(v, nullptr);
  std::thread other([&] {
    EXPECT_TRUE(m->erase(1));
    for (std::uint64_t i = 0; i < 50000; ++i) m->insert_or_assign(2 + i % 50, tracked(i));
    m->shrink_to_fit();
  });
  other.join();
  EXPECT_EQ(v->number(), 77u);
  EXPECT_EQ(h.find_ref(1), nullptr);
  h.unpin();
  m->shrink_to_fit();
  EXPECT_EQ(this->account.blocks.load(), 50) << "what the pin kept goes when it has ended";
}

TYPED_TEST(g_shared, a_handle_that_lingers_without_a_pin_keeps_nothing) {
  auto m = this->make();
  auto idle = m->handle();
  EXPECT_FALSE(idle.contains(1));
  std::thread other([&] {
    for (std::uint64_t i = 0; i < 50000; ++i) m->insert_or_assign(i % 50, tracked(i));
  });
  other.join();
  EXPECT_LT(this->account.blocks.load(), 20000);
}

TYPED_TEST(g_shared, threads_come_and_go) {
  auto m = this->make();
  for (unsigned round = 0; round < scaled(60); ++round) {
    run_threads(4, [&](unsigned t) {
      std::optional<decltype(m->handle())> h;
      if (t % 2 == 0) h.emplace(m->handle());
      for (std::uint64_t i = 0; i < 100; ++i) {
        const std::uint64_t k = (i * 7 + t) % 40;
        if (h) h->insert_or_assign(k, tracked(i));
        else if (i % 2 == 0) m->erase(k);
        else m->insert(k, tracked(i));
      }
    });
  }
  m->clear_and_release();
  EXPECT_EQ(this->account.blocks.load(), 0) << "garbage of threads that ended is found too";
}

TYPED_TEST(g_shared, tables_come_and_go_under_one_thread) {
  for (unsigned round = 0; round < 100; ++round) {
    auto first = this->make();
    auto second = this->make();
    for (std::uint64_t k = 0; k < 50; ++k) {
      first->insert(k, tracked(k));
      second->insert_or_assign(k, tracked(k));
      second->insert_or_assign(k, tracked(k + 1));
    }
    first.reset();
    ASSERT_EQ(second->find(7)->number(), 8u);
  }
}

/// Retired indexes go too: bytes come back to about what one index needs.
TYPED_TEST(g_shared, old_indexes_are_given_back) {
  if constexpr (!word_mode<TypeParam>::map::capabilities.shrinks) {
    GTEST_SKIP() << "this engine does not claim to shrink";
  } else {
    typename word_mode<TypeParam>::map m(tiny_options());
    for (std::uint64_t round = 0; round < 20; round += sparse_stride(3)) {
      for (std::uint64_t k = 0; k < 5000; ++k) m.insert(k, k);
      for (std::uint64_t k = 0; k < 5000; ++k) m.erase(k);
      m.shrink_to_fit();
    }
    for (std::uint64_t k = 0; k < 100; ++k) m.insert(k, k);
    const auto s = m.stats();
    EXPECT_LT(s.bytes, 64u * 1024) << "of seven to twenty indexes of about 200 KiB";
  }
}

} // namespace
} // namespace cubby_test
