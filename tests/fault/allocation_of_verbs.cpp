// SPDX-License-Identifier: Apache-2.0
// Every verb that may allocate, with its first, second, ... allocation refused until none is, on a key that is there and on one
// that is not. It says so, by std::bad_alloc or by its answer, and then has had no effect. A second call succeeds. Nothing leaks.
// The table is full to the brim, so that inserts need space; and there are thread records, sets, batches.
#include <algorithm>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "engines.hpp"
#include "support/failing_memory.hpp"
#include "support/hooks.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

/// One thread is no race: under ThreadSanitizer, where allocations come dear, fewer fills do.
constexpr bool few_fills = cubby::detail::cpu::thread_sanitizer;
/// Among these are 53 and 56. After them the first array of `dramhit`, and the first bucket of `iceberg`, count as crowded.
constexpr bool is_tried(std::uint64_t entries) { return !few_fills || entries % 5 == 3 || entries == 56; }

/// What a verb said: that it was done, or that there was no memory.
enum class said : std::uint8_t { done, no_memory };

template <class Mode>
class allocation_of_verbs : public ::testing::Test {
protected:
  using map = typename Mode::map;
  using verb = std::function<said(map&)>;
  static constexpr std::uint64_t key = 7;
  static constexpr std::uint64_t fresh = 101; // its place is crowded in some of the fills, in every engine
  static constexpr std::uint64_t number = 77;

  /// The growth policies' tables of this many entries are about to grow somewhere in the next insert or two.
  static std::unique_ptr<map> filled(std::uint64_t entries) {
    auto m = std::make_unique<map>(tiny_options());
    for (std::uint64_t n = 0; n < entries; ++n) EXPECT_TRUE(m->insert(Mode::key(n), Mode::value(n)));
    return m;
  }
  static std::vector<std::uint64_t> content(map& m) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t n = 0; n <= fresh; ++n) {
      const auto got = m.find(Mode::key(n));
      all.push_back(got ? Mode::number(*got) : torn - 1);
    }
    return all;
  }

  /// One run with allocation `refused` refused; false: it was not reached.
  static bool fails_once(std::uint64_t entries, std::uint64_t refused, const verb& what,
                         std::vector<std::uint64_t>& after) {
    auto m = filled(entries);
    const auto before = content(*m);
    said how = said::no_memory;
    bool struck = false;
    {
      const memory_failure failure(refused);
      try {
        how = what(*m);
      } catch (const std::bad_alloc&) {
      }
      struck = failure.struck();
    }
    EXPECT_TRUE(struck || how == said::done) << "no memory, although there was all";
    if (how == said::no_memory) {
      EXPECT_EQ(content(*m), before) << "it said that there was no memory, and had an effect";
      EXPECT_EQ(what(*m), said::done) << "a second call, with memory";
    }
    after = content(*m);
    EXPECT_EQ(m->size(), static_cast<std::size_t>(
                             std::count_if(after.begin(), after.end(), [](auto n) { return n != torn - 1; })));
    return struck;
  }

  static std::uint64_t allocations_of(std::uint64_t entries, const verb& what) {
    auto m = filled(entries);
    const memory_failure none(1000);
    (void)what(*m);
    return none.granted();
  }

  /// Whether a run takes this fill. A short one, or one under ThreadSanitizer, takes each at which the verb allocates more or less often than at the one
  /// before, and of the others every fifth.
  static bool takes(std::uint64_t entries, const verb& what, std::uint64_t& allocations) {
    if (!sparse() && !few_fills) return true;
    const std::uint64_t before = std::exchange(allocations, allocations_of(entries, what));
    return allocations != before || entries % 5 == run_seed() % 5;
  }

  /// Until no allocation is left to refuse; each run has to come to the same content. Over tables of several fills.
  static void each_fails(const char* name, const verb& what, std::uint64_t at_least) {
    (void)filled(1); // the thread's record stays
    const auto blocks = living_blocks();
    std::uint64_t most = 0, allocations = 0;
    for (std::uint64_t entries = 8; entries < 60; ++entries) {
      if (!takes(entries, what, allocations)) continue;
      std::vector<std::uint64_t> wanted, after;
      ASSERT_FALSE(fails_once(entries, 1000, what, wanted));
      std::uint64_t number_of = 1;
      for (; fails_once(entries, number_of, what, after); ++number_of) {
        ASSERT_EQ(after, wanted) << name << " with allocation " << number_of << " refused, of " << entries
                                 << " entries";
        ASSERT_LT(number_of, 1000u);
      }
      most = std::max(most, number_of - 1);
    }
    EXPECT_GE(most, at_least) << name << ": the test has found no allocation to refuse";
    EXPECT_EQ(living_blocks(), blocks) << name << " leaks";
  }
  static said of(bool) { return said::done; }
};
template <class Line>
using verb_modes_of =
    join<types_if<Line::records && Line::shared && !Line::lookups_lock, mode_of<Line, word_mode>>,
         types_if<Line::records, mode_of<Line, text_mode>>, types_if<Line::wide_slots, mode_of<Line, slot_text_mode>>,
         types_if<Line::tuples || Line::wide_slots, mode_of<Line, tuple_mode>>>;
using verb_modes = join_over<verb_modes_of, listed_engines>;
TYPED_TEST_SUITE(allocation_of_verbs, verb_modes);

template <class Mode>
constexpr std::uint64_t record_of = Mode::map::mode == cubby::storage_mode::records ? 1 : 0;

TYPED_TEST(allocation_of_verbs, that_insert) {
  using mapped = typename TypeParam::mapped_type;
  const auto k = TypeParam::key(this->fresh);
  const auto v = TypeParam::value(this->number);
  const auto same = [&](const mapped&) { return v; };
  const auto always = [&](const mapped*) -> cubby::computed<mapped> { return v; };
  // Every one of them allocates somewhere: an index at the least.
  this->each_fails("insert", [&](auto& m) { return this->of(m.insert(k, v)); }, 1);
  this->each_fails("try_emplace", [&](auto& m) { return this->of(m.try_emplace(k, v)); }, 1);
  this->each_fails("insert_or_assign", [&](auto& m) { return this->of(m.insert_or_assign(k, v)); }, 1);
  this->each_fails("insert_or_update", [&](auto& m) { return this->of(m.insert_or_update(k, same, v)); }, 1);
  this->each_fails("insert_or_add", [&](auto& m) { return this->of(m.insert_or_add(k, v)); }, 1);
  this->each_fails("compute", [&](auto& m) { return this->of(m.compute(k, always) == cubby::change::inserted); }, 1);
  this->each_fails(
      "try_insert",
      [&](auto& m) { return m.try_insert(k, v) == cubby::outcome::no_memory ? said::no_memory : said::done; }, 1);
}

TYPED_TEST(allocation_of_verbs, that_reserve) {
  if constexpr (!claims<TypeParam>(&cubby::capability_set::shadow_insert)) {
    GTEST_SKIP() << "this engine claims no shadow inserts";
  } else {
    const auto k = TypeParam::key(this->fresh);
    const auto v = TypeParam::value(this->number);
    this->each_fails(
        "shadow_insert",
        [&](auto& m) {
          auto r = m.shadow_insert(k, v);
          if (!r) return r.how() == cubby::outcome::no_memory ? said::no_memory : said::done;
          r.commit();
          return said::done;
        },
        1);
  }
}

TYPED_TEST(allocation_of_verbs, that_change) {
  using mapped = typename TypeParam::mapped_type;
  const auto k = TypeParam::key(this->key);
  const auto v = TypeParam::value(this->number);
  const auto same = [&](const mapped&) { return v; };
  const auto always = [&](const mapped*) -> cubby::computed<mapped> { return v; };
  constexpr std::uint64_t least = record_of<TypeParam>; // a word is changed where it lies
  this->each_fails("assign", [&](auto& m) { return this->of(m.assign(k, v)); }, least);
  this->each_fails("insert_or_assign", [&](auto& m) { return this->of(m.insert_or_assign(k, v)); }, least);
  this->each_fails("update", [&](auto& m) { return this->of(m.update(k, same)); }, least);
  this->each_fails("insert_or_update", [&](auto& m) { return this->of(m.insert_or_update(k, same, v)); }, least);
  this->each_fails(
      "compute", [&](auto& m) { return this->of(m.compute(k, always) == cubby::change::replaced); }, least);
}

TYPED_TEST(allocation_of_verbs, that_modify) {
  if constexpr (!claims<TypeParam>(&cubby::capability_set::exclusive_modify)) {
    GTEST_SKIP() << "this engine has no modify";
  } else {
    using mapped = typename TypeParam::mapped_type;
    const auto k = TypeParam::key(this->key);
    const auto v = TypeParam::value(this->number);
    this->each_fails(
        "modify", [&](auto& m) { return this->of(m.modify(k, [&](mapped& old) { old = v; })); }, record_of<TypeParam>);
  }
}

TYPED_TEST(allocation_of_verbs, that_take_out) {
  const auto k = TypeParam::key(this->key);
  this->each_fails("erase", [&](auto& m) { return this->of(m.erase(k)); }, 0);
  this->each_fails("erase_if", [&](auto& m) { return this->of(m.erase_if(k, [](const auto&) { return true; })); }, 0);
  this->each_fails("extract", [&](auto& m) { return this->of(m.extract(k).has_value()); }, 0);
}

/// A batch never throws for want of memory: the request's reply says so, and only that request has had no effect.
TYPED_TEST(allocation_of_verbs, in_batches) {
  using table = typename TypeParam::map;
  using request = typename table::request_type;
  const std::vector<request> requests = {
      {cubby::verb::insert, TypeParam::key(this->fresh), TypeParam::value(1)},
      {cubby::verb::assign, TypeParam::key(this->key), TypeParam::value(2)},
      {cubby::verb::insert_or_assign, TypeParam::key(this->fresh + 1), TypeParam::value(3)},
  };
  bool any = false;
  for (std::uint64_t entries = 8; entries < 60; ++entries) {
    if (!is_tried(entries)) continue;
    for (std::uint64_t refused = 1;; ++refused) {
      auto m = this->filled(entries);
      std::vector<typename table::reply_type> replies(requests.size());
      std::size_t executed = 0;
      bool struck = false;
      {
        const memory_failure failure(refused);
        executed = m->execute(requests, replies, cubby::batch_policy::stop_at_first_failure);
        struck = failure.struck();
      }
      for (std::size_t i = 0; i < requests.size(); ++i) {
        const auto how = replies[i].result;
        const bool last = i + 1 == executed;
        ASSERT_EQ(how == cubby::outcome::not_executed, i >= executed);
        ASSERT_TRUE(i >= executed || how == cubby::outcome::done || (last && how == cubby::outcome::no_memory));
        ASSERT_TRUE(struck || how == cubby::outcome::done);
        const auto got = m->find(requests[i].key);
        ASSERT_EQ(got && *got == requests[i].value, how == cubby::outcome::done)
            << "request " << i << ", allocation " << refused << " refused";
      }
      any = any || struck;
      if (!struck) break;
    }
  }
  EXPECT_TRUE(any) << "the test has found no allocation to refuse";
}

/// Sets, whose keys lie in their slots: an insert needs memory for space alone.
TEST(allocation_of_sets, leaves_each_key_in_or_out) {
  for (std::uint64_t entries = 8; entries < 60; ++entries) {
    if (!is_tried(entries)) continue;
    for (std::uint64_t refused = 1;; ++refused) {
      cubby::set<std::uint64_t, cubby::dlht> s(tiny_options());
      for (std::uint64_t n = 0; n < entries; ++n) ASSERT_TRUE(s.insert(n));
      bool inserted = false, struck = false;
      {
        const memory_failure failure(refused);
        try {
          inserted = s.insert(1000);
        } catch (const std::bad_alloc&) {
        }
        struck = failure.struck();
      }
      ASSERT_EQ(s.contains(1000), inserted);
      ASSERT_TRUE(struck || inserted);
      ASSERT_EQ(s.insert(1000), !inserted);
      ASSERT_EQ(s.size(), entries + 1);
      if (!struck) break;
    }
  }
}

/// More handles at a time than ever before: the one that lacks a thread record says so, and the next has one.
TEST(allocation_of_thread_records, is_said_by_the_handle_that_lacks_one) {
  using map = cubby::map<std::uint64_t, std::uint64_t, cubby::dlht>;
  map m(tiny_options());
  ASSERT_TRUE(m.insert(1, 1));
  std::vector<map::handle_type> handles;
  handles.reserve(5000);
  bool refused = false;
  while (!refused && handles.size() < 4999) {
    const memory_failure failure(1);
    try {
      handles.push_back(m.handle());
    } catch (const std::bad_alloc&) {
      refused = true;
    }
    EXPECT_EQ(failure.struck(), refused);
  }
  EXPECT_TRUE(refused) << "there were thousands of thread records already";
  handles.push_back(m.handle());
  EXPECT_TRUE(handles.back().contains(1));
  EXPECT_TRUE(handles.back().erase(1));
}

} // namespace
} // namespace cubby_test
