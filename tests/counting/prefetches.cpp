// SPDX-License-Identifier: Apache-2.0
// What was asked for before it was touched (DRAMHiT section 3.1). In a table that does not move, a pipeline touches no slot
// line that it has not asked for. That holds for every verb, at the end of chains of up to 16 lines. Beyond that, and in
// batches, it touches the lines that the engines' pages name.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cubby/coro.hpp>
#include <cubby/dramhit.hpp>
#include <cubby/dramhit_tuples.hpp>
#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>
#include <cubby/pipeline.hpp>
#include <cubby/relativistic.hpp>
#include <cubby/seph.hpp>

#include "counting/tally.hpp"
#include "modes.hpp"
#include "support/random.hpp"

namespace cubby_counting {
namespace {

using cubby::outcome;
using cubby::verb;

constexpr std::uint64_t in_place = 1000;
constexpr std::uint64_t places = 1024;
constexpr std::uint64_t alike = 500; // from this number on the keys of a place have one hash

/// Key 1000 p + n is number n of region p: its chain begins p 1024ths into the table. The chain of region 0 begins in the
/// last line, so that it goes on in the first. Numbers make tags differ, which are of other bits of a product.
struct hash_of_places {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept {
    const std::uint64_t place = key / in_place;
    const std::uint64_t low = std::min(key % in_place, alike);
    return place == 0 ? ~low : place << 54 | low;
  }
  std::uint64_t operator()(const cubby_test::tuple_key& key) const noexcept { return (*this)(key.number); }
};

struct slots {
  using map = cubby::map<std::uint64_t, std::uint64_t, cubby::dramhit, hash_of_places>;
  static constexpr unsigned in_line = 4;
  static std::uint64_t key(std::uint64_t n) { return n; }
  static std::uint64_t value(std::uint64_t n) { return n; }
};
struct slots_of_records {
  using map = cubby::map<std::uint64_t, cubby_test::tuple_value, cubby::dramhit, hash_of_places>;
  static constexpr unsigned in_line = 4;
  static std::uint64_t key(std::uint64_t n) { return n; }
  static cubby_test::tuple_value value(std::uint64_t n) { return cubby_test::tuple_value::of(n); }
};
struct half_lines {
  using map = cubby::map<std::uint64_t, std::uint64_t, cubby::dramhit_tuples, hash_of_places>;
  static constexpr unsigned in_line = 2;
  static std::uint64_t key(std::uint64_t n) { return n; }
  static std::uint64_t value(std::uint64_t n) { return n; }
};
struct whole_lines {
  using map = cubby::map<cubby_test::tuple_key, cubby_test::tuple_value, cubby::dramhit_tuples, hash_of_places>;
  static constexpr unsigned in_line = 1;
  static cubby_test::tuple_key key(std::uint64_t n) { return {7, n}; }
  static cubby_test::tuple_value value(std::uint64_t n) { return cubby_test::tuple_value::of(n); }
};

/// A table with space, in memory of `operator new`, so that its own words are told apart from lines.
template <class Kind> class field {
public:
  using map = typename Kind::map;

  field() : table_(std::make_unique<map>(cubby::options{.capacity = 4 * places})) {
    EXPECT_GE(table_->stats().bins, places) << "chains would meet";
    (void)table_->contains(Kind::key(in_place - 1)); // claims the thread's record
  }
  ~field() { EXPECT_FALSE(table_->stats().migrating); }
  field(const field&) = delete;
  field& operator=(const field&) = delete;

  map& table() { return *table_; }
  void put(std::uint64_t n) { EXPECT_TRUE(table_->insert(Kind::key(n), Kind::value(n))); }
  /// Makes a chain of so many lines and returns the key of an entry in the last one. If it is not to be `there`, returns the
  /// key of one whose slot there is empty.
  std::uint64_t chain(std::uint64_t place, unsigned lines, bool there) {
    const std::uint64_t first = place * in_place + 4; // 0 to 3 are reserved words
    const std::uint64_t last = first + std::uint64_t{lines - 1} * Kind::in_line;
    for (std::uint64_t n = first; n < last; ++n) put(n);
    if (there) put(last);
    return last;
  }
  /// Keys at the ends of chains of 1 to 16 lines, and of one that goes round the end of the array.
  std::vector<std::uint64_t> chains(bool there) {
    std::vector<std::uint64_t> ends;
    for (unsigned lines = 1; lines <= 16; ++lines) ends.push_back(chain(50 * lines, lines, there));
    ends.push_back(chain(0, 16, there));
    return ends;
  }
  template <class F> tally count(F f) {
    start({reinterpret_cast<const std::byte*>(table_.get()), sizeof(map)}, {});
    f(*table_);
    return stop();
  }

private:
  std::unique_ptr<map> table_;
};
constexpr unsigned lines_of_chains = 16 * 17 / 2 + 16;

struct wanted {
  verb what;
  bool there;
  outcome result;
};
constexpr wanted verbs[] = {{verb::find, true, outcome::done},
                            {verb::find, false, outcome::absent},
                            {verb::insert, true, outcome::exists},
                            {verb::insert, false, outcome::done},
                            {verb::assign, true, outcome::done},
                            {verb::assign, false, outcome::absent},
                            {verb::insert_or_assign, true, outcome::done},
                            {verb::insert_or_assign, false, outcome::done},
                            {verb::insert_or_add, true, outcome::done},
                            {verb::insert_or_add, false, outcome::done},
                            {verb::erase, true, outcome::done},
                            {verb::erase, false, outcome::absent}};

/// The verb for each of the keys, through a pipeline.
template <class Kind>
tally piped(field<Kind>& f, const wanted& w, const std::vector<std::uint64_t>& keys, std::size_t window) {
  auto pending = f.table().handle().pipeline({.window = window});
  std::vector<typename Kind::map::request_type> asked;
  for (const std::uint64_t n : keys) asked.push_back({w.what, Kind::key(n), Kind::value(n + 1), n});
  std::size_t as_wanted = 0;
  const tally counts = f.count([&](auto&) {
    const auto look = [&](const auto& reply) { as_wanted += reply.result == w.result ? 1 : 0; };
    for (const auto& r : asked) pending.submit(r, look);
    pending.drain(look);
  });
  EXPECT_EQ(as_wanted, keys.size());
  return counts;
}

template <class Kind> void expect_that_all_is_asked_for() {
  for (const wanted& w : verbs) {
    for (const std::size_t window : {1U, 4U, 32U}) {
      SCOPED_TRACE(testing::Message() << "verb " << static_cast<int>(w.what) << (w.there ? ", there" : ", absent")
                                      << ", window " << window);
      field<Kind> f;
      const std::vector<std::uint64_t> keys = f.chains(w.there);
      const tally t = piped(f, w, keys, window);
      EXPECT_EQ(t.lines, lines_of_chains);
      EXPECT_EQ(t.unasked, 0U);
    }
  }
}
TEST(prefetches, of_a_pipeline_come_before_each_line_of_slots_that_it_touches) {
  expect_that_all_is_asked_for<slots>();
}
TEST(prefetches, of_a_pipeline_come_before_each_line_of_slots_that_lead_to_records) {
  expect_that_all_is_asked_for<slots_of_records>();
}
TEST(prefetches, of_a_pipeline_come_before_each_line_of_tuples_that_it_touches) {
  expect_that_all_is_asked_for<half_lines>();
  expect_that_all_is_asked_for<whole_lines>();
}

// Requests of all verbs that meet in the ring, over a table that is half full, so that no chain comes to 16 lines. What was
// asked for more than 512 prefetches before does not count, so one request is hardly helped by another.
TEST(prefetches, of_a_pipeline_come_shortly_before_its_lines_are_touched) {
  using map = cubby::map<std::uint64_t, std::uint64_t, cubby::dramhit>;
  constexpr std::uint64_t entries = 16000;
  const auto table = std::make_unique<map>(cubby::options{.capacity = entries * 3 / 2});
  for (std::uint64_t i = 0; i < entries; ++i) ASSERT_TRUE(table->insert(cubby_test::splitmix(i), i));
  auto pending = table->handle().pipeline({.window = 16});
  const auto forget = [](const auto&) {};
  start({reinterpret_cast<const std::byte*>(table.get()), sizeof(map)}, {});
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const std::uint64_t key = cubby_test::splitmix(cubby_test::splitmix(~i) % (2 * entries)); // half of them are absent
    pending.submit({verbs[i % std::size(verbs)].what, key, i, i}, forget);
  }
  pending.drain(forget);
  const tally t = stop();
  EXPECT_FALSE(table->stats().migrating);
  EXPECT_GT(t.lines, 3000U);
  EXPECT_EQ(t.unasked, 0U);
}

/// How many prefetches have gone out behind each of so many requests.
std::vector<unsigned> asked_behind_each(cubby::pipeline_options chosen, unsigned requests) {
  static unsigned asked = 0;
  field<slots> f;
  std::vector<unsigned> behind;
  auto pending = f.table().handle().pipeline(chosen);
  asked = 0;
  auto* const of_the_tally = cubby::detail::installed_prefetch_hook();
  cubby::detail::install_prefetch_hook([](const void*) { ++asked; });
  for (unsigned i = 0; i < requests; ++i) {
    pending.submit({verb::find, (i + 1) * in_place + 4, 0, i}, [](auto&&) { FAIL() << "the window is not full"; });
    behind.push_back(asked);
  }
  cubby::detail::install_prefetch_hook(of_the_tally);
  return behind;
}
TEST(prefetches, of_a_pipeline_go_out_a_batch_at_a_time) {
  const auto all = [](cubby::pipeline_options chosen) { return asked_behind_each(chosen, 8); };
  EXPECT_EQ(all({.window = 8, .batch = 1}), (std::vector<unsigned>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(all({.window = 8, .batch = 3}), (std::vector<unsigned>{0, 0, 3, 3, 3, 6, 6, 6}));
  EXPECT_EQ(all({.window = 8, .batch = 8}), (std::vector<unsigned>{0, 0, 0, 0, 0, 0, 0, 8}));
  EXPECT_EQ(all({.window = 8, .batch = 100}), (std::vector<unsigned>{0, 0, 0, 0, 0, 0, 0, 8}));
  EXPECT_EQ(all({.window = 8}), (std::vector<unsigned>{0, 0, 0, 4, 4, 4, 4, 8})) << "half of the window";
  const auto of_many = asked_behind_each({.window = 200}, 40);
  EXPECT_EQ(of_many[14], 0U);
  EXPECT_EQ(of_many[15], 16U) << "no more than 16";
}

TEST(prefetches, of_a_pipeline_end_with_the_sixteenth_line_of_a_chain) {
  const auto unasked = []<class Kind>(Kind) {
    field<Kind> f;
    const std::vector<std::uint64_t> keys{f.chain(50, 19, true)};
    return piped(f, verbs[0], keys, 4).unasked;
  };
  EXPECT_EQ(unasked(slots{}), 3U);
  EXPECT_EQ(unasked(slots_of_records{}), 3U);
  EXPECT_EQ(unasked(half_lines{}), 3U);
  EXPECT_EQ(unasked(whole_lines{}), 3U);
}
TEST(prefetches, are_not_of_the_side_line_of_reserved_words) {
  field<slots> f;
  const std::vector<std::uint64_t> keys{0, 1, 2, 3};
  for (const std::uint64_t n : keys) f.put(n);
  const tally t = piped(f, verbs[0], keys, 4);
  EXPECT_EQ(t.lines, 1U);
  EXPECT_EQ(t.unasked, 1U);
}
TEST(prefetches, of_tuples_end_where_another_key_shows_the_tag) {
  field<half_lines> f;
  const std::uint64_t first = 50 * in_place + alike;
  for (std::uint64_t n = first; n < first + 5; ++n) f.put(n);
  const tally t = piped(f, verbs[0], {first + 4}, 4);
  EXPECT_EQ(t.lines, 3U);
  EXPECT_EQ(t.unasked, 2U) << "all but the first one";
}

template <class Kind> tally in_a_batch_of_finds(bool there) {
  field<Kind> f;
  std::vector<typename Kind::map::key_type> keys;
  for (const std::uint64_t n : f.chains(there)) keys.push_back(Kind::key(n));
  std::array<typename Kind::map::mapped_type, 32> values{};
  std::array<bool, 32> found{};
  std::size_t hits = 0;
  const tally t = f.count([&](auto& table) { hits = table.find_batch(std::span(std::as_const(keys)), values, found); });
  EXPECT_EQ(hits, there ? keys.size() : 0);
  EXPECT_EQ(t.lines, lines_of_chains);
  return t;
}
constexpr unsigned beyond_the_first = lines_of_chains - 17; // of 17 chains
constexpr unsigned beyond_the_second = beyond_the_first - 16;

TEST(prefetches, of_a_batch_of_finds_are_of_two_lines_of_a_chain_and_with_records_of_one) {
  for (const bool there : {true, false}) {
    EXPECT_EQ(in_a_batch_of_finds<slots>(there).unasked, beyond_the_second);
    EXPECT_EQ(in_a_batch_of_finds<half_lines>(there).unasked, beyond_the_second);
    EXPECT_EQ(in_a_batch_of_finds<whole_lines>(there).unasked, beyond_the_second);
    EXPECT_EQ(in_a_batch_of_finds<slots_of_records>(there).unasked, beyond_the_first);
  }
}

template <class Kind> unsigned unasked_in_a_batch(cubby::verb what) {
  field<Kind> f;
  std::vector<typename Kind::map::request_type> asked;
  for (const std::uint64_t n : f.chains(what != cubby::verb::insert))
    asked.push_back({what, Kind::key(n), Kind::value(n + 1)});
  std::vector<typename Kind::map::reply_type> replies(asked.size());
  const tally t = f.count([&](auto& table) { EXPECT_EQ(table.execute(asked, replies), asked.size()); });
  EXPECT_EQ(replies.back().result, outcome::done);
  EXPECT_EQ(t.lines, lines_of_chains);
  return t.unasked;
}
TEST(prefetches, of_a_batch_of_verbs_are_of_the_first_line_of_a_chain) {
  for (const cubby::verb what : {cubby::verb::find, cubby::verb::insert, cubby::verb::assign, cubby::verb::erase}) {
    SCOPED_TRACE(static_cast<int>(what));
    EXPECT_EQ(unasked_in_a_batch<slots>(what), beyond_the_first);
    EXPECT_EQ(unasked_in_a_batch<slots_of_records>(what), beyond_the_first);
    EXPECT_EQ(unasked_in_a_batch<half_lines>(what), beyond_the_first);
    EXPECT_EQ(unasked_in_a_batch<whole_lines>(what), beyond_the_first);
  }
}

/// The addresses that a call asks for.
std::vector<std::uintptr_t> asked_for;
template <class F> void note_prefetches(F f) {
  asked_for.clear();
  cubby::detail::install_prefetch_hook(
      [](const void* address) { asked_for.push_back(reinterpret_cast<std::uintptr_t>(address)); });
  f();
  cubby::detail::install_prefetch_hook(nullptr);
}
bool was_asked_for(const void* address) {
  const auto line = [](std::uintptr_t at) { return at / cubby::detail::cpu::cache_line; };
  const auto wanted = line(reinterpret_cast<std::uintptr_t>(address));
  return std::ranges::any_of(asked_for, [&](std::uintptr_t at) { return line(at) == wanted; });
}

/// A long key lies outside the slots, where only its bytes show it. An address that was asked for can be read if it is aligned.
class prefetches_of_long_keys : public ::testing::Test {
protected:
  using map = cubby::map<std::string, std::uint64_t, cubby::iceberg>;
  prefetches_of_long_keys() : all({.capacity = 1000}) {
    for (std::uint64_t n = 0; n < 60; ++n) keys.push_back(std::to_string(10'000'000 + n) + std::string(30, 'k'));
    for (const std::string& k : keys) EXPECT_TRUE(all.insert(k, 1));
  }
  void expect_all_texts() {
    for (const std::string& k : keys) {
      EXPECT_TRUE(std::ranges::any_of(asked_for, [&](std::uintptr_t at) {
        return at % 8 == 0 && std::memcmp(reinterpret_cast<const void*>(at), k.data(), 8) == 0;
      })) << k;
    }
  }
  map all;
  std::vector<std::string> keys;
};
TEST_F(prefetches_of_long_keys, in_a_batch_of_finds_are_of_their_texts) {
  std::array<std::uint64_t, 60> values{};
  std::array<bool, 60> found{};
  note_prefetches([&] { EXPECT_EQ(all.find_batch(std::span(std::as_const(keys)), values, found), keys.size()); });
  expect_all_texts();
}
TEST_F(prefetches_of_long_keys, in_a_batch_of_verbs_are_of_their_texts) {
  std::vector<map::request_type> asked;
  for (const std::string& k : keys) asked.push_back({verb::assign, k, 2});
  std::vector<map::reply_type> replies(asked.size());
  note_prefetches([&] { EXPECT_EQ(all.execute(asked, replies), asked.size()); });
  expect_all_texts();
}
cubby::task ask(const cubby::map<std::string, std::uint64_t, cubby::iceberg>& all, const std::string& key) {
  EXPECT_TRUE((co_await all.async_find(key)).has_value());
}
TEST_F(prefetches_of_long_keys, in_coroutines_are_of_their_texts) {
  note_prefetches([&] {
    cubby::round_robin runner(8);
    for (const std::string& k : keys) runner.spawn(ask(all, k));
    runner.run();
  });
  expect_all_texts();
}
TEST(prefetches, of_a_batch_of_finds_in_iceberg_are_of_each_record) {
  cubby::map<std::uint64_t, std::array<std::uint64_t, 12>, cubby::iceberg> m({.capacity = 1000});
  std::vector<std::uint64_t> keys;
  for (std::uint64_t n = 0; n < 60; ++n) keys.push_back(n);
  for (const std::uint64_t k : keys) ASSERT_TRUE(m.insert(k, {k}));
  std::vector<const void*> shown;
  note_prefetches([&] {
    m.visit_batch(keys, [&](std::size_t, const std::array<std::uint64_t, 12>* value) { shown.push_back(value); });
  });
  ASSERT_EQ(shown.size(), keys.size());
  for (const void* value : shown) EXPECT_TRUE(was_asked_for(value));
}

template <class Engine> void expect_scans_to_ask() {
  using value = std::array<std::uint64_t, 12>;
  cubby::map<std::uint64_t, value, Engine> m({.capacity = 1000});
  for (std::uint64_t k = 0; k < 100; ++k) ASSERT_TRUE(m.insert(k, {k}));
  std::vector<const void*> shown;
  note_prefetches([&] { m.visit_all([&](std::uint64_t, const value& v) { shown.push_back(&v); }); });
  ASSERT_EQ(shown.size(), 100u);
  for (const void* v : shown) EXPECT_TRUE(was_asked_for(v));
}
TEST(prefetches, of_a_scan_are_of_each_record) {
  expect_scans_to_ask<cubby::dlht>();
  expect_scans_to_ask<cubby::dlht_single>();
  expect_scans_to_ask<cubby::dramhit>();
  expect_scans_to_ask<cubby::iceberg>();
  expect_scans_to_ask<cubby::relativistic>();
  expect_scans_to_ask<cubby::seph>();
}

TEST(prefetches, are_none_of_a_verb_alone) {
  field<slots> f;
  const std::uint64_t key = f.chain(50, 16, true);
  const tally t = f.count([&](auto& table) { EXPECT_TRUE(table.contains(key)); });
  EXPECT_EQ(t.lines, 16U);
  EXPECT_EQ(t.unasked, 16U);
}

} // namespace
} // namespace cubby_counting
