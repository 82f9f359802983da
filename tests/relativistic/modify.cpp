// SPDX-License-Identifier: Apache-2.0
// modify: the caller's function runs once, on an entry that nobody else changes meanwhile; and nobody waits for it but who
// wants to change that entry.
#include <functional>
#include <thread>
#include <vector>

#include "engines.hpp"
#include "support/scheduler.hpp"

namespace cubby_test {
namespace {

/// Keys with equal remainders share a lock.
struct own_number {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key; }
};

template <class Value> class modify : public ::testing::Test {
protected:
  using map = cubby::map<std::uint64_t, Value, cubby::relativistic, own_number>;
  static Value made(std::uint64_t n) {
    if constexpr (std::is_same_v<Value, std::uint64_t>) return n;
    else return {n, ~n, n * 3};
  }
  static std::uint64_t number(const Value& v) {
    if constexpr (std::is_same_v<Value, std::uint64_t>) return v;
    else return v == made(v.number) ? v.number : torn;
  }
};
using kinds_of_value = ::testing::Types<std::uint64_t, wide_value>;
TYPED_TEST_SUITE(modify, kinds_of_value);

constexpr std::uint64_t held = 5;

TYPED_TEST(modify, calls_its_function_once_and_nobody_else_changes_the_entry_meanwhile) {
  constexpr unsigned threads = 3;
  constexpr std::uint64_t rounds = 3000;
  typename TestFixture::map m(tiny_options());
  for (std::uint64_t k = 0; k < 3; ++k) ASSERT_TRUE(m.insert(k, this->made(0)));
  std::uint64_t calls[3] = {}; // plain: what two calls at once would spoil
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < rounds; ++i) {
        const std::uint64_t k = (i + t) % 3;
        ASSERT_TRUE(m.modify(k, [&](auto& v) {
          ++calls[k];
          v = this->made(this->number(v) + 1);
        }));
        ASSERT_TRUE(m.update(k, [&](const auto& v) { return this->made(this->number(v) + 1); }));
      }
    });
  }
  all.emplace_back([&] {
    for (unsigned i = 0; i < 50; ++i) {
      ASSERT_TRUE(m.reserve(500));
      ASSERT_TRUE(m.shrink_to_fit());
    }
  });
  for (std::thread& t : all) t.join();
  for (std::uint64_t k = 0; k < 3; ++k) {
    EXPECT_EQ(calls[k], threads * rounds / 3);
    EXPECT_EQ(this->number(*m.find(k)), 2 * threads * rounds / 3);
  }
}

/// Everything that need not wait: changes in the same stripe, and a growth, whose end waits for the pin of whoever is inside.
template <class Map, class Made> void everything_else(Map& m, const Made& made) {
  const std::uint64_t neighbour = held + 64;
  ASSERT_TRUE(m.contains(held));
  ASSERT_EQ(*m.find(held), made(1)) << "the value changes when the function has returned";
  ASSERT_FALSE(m.insert(held, made(9))) << "that the key is there needs no waiting";
  ASSERT_TRUE(m.insert(neighbour, made(2)));
  ASSERT_TRUE(m.update(neighbour, [&](const auto&) { return made(3); }));
  ASSERT_TRUE(m.modify(neighbour, [&](auto& v) { v = made(4); }));
  for (std::uint64_t k = 100; k < 180; ++k) ASSERT_TRUE(m.insert(k, made(k)));
  ASSERT_TRUE(m.stats().growths == 1 && m.erase(neighbour));
  ASSERT_FALSE(m.modify(neighbour, [](auto&) { FAIL() << "called without an entry"; }));
  std::size_t met = 0;
  for (const auto& entry : m.snapshot()) met += entry.first == held && entry.second == made(1) ? 1 : 0;
  ASSERT_EQ(met, 1u);
}

/// Lets a thread go on as long as it does not stand; a long script takes several turns. False: it waits for somebody.
bool ends_alone(scheduler& turns, std::size_t thread) {
  for (unsigned turn = 0; turn < 64; ++turn) {
    if (turns.run_until(thread, scheduler::never) == scheduler::stopped::finished) return true;
  }
  return false;
}

/// Who has to wait; the last four take the entry out.
template <class Map, class Made> std::vector<std::function<void(Map&)>> changes_of_held(const Made& made) {
  return {
      [&](Map& m) { EXPECT_TRUE(m.assign(held, made(8))); },
      [&](Map& m) { EXPECT_FALSE(m.insert_or_assign(held, made(8))); },
      [&](Map& m) { EXPECT_TRUE(m.update(held, [&](const auto&) { return made(8); })); },
      [&](Map& m) { EXPECT_TRUE(m.modify(held, [&](auto& v) { v = v == made(5) ? made(8) : v; })); },
      [&](Map& m) { EXPECT_EQ(m.extract(held), made(5)); },
      [&](Map& m) { EXPECT_TRUE(m.erase(held)); },
      [&](Map& m) {
        EXPECT_EQ(m.compute(held, [](const auto*) { return cubby::computed<typename Map::mapped_type>::erase(); }),
                  cubby::change::erased);
      },
      [&](Map& m) { m.clear(); },
  };
}

TYPED_TEST(modify, makes_those_wait_who_would_change_the_entry_and_nobody_else) {
  using table = typename TestFixture::map;
  const auto made = [](std::uint64_t n) { return TestFixture::made(n); };
  const auto changes = changes_of_held<table>(made);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    table m(tiny_options());
    ASSERT_TRUE(m.insert(held, made(1)));
    bool inside = false;
    scheduler turns;
    const auto holder = turns.start([&] {
      EXPECT_TRUE(m.modify(held, [&](auto& v) {
        inside = true;
        EXPECT_EQ(*m.find(held), made(1)); // steps, before the first of which it stands
        v = made(5);
      }));
    });
    const auto change = turns.start([&] { changes[i](m); });
    const auto other = turns.start([&] { everything_else(m, made); });
    ASSERT_EQ(turns.run_until(holder, [&](step, const void*) { return inside; }), scheduler::stopped::before_step);
    EXPECT_EQ(turns.run_until(change, scheduler::never), scheduler::stopped::waiting) << "change " << i;
    EXPECT_TRUE(ends_alone(turns, other)) << "beside change " << i;
    EXPECT_EQ(turns.run_until(holder, scheduler::never), scheduler::stopped::finished);
    ASSERT_TRUE(turns.finish_all());
    EXPECT_EQ(m.contains(held), i < 4);
    if (i < 4) {
      EXPECT_EQ(*m.find(held), made(8));
    }
  }
}

TYPED_TEST(modify, leaves_the_entry_as_it_was_when_its_function_throws) {
  typename TestFixture::map m(tiny_options());
  ASSERT_TRUE(m.insert(held, this->made(1)));
  EXPECT_THROW(m.modify(held,
                        [&](auto& v) {
                          v = this->made(2);
                          throw 7;
                        }),
               int);
  EXPECT_EQ(*m.find(held), this->made(1));
  EXPECT_TRUE(m.modify(held, [&](auto& v) { v = this->made(3); }));
  EXPECT_TRUE(m.assign(held, this->made(4))) << "nobody holds it any more";
  EXPECT_EQ(*m.find(held), this->made(4));
}

TYPED_TEST(modify, lets_those_who_wait_go_on_when_its_function_throws) {
  typename TestFixture::map m(tiny_options());
  ASSERT_TRUE(m.insert(held, this->made(1)));
  bool inside = false;
  scheduler turns;
  const auto holder = turns.start([&] {
    EXPECT_THROW(m.modify(held,
                          [&](auto&) {
                            inside = true;
                            EXPECT_TRUE(m.contains(held)); // steps, before the first of which it stands
                            throw 7;
                          }),
                 int);
  });
  const auto change = turns.start(
      [&] { EXPECT_TRUE(m.update(held, [&](const auto& v) { return this->made(this->number(v) + 10); })); });
  ASSERT_EQ(turns.run_until(holder, [&](step, const void*) { return inside; }), scheduler::stopped::before_step);
  EXPECT_EQ(turns.run_until(change, scheduler::never), scheduler::stopped::waiting);
  ASSERT_TRUE(turns.finish_all());
  EXPECT_EQ(*m.find(held), this->made(11));
}

TYPED_TEST(modify, passes_reservations_by) {
  typename TestFixture::map m(tiny_options());
  auto pending = m.shadow_insert(held, this->made(1));
  EXPECT_FALSE(m.modify(held, [](auto&) { FAIL() << "it is not there yet"; }));
  pending.commit();
  EXPECT_TRUE(m.modify(held, [&](auto& v) { v = this->made(2); }));
  EXPECT_EQ(*m.find(held), this->made(2));
}

} // namespace
} // namespace cubby_test
