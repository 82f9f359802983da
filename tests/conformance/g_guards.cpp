// SPDX-License-Identifier: Apache-2.0
// Guarantee G of guards (`handle::guard`, `map::guard`): what was shown while one lives stays, everything is freed after it, and
// it is bound to the thread record and not to the handle object.
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "engines.hpp"
#include "support/counting.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

template <class Engine>
class g_guards : public ::testing::Test {
protected:
  using allocator = counting_allocator<std::byte>;
  using map = cubby::map<std::uint64_t, tracked, Engine, cubby::hash<std::uint64_t>, allocator>;
  g_guards() : m(std::make_unique<map>(tiny_options(), cubby::hash<std::uint64_t>{}, allocator(account))) {}
  void TearDown() override {
    m.reset();
    EXPECT_EQ(account.blocks.load(), 0) << "records that were never freed";
    EXPECT_EQ(tracked::living().load(), 0) << "values that were never destroyed";
  }
  /// Another thread takes key 1 out and retires far more than a bag keeps back.
  void churn() {
    std::thread other([&] {
      EXPECT_TRUE(m->erase(1));
      for (std::uint64_t i = 0; i < 20000; ++i) m->insert_or_assign(2 + i % 50, tracked(i));
      m->shrink_to_fit();
    });
    other.join();
  }
  void expect_only_entries_are_left() {
    m->shrink_to_fit();
    EXPECT_EQ(account.blocks.load(), 50) << "what the guard kept goes when it has ended";
  }
  allocation_account account;
  std::atomic<std::uint64_t> number{0};
  std::unique_ptr<map> m;
};
TYPED_TEST_SUITE(g_guards, shared_engines);

TYPED_TEST(g_guards, keep_what_a_find_ref_and_a_visit_have_shown) {
  ASSERT_TRUE(this->m->insert(1, tracked(77)));
  auto h = this->m->handle();
  {
    const auto g = h.guard();
    const tracked* const v = h.find_ref(1);
    ASSERT_NE(v, nullptr);
    h.unpin();
    const tracked* seen = nullptr;
    EXPECT_EQ(h.visit(1, [&](const tracked& value) { seen = &value; }), 1u);
    this->churn();
    EXPECT_EQ(v->number(), 77u);
    EXPECT_EQ(seen->number(), 77u);
    EXPECT_FALSE(h.contains(1)) << "a guard holds memory, no entry";
  }
  this->expect_only_entries_are_left();
}

TYPED_TEST(g_guards, of_a_thread_keep_what_its_calls_have_shown) {
  ASSERT_TRUE(this->m->insert(1, tracked(77)));
  {
    const auto g = this->m->guard();
    const tracked* seen = nullptr;
    EXPECT_EQ(this->m->visit(1, [&](const tracked& value) { seen = &value; }), 1u);
    this->churn();
    EXPECT_EQ(seen->number(), 77u);
    EXPECT_FALSE(this->m->contains(1));
  }
  this->expect_only_entries_are_left();
}

TYPED_TEST(g_guards, free_nothing_while_one_of_them_lives_and_everything_after_the_last) {
  ASSERT_TRUE(this->m->insert(1, tracked(77)));
  auto h = this->m->handle();
  std::optional<decltype(h.guard())> outer;
  const auto own = cubby::detail::engine_access::context_of(h);
  outer.emplace(own.engine, own.at);
  {
    const auto inner = h.guard();
    ASSERT_NE(h.find_ref(1), nullptr);
    h.unpin();
  }
  const tracked* seen = nullptr;
  EXPECT_EQ(h.visit(1, [&](const tracked& value) { seen = &value; }), 1u);
  this->churn();
  EXPECT_EQ(seen->number(), 77u) << "an inner guard has ended, the outer one has not";
  if (this->m->stats().retired != 0) {
    EXPECT_GE(this->account.blocks.load(), 20000) << "of what was retired under a guard";
  } else {
    EXPECT_TRUE((std::is_same_v<TypeParam, cubby::reference>));
  }
  outer.reset();
  this->expect_only_entries_are_left();
}

TYPED_TEST(g_guards, end_before_a_find_ref_that_began_inside) {
  ASSERT_TRUE(this->m->insert(1, tracked(77)));
  auto h = this->m->handle();
  const tracked* v = nullptr;
  {
    const auto g = h.guard();
    v = h.find_ref(1);
  }
  this->churn();
  ASSERT_NE(v, nullptr);
  EXPECT_EQ(v->number(), 77u) << "the pin of find_ref is its own";
  h.unpin();
  this->expect_only_entries_are_left();
}

TYPED_TEST(g_guards, stay_when_their_handle_is_moved) {
  ASSERT_TRUE(this->m->insert(1, tracked(77)));
  auto first = this->m->handle();
  {
    const auto g = first.guard();
    auto second = std::move(first);
    const tracked* seen = nullptr;
    EXPECT_EQ(second.visit(1, [&](const tracked& value) { seen = &value; }), 1u);
    auto third = this->m->handle();
    third = std::move(second);
    this->churn();
    EXPECT_EQ(seen->number(), 77u);
    EXPECT_FALSE(third.contains(1));
  }
  this->expect_only_entries_are_left();
}

TYPED_TEST(g_guards, stay_when_their_handle_ends_and_then_give_its_thread_record_back) {
  ASSERT_TRUE(this->m->insert(1, tracked(77)));
  const tracked* seen = nullptr;
  std::optional<decltype(this->m->handle())> h(this->m->handle());
  const cubby::detail::thread_record* const thread_record = h->own_thread_record();
  {
    const auto g = h->guard();
    EXPECT_EQ(h->visit(1, [&](const tracked& value) { seen = &value; }), 1u);
    h.reset();
    EXPECT_NE(this->m->handle().own_thread_record(), thread_record) << "the guard has it yet";
    this->churn();
    EXPECT_EQ(seen->number(), 77u);
  }
  EXPECT_EQ(this->m->handle().own_thread_record(), thread_record) << "the first free one";
  this->expect_only_entries_are_left();
}

TYPED_TEST(g_guards, stay_when_their_thread_has_given_its_thread_record_up) {
  ASSERT_TRUE(this->m->insert(1, tracked(77)));
  std::thread other([&] {
    // made before the thread has a thread record, and so destroyed after the thread has given it up
    struct late {
      typename TestFixture::map* m = nullptr;
      std::optional<decltype(std::declval<typename TestFixture::map&>().guard())> guard;
      const tracked* seen = nullptr;
      std::atomic<std::uint64_t>* number = nullptr;
      ~late() {
        if (m == nullptr) return;
        std::thread([this] {
          EXPECT_TRUE(m->erase(1));
          for (std::uint64_t i = 0; i < 20000; ++i) m->insert_or_assign(2 + i % 50, tracked(i));
          m->shrink_to_fit();
        }).join();
        number->store(seen->number());
        guard.reset();
      }
    };
    static thread_local late last;
    last.m = this->m.get();
    last.number = &this->number;
    const auto s = cubby::detail::engine_access::context_of(*this->m);
    last.guard.emplace(s.engine, s.at);
    EXPECT_EQ(this->m->visit(1, [&](const tracked& value) { last.seen = &value; }), 1u);
  });
  other.join();
  EXPECT_EQ(this->number.load(), 77u);
  this->expect_only_entries_are_left();
}

TEST(g_guards_of_one_thread, keep_what_its_own_later_calls_retire) {
  allocation_account account;
  cubby::map<std::uint64_t, tracked, cubby::dlht_single, cubby::hash<std::uint64_t>, counting_allocator<std::byte>> m(
      tiny_options(), cubby::hash<std::uint64_t>{}, counting_allocator<std::byte>(account));
  ASSERT_TRUE(m.insert(1, tracked(77)));
  {
    const auto g = m.guard();
    const tracked* seen = nullptr;
    EXPECT_EQ(m.visit(1, [&](const tracked& value) { seen = &value; }), 1u);
    EXPECT_TRUE(m.erase(1));
    for (std::uint64_t i = 0; i < 2000; ++i) m.insert_or_assign(2 + i % 50, tracked(i));
    EXPECT_EQ(seen->number(), 77u);
  }
  m.shrink_to_fit();
  EXPECT_EQ(account.blocks.load(), 50);
}

template <class Mode>
class guarded_calls : public ::testing::Test {};
TYPED_TEST_SUITE(guarded_calls, shared_modes);

TYPED_TEST(guarded_calls, answer_like_others_while_the_table_grows_and_shrinks) {
  using mode = TypeParam;
  for (const auto growth : growing_policies) {
    typename mode::map m(tiny_options(growth));
    run_threads(3, [&](unsigned t) {
      auto h = m.handle();
      const std::uint64_t first = 1000 * t;
      for (std::uint64_t round = 0; round < scaled(20); ++round) {
        const auto g = h.guard();
        for (std::uint64_t i = first; i < first + 200; ++i) {
          ASSERT_FALSE(h.contains(mode::key(i)));
          ASSERT_TRUE(h.insert(mode::key(i), mode::value(i)));
          ASSERT_FALSE(h.insert(mode::key(i), mode::value(i)));
          ASSERT_EQ(h.find(mode::key(i)), mode::value(i));
          ASSERT_TRUE(h.assign(mode::key(i), mode::value(i + 1)));
          ASSERT_EQ(h.find(mode::key(i)), mode::value(i + 1));
        }
        if (t == 0) m.shrink_to_fit();
        for (std::uint64_t i = first; i < first + 200; ++i) ASSERT_TRUE(h.erase(mode::key(i)));
      }
    });
    EXPECT_EQ(m.size(), 0u);
    // The table's own thread may be inside for a moment yet.
    for (int tries = 0; tries < 10'000 && m.stats().retired != 0; ++tries) {
      m.shrink_to_fit();
      std::this_thread::yield();
    }
    EXPECT_EQ(m.stats().retired, 0u) << "no thread is left inside";
  }
}

TYPED_TEST(guarded_calls, leave_the_thread_record_as_they_found_it) {
  using mode = TypeParam;
  typename mode::map m(tiny_options());
  auto h = m.handle();
  for (int round = 0; round < 3; ++round) {
    {
      const auto g = h.guard();
      h.insert(mode::key(1), mode::value(1));
      EXPECT_TRUE(h.find(mode::key(1)).has_value());
      EXPECT_TRUE(h.erase(mode::key(1)));
      EXPECT_TRUE(cubby::detail::registry::inside()) << "a call has ended the guard: no thread that frees sees it";
    }
    EXPECT_FALSE(cubby::detail::registry::inside(*h.own_thread_record()));
    h.insert(mode::key(1), mode::value(1));
    EXPECT_TRUE(h.contains(mode::key(1)));
    h.assign(mode::key(1), mode::value(2));
    EXPECT_TRUE(h.erase(mode::key(1)));
    EXPECT_FALSE(cubby::detail::registry::inside(*h.own_thread_record())) << "a call has not left";
  }
}

TEST(g_guards_of_words, keep_the_index_that_others_replace) {
  using map = typename word_mode<cubby::dlht>::map;
  map m(tiny_options());
  auto h = m.handle();
  ASSERT_TRUE(h.insert(1, 1));
  {
    const auto g = h.guard();
    std::thread other([&] {
      for (std::uint64_t k = 2; k < 5000; ++k) m.insert(k, k);
      m.shrink_to_fit();
    });
    other.join();
    EXPECT_NE(m.stats().retired, 0u) << "indexes that the guard may see";
    EXPECT_EQ(h.find(1), 1u);
  }
  m.reserve(0);
  m.shrink_to_fit();
  EXPECT_EQ(m.stats().retired, 0u);
}

} // namespace
} // namespace cubby_test
