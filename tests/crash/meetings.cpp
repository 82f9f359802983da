// SPDX-License-Identifier: Apache-2.0
// Changes of a durable seph table that one thread begins and another one completes, with a power cut at each drain and at each return. The first
// thread stops at each of its steps in turn, also between its compare-and-swap and the first write-back. And what each change costs.
#include "crash/rig.hpp"
#include "crash/turns.hpp"

namespace cubby_test::crash {
namespace {

/// A call of one thread, and what another one does while the first one stands still.
struct meeting {
  const char* name;
  std::vector<call> before; // calls that have returned
  call stopped;
  std::vector<call> meanwhile;
  bool splits = false; // meanwhile the key's segment splits, too
};
constexpr token key = crowd;
const meeting meetings[] = {
    {"an insert is found", {}, {verb::insert, key, 1}, {{verb::find, key, 0}}},
    {"an insert is met by one of the same key", {}, {verb::insert, key, 1}, {{verb::insert, key, 2}}},
    {"an insert is replaced", {}, {verb::insert, key, 1}, {{verb::assign, key, 2}}},
    {"an insert is erased", {}, {verb::insert, key, 1}, {{verb::erase, key, 0}}},
    {"an insert is erased and comes again",
     {},
     {verb::insert, key, 1},
     {{verb::erase, key, 0}, {verb::insert, key, 2}}},
    {"an insert is split", {}, {verb::insert, key, 1}, {{verb::find, key, 0}}, true},
    {"an assign is found", {{verb::insert, key, 1}}, {verb::assign, key, 2}, {{verb::find, key, 0}}},
    {"an assign is replaced", {{verb::insert, key, 1}}, {verb::assign, key, 2}, {{verb::assign, key, 3}}},
    {"an assign is erased", {{verb::insert, key, 1}}, {verb::assign, key, 2}, {{verb::erase, key, 0}}},
    {"an assign is erased and the key comes again",
     {{verb::insert, key, 1}, {verb::assign, key, 4}},
     {verb::assign, key, 2},
     {{verb::erase, key, 0}, {verb::insert, key, 3}, {verb::erase, key, 0}}},
    {"an assign is split", {{verb::insert, key, 1}}, {verb::assign, key, 2}, {{verb::assign, key, 3}}, true},
    {"an erase is looked for", {{verb::insert, key, 1}}, {verb::erase, key, 0}, {{verb::find, key, 0}}},
    {"an erase is followed by an insert", {{verb::insert, key, 1}}, {verb::erase, key, 0}, {{verb::insert, key, 2}}},
    {"an erase is followed by changes",
     {{verb::insert, key, 1}, {verb::assign, key, 4}},
     {verb::erase, key, 0},
     {{verb::insert_or_assign, key, 2}, {verb::assign, key, 3}, {verb::erase, key, 0}}},
    {"an erase is split", {{verb::insert, key, 1}}, {verb::erase, key, 0}, {{verb::find, key, 0}}, true},
};

/// The two threads, of which one turn is that of the medium.
template <class Coding> class pair_of_threads {
public:
  pair_of_threads(rig<Coding>& r, const meeting& m) : rig_(r), threads_(r.domain()) {
    threads_.start([&r, &m] { (void)r.act_on(r.map(), 0, m.stopped, false); });
    threads_.start([&r, &m] {
      if (m.splits) {
        EXPECT_TRUE(r.map().reserve(400));
      }
      for (const call& c : m.meanwhile) (void)r.act_on(r.map(), 1, c, false);
    });
  }
  /// So many steps. True: the thread has ended.
  bool go(unsigned actor, std::uint64_t steps) {
    return threads_.go(actor, steps, [](step) { return false; });
  }
  /// Ends a thread. Where it waits for a lock that the other one has, that one goes on.
  void end(unsigned actor) {
    while (!go(actor, 1000) && !rig_.failed()) (void)go(1 - actor, 1);
  }

private:
  rig<Coding>& rig_;
  turns threads_;
};

template <class Coding> class crash_seph : public ::testing::Test {
protected:
  /// False: the call has ended before it came so far.
  static bool meet(rig<Coding>& r, const meeting& m, std::uint64_t stop) {
    for (const call& c : m.before) (void)r.act(c);
    r.watch();
    bool stands = true;
    {
      pair_of_threads<Coding> threads(r, m);
      stands = !threads.go(0, stop);
      threads.end(1);
      threads.end(0);
    }
    r.flush();
    r.watch(false);
    return stands;
  }
  static void meet_at_each_step() {
    for (const meeting& m : meetings) {
      SCOPED_TRACE(m.name);
      // Texts take more steps for the same changes of states.
      constexpr std::uint64_t stride = std::is_same_v<Coding, words_in<cubby::seph>> ? 1 : 5;
      std::uint64_t stops = 0;
      bool stands = true;
      for (; stands; stops += stride) {
        rig<Coding> r(table_options(1), sample(10));
        r.open();
        stands = meet(r, m, stops);
        if (r.failed()) break;
        r.close();
      }
      EXPECT_GT(stops, 10U) << "the call has few steps";
      if (::testing::Test::HasFailure()) return;
    }
  }
};
using codings = ::testing::Types<words_in<cubby::seph>, texts_in<cubby::seph>>;
TYPED_TEST_SUITE(crash_seph, codings);

TYPED_TEST(crash_seph, changes_are_completed_by_those_that_meet_them) { this->meet_at_each_step(); }

/// Where caches survive a power cut, too.
template <class Coding> class crash_seph_in_byte : public crash_seph<Coding> {
  in_byte chosen_;
};
TYPED_TEST_SUITE(crash_seph_in_byte, codings);
TYPED_TEST(crash_seph_in_byte, changes_are_completed_by_those_that_meet_them) { this->meet_at_each_step(); }

/// Splits write nothing to the file.
TYPED_TEST(crash_seph, splits_cost_no_line) {
  rig<TypeParam> r(table_options(1));
  r.open();
  for (token k = 1; k < 40; ++k) (void)r.act({verb::insert, k, k});
  const std::uint64_t lines = r.domain().lines();
  r.work("growth", [](auto& m) { EXPECT_TRUE(m.reserve(1000)); });
  r.work("shrink", [](auto& m) { EXPECT_TRUE(m.shrink_to_fit()); });
  EXPECT_EQ(r.domain().lines(), lines);
}

struct cost {
  double lines;
  double drains;
};
/// Key and value have 16 bytes each: a record of 72 bytes, in blocks of 80.
struct sixteen {
  using bytes = std::array<std::uint64_t, 2>;
  using table = cubby::durable_map<bytes, bytes, cubby::hash<bytes>, cubby::seph>;
};
template <class F> cost cost_of(medium& m, std::uint64_t calls, F f) {
  const std::uint64_t lines = m.lines();
  const std::uint64_t drains = m.drains();
  for (token k = 0; k < calls; ++k) f(k);
  return {static_cast<double>(m.lines() - lines) / static_cast<double>(calls),
          static_cast<double>(m.drains() - drains) / static_cast<double>(calls)};
}
TEST(crash_budget_of_seph, two_lines_for_an_insert_three_for_an_assign_and_one_for_an_erase) {
  const temporary_folder folder;
  medium domain(folder.file("table"), [](moment) {});
  const auto opened = sixteen::table::open(folder.file("table"), table_options(1), {.segment_bits = 1});
  ASSERT_TRUE(opened) << opened.message();
  constexpr std::uint64_t calls = 2000;
  const auto insert = [&](token k) { EXPECT_TRUE(opened->insert({k, ~k}, {k, k})); };
  for (token k = 0; k < calls; ++k) insert(k); // takes the extents
  for (token k = 0; k < calls; ++k) EXPECT_TRUE(opened->erase({k, ~k}));
  (void)opened->shrink_to_fit(); // gives the blocks back
  const cost inserts = cost_of(domain, calls, insert);
  const cost assigns = cost_of(domain, calls, [&](token k) { EXPECT_TRUE(opened->assign({k, ~k}, {k, k + 1})); });
  const cost finds = cost_of(domain, calls, [&](token k) { EXPECT_TRUE(opened->contains({k, ~k})); });
  const cost erases = cost_of(domain, calls, [&](token k) { EXPECT_TRUE(opened->erase({k, ~k})); });
  EXPECT_GT(opened->stats().growths, 10U) << "splits are counted as well";
  EXPECT_EQ(inserts.lines, 2.0);
  EXPECT_EQ(inserts.drains, 1.0);
  EXPECT_EQ(finds.lines + finds.drains, 0.0);
  EXPECT_EQ(erases.lines, 1.0);
  EXPECT_EQ(erases.drains, 1.0);
  EXPECT_GE(assigns.lines, 3.0);
  EXPECT_LE(assigns.lines, 3.1) << "a part of them takes an extent";
  EXPECT_GE(assigns.drains, 2.0);
  EXPECT_LE(assigns.drains, 2.1);
  domain.detach();
}

} // namespace
} // namespace cubby_test::crash
