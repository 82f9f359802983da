// SPDX-License-Identifier: Apache-2.0
// modify: the caller's function runs once, on an entry that no other thread changes meanwhile; and no thread waits for it but one that
// wants to change that entry.
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <cubby/rcu.hpp>

#include "engines.hpp"
#include "support/failing_memory.hpp"
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

/// Everything that need not wait: changes in the same stripe, and a growth, whose end waits for the pin of the thread that is
/// inside.
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

using cubby::verb;
/// An ordered batch of requests, each of which is `done`.
template <class Map> void carry_out(Map& m, const std::vector<typename Map::request_type>& requests) {
  std::vector<typename Map::reply_type> replies(requests.size());
  EXPECT_EQ(m.execute(requests, replies, cubby::batch_policy::run_all), requests.size());
  for (const auto& r : replies) EXPECT_EQ(r.result, cubby::outcome::done) << "request " << &r - replies.data();
}

/// Who has to wait; the last five take the entry out.
template <class Map, class Made> std::vector<std::function<void(Map&)>> changes_of_held(const Made& made) {
  return {
      [&](Map& m) { EXPECT_TRUE(m.assign(held, made(8))); },
      [&](Map& m) { EXPECT_FALSE(m.insert_or_assign(held, made(8))); },
      [&](Map& m) { EXPECT_TRUE(m.update(held, [&](const auto&) { return made(8); })); },
      [&](Map& m) { EXPECT_TRUE(m.modify(held, [&](auto& v) { v = v == made(5) ? made(8) : v; })); },
      [&](Map& m) { carry_out(m, {{verb::find, held}, {verb::assign, held, made(8)}}); },
      [&](Map& m) { carry_out(m, {{verb::erase, held}}); },
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
    EXPECT_TRUE(turns.ends_alone(other)) << "beside change " << i;
    EXPECT_EQ(turns.run_until(holder, scheduler::never), scheduler::stopped::finished);
    ASSERT_TRUE(turns.finish_all());
    EXPECT_EQ(m.contains(held), i < 5);
    if (i < 5) {
      EXPECT_EQ(*m.find(held), made(8));
    }
  }
}

/// What comes before the request for the entry is done when the batch waits, and nothing of what comes behind it.
TYPED_TEST(modify, makes_a_batch_wait_in_its_order) {
  constexpr std::uint64_t first = held + 64, last = held + 128; // with the same lock
  for (const verb what : {verb::assign, verb::insert_or_assign, verb::erase}) {
    typename TestFixture::map m(tiny_options());
    ASSERT_TRUE(m.insert(held, this->made(1)) && m.insert(first, this->made(1)));
    bool inside = false;
    scheduler turns;
    const auto holder = turns.start([&] {
      EXPECT_TRUE(m.modify(held, [&](auto& v) {
        inside = true;
        EXPECT_TRUE(m.contains(held)); // steps, before the first of which it stands
        v = this->made(5);
      }));
    });
    const auto batch = turns.start([&] {
      const auto nothing = this->made(0);
      carry_out(m, {{verb::find, held, nothing},
                    {verb::assign, first, this->made(2)},
                    {what, held, this->made(8)},
                    {verb::insert, last, this->made(3)},
                    {verb::erase, first, nothing}});
    });
    ASSERT_EQ(turns.run_until(holder, [&](step, const void*) { return inside; }), scheduler::stopped::before_step);
    EXPECT_FALSE(turns.ends_alone(batch));
    EXPECT_EQ(m.find(first), this->made(2));
    EXPECT_EQ(m.find(held), this->made(1));
    EXPECT_FALSE(m.contains(last));
    ASSERT_TRUE(turns.finish_all());
    EXPECT_FALSE(m.contains(first));
    EXPECT_EQ(m.find(last), this->made(3));
    EXPECT_EQ(m.contains(held), what != verb::erase);
    EXPECT_TRUE(what == verb::erase || m.find(held) == this->made(8));
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
  EXPECT_TRUE(m.assign(held, this->made(4))) << "no thread holds it any more";
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

/// All three are too long to lie in the string itself.
const std::string text = text_value(60), longer = text + text, other_text = text_value(58);

/// Thread records are reused: holds every one that is free, so that the next to come needs memory for its own.
class every_thread_record {
public:
  every_thread_record() {
    while (cubby::detail::thread_record* const free = claim_old()) taken_.push_back(free);
  }
  ~every_thread_record() {
    for (cubby::detail::thread_record* const s : taken_) cubby::detail::registry::release(s);
  }
  every_thread_record(const every_thread_record&) = delete;
  every_thread_record& operator=(const every_thread_record&) = delete;

private:
  static cubby::detail::thread_record* claim_old() {
    const memory_failure none_new(1);
    return cubby::detail::registry::claim();
  }
  std::vector<cubby::detail::thread_record*> taken_;
};

/// Another thread, which has a thread record, does to the entry what would wait if another thread still had it, or its lock.
template <class Map> void expect_free_for_others(Map& m, const std::string& now) {
  ASSERT_EQ(m.find(held), now);
  auto h = m.handle();
  scheduler turns;
  const auto other = turns.start([&] {
    EXPECT_TRUE(h.modify(held, [](std::string& v) { v += "1"; }));
    EXPECT_EQ(h.find(held), now + "1");
    EXPECT_TRUE(h.assign(held, other_text));
    EXPECT_TRUE(h.insert(held + 64, text)); // the same lock
    EXPECT_TRUE(h.erase(held + 64) && h.erase(held));
    EXPECT_TRUE(h.insert(held, other_text));
  });
  EXPECT_TRUE(turns.ends_alone(other)) << "what a modify without memory has left is in the way";
  ASSERT_TRUE(turns.finish_all());
  EXPECT_EQ(m.find(held), other_text);
  EXPECT_EQ(m.size(), 1u);
}

/// One `modify`, in a thread that has no thread record yet, with its allocation `refused` refused. False: it was not reached.
bool fails_once(std::uint64_t refused, unsigned& calls_of_the_refused) {
  cubby::map<std::uint64_t, std::string, cubby::relativistic, own_number> m(tiny_options());
  EXPECT_TRUE(m.insert(held, text));
  unsigned calls = 0;
  bool done = false, struck = false;
  const auto change = [&](std::string& v) {
    ++calls;
    v += text;
  };
  {
    const every_thread_record nobodys;
    std::thread fresh([&] {
      const memory_failure failure(refused);
      try {
        done = m.modify(held, change);
      } catch (const std::bad_alloc&) {
      }
      struck = failure.struck();
    });
    fresh.join();
  }
  EXPECT_NE(done, struck);
  EXPECT_LE(calls, 1u);
  if (struck) calls_of_the_refused += calls;
  else EXPECT_EQ(calls, 1u);
  expect_free_for_others(m, done ? longer : text);
  return struck;
}

/// In its order: the note of the thread's record, a block of thread records and the two blocks above it, and the copy that the
/// function is given. Then what the function takes itself, and the new record.
TEST(modify_without_memory, leaves_the_entry_as_it_was_and_to_everybody) {
  ASSERT_NE(cubby::detail::registry::local(), nullptr);
  cubby::detail::registry::release(cubby::detail::registry::claim()); // there is one to spare from here on
  const auto blocks = living_blocks();
  unsigned calls = 0;
  std::uint64_t refused = 1;
  while (fails_once(refused, calls)) ++refused;
  EXPECT_GE(refused - 1, 4u) << "the test has not found every allocation";
  EXPECT_GE(calls, 2u) << "refused in the function, and after it";
  EXPECT_LT(calls, refused - 1) << "and before it";
  // A block of thread records stays for each thread that was given one: for all but the four that were refused it.
  const auto thread_records = static_cast<std::int64_t>(refused - 4);
  EXPECT_EQ(living_blocks(), blocks + thread_records) << "something leaks";
}

/// Its share ends a growth, behind which another has been asked for: that needs an array and can do without.
TYPED_TEST(modify, is_done_without_memory_for_the_next_array) {
  for (std::uint64_t refused = 1; refused <= 4; ++refused) {
    typename TestFixture::map m(tiny_options(cubby::growth_policy::cooperative)); // a share is all of a pass
    ASSERT_TRUE(m.insert(held, this->made(1)));
    {
      const cubby::rcu::read_section reader; // inside which `reserve` does not wait
      ASSERT_TRUE(m.reserve(100) && m.reserve(300) && m.stats().migrating);
    }
    bool struck = false;
    {
      const memory_failure failure(refused + (TestFixture::map::mode == cubby::storage_mode::records ? 1 : 0));
      EXPECT_TRUE(m.modify(held, [&](auto& v) { v = this->made(5); }));
      struck = failure.struck();
    }
    EXPECT_EQ(struck, refused <= 3)
        << "the array has a head, and its memory, which is asked of the test and of the heap";
    EXPECT_EQ(m.find(held), this->made(5));
    EXPECT_EQ(m.capacity(), struck ? 128u : 512u);
    EXPECT_EQ(m.stats().migrating, !struck);
    EXPECT_TRUE(m.reserve(300));
    EXPECT_EQ(m.capacity(), 512u);
  }
}

} // namespace
} // namespace cubby_test
