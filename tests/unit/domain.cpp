// SPDX-License-Identifier: Apache-2.0
// The thread records of a domain: what a scan looks at, and that thread records are given back whatever a thread's destructors do. Counted in
// steps, never timed.
#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <cubby/map.hpp>

#include "support/hooks.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

namespace sync = cubby::detail::sync;

class step_count final : public watcher {
public:
  void before(step, const void*) override { ++steps; }
  std::size_t steps = 0;
};
template <class F> std::size_t steps_of(F f) {
  step_count seen;
  f();
  return seen.steps;
}

/// Steps of a scan when so many thread records are taken: a few of the tree, and one for each thread record; where readers fence
/// for themselves, two.
constexpr std::size_t most_steps_of_scan(std::size_t taken) { return 8 + 2 * taken + 3 * (taken / 64 + 1); }

using many_handles = std::vector<cubby::map<std::uint64_t, std::uint64_t>::handle_type>;

TEST(domain, a_scan_costs_what_lives_now) {
  const cubby::detail::domain_ref own(new cubby::detail::domain);
  std::vector<cubby::detail::thread_record*> all;
  std::set<std::size_t> ids;
  for (std::size_t n = 0; n < 30'000; ++n) {
    all.push_back(cubby::detail::registry::claim(*own));
    ASSERT_NE(all.back(), nullptr);
    ASSERT_TRUE(ids.insert(all.back()->id()).second) << "given twice: " << all.back()->id();
  }
  EXPECT_EQ(*ids.rbegin(), all.size() - 1) << "numbers are small";
  EXPECT_LE(steps_of([&] { (void)own->oldest(); }), most_steps_of_scan(all.size()));
  // the newest of them stays: deep in the tree
  for (std::size_t n = 0; n + 1 < all.size(); ++n) cubby::detail::registry::release(all[n]);
  EXPECT_LE(steps_of([&] { (void)own->oldest(); }), most_steps_of_scan(1));
  const std::uint64_t before = own->oldest();
  {
    const cubby::detail::thread_pin stay(*all.back());
    EXPECT_LE(own->oldest(), own->advance()) << "it is seen";
    EXPECT_NE(own->oldest(), before);
  }
  cubby::detail::registry::release(all.back());
  EXPECT_LE(steps_of([&] { (void)own->oldest(); }), most_steps_of_scan(0));
}

TEST(domain, nothing_is_left_of_handles_that_lived_once) {
  cubby::map<std::uint64_t, std::uint64_t> m;
  {
    many_handles all;
    for (int n = 0; n < 30'000; ++n) all.push_back(m.handle());
  }
  EXPECT_LE(steps_of([&] { (void)cubby::detail::registry::own_domain()->oldest(); }), most_steps_of_scan(8));
  EXPECT_LE(m.handle().own_thread_record()->id(), 8u);
}

/// More than 4,096 of them fill a block of blocks, one after the other, in any order of release.
TEST(domain, thread_records_come_back_in_any_order) {
  random_source random(1);
  const cubby::detail::domain_ref own(new cubby::detail::domain);
  std::vector<cubby::detail::thread_record*> all;
  for (int round = 0; round < 4; ++round) {
    while (all.size() < 9000) all.push_back(cubby::detail::registry::claim(*own));
    std::set<std::size_t> ids;
    for (const auto* s : all) ids.insert(s->id());
    ASSERT_EQ(ids.size(), all.size());
    ASSERT_EQ(*ids.rbegin(), all.size() - 1);
    while (all.size() > 50) {
      std::swap(all[random.below(all.size())], all.back());
      cubby::detail::registry::release(all.back());
      all.pop_back();
    }
    EXPECT_LE(steps_of([&] { (void)own->oldest(); }), 8 + 50 * 5);
  }
  for (auto* s : all) cubby::detail::registry::release(s);
}

/// Two threads that claim and give back beside scans; each pin is seen by a scan that follows it.
TEST(domain, scans_beside_claims_miss_no_pin) {
  const cubby::detail::domain_ref own(new cubby::detail::domain);
  std::atomic<bool> done{false};
  std::atomic<std::size_t> missed{0};
  std::vector<cubby::detail::thread_record*> crowd; // so that the thread records below are in blocks which come and go
  for (int n = 0; n < 64; ++n) crowd.push_back(cubby::detail::registry::claim(*own));
  std::thread other([&] {
    while (!done.load()) {
      for (int n = 0; n < 100; ++n) cubby::detail::registry::release(cubby::detail::registry::claim(*own));
    }
  });
  for (std::uint64_t n = 0; n < scaled(4000); ++n) {
    cubby::detail::thread_record* const mine = cubby::detail::registry::claim(*own);
    {
      const cubby::detail::thread_pin stay(*mine);
      const std::uint64_t epoch = own->advance();
      if (own->oldest() >= epoch) ++missed;
    }
    cubby::detail::registry::release(mine);
  }
  done = true;
  other.join();
  for (auto* s : crowd) cubby::detail::registry::release(s);
  EXPECT_EQ(missed.load(), 0u);
}

/// A map's user whose destructor runs at the end of its thread, after the thread's record has been given back.
struct late_user {
  cubby::map<std::uint64_t, std::uint64_t>* of = nullptr;
  ~late_user() {
    if (of != nullptr) of->insert_or_assign(1, 2);
  }
};
thread_local late_user before_the_first_call;
thread_local late_user after_the_first_call;

TEST(domain, thread_records_come_back_whatever_the_order_of_destructors) {
  cubby::map<std::uint64_t, std::uint64_t> m;
  m.insert(1, 1);
  const std::size_t first = m.handle().own_thread_record()->id();
  for (int n = 0; n < 200; ++n) {
    std::thread([&] {
      before_the_first_call.of = &m; // built before the thread record is claimed: destroyed after it is given back
      (void)m.find(1);
      after_the_first_call.of = &m;
    }).join();
  }
  EXPECT_EQ(m.handle().own_thread_record()->id(), first);
  EXPECT_LE(steps_of([&] { (void)cubby::detail::registry::own_domain()->oldest(); }), 40u);
}

/// A scan that finds the thread record free may free what its last owner has read.
TEST(domain, who_skips_a_thread_record_has_seen_what_its_owner_did) {
  const cubby::detail::domain_ref own(new cubby::detail::domain);
  for (std::uint64_t n = 0; n < scaled(200); ++n) {
    std::uint64_t freed = 0; // plain: ThreadSanitizer sees what is not ordered
    sync::word<std::uint32_t> inside;
    std::thread reader([&] {
      cubby::detail::thread_record* const mine = cubby::detail::registry::claim(*own);
      {
        const cubby::detail::thread_pin stay(*mine);
        inside.store(1, sync::relaxed);
        ASSERT_EQ(freed, 0u);
      }
      cubby::detail::registry::release(mine);
    });
    while (inside.load(sync::relaxed) == 0) std::this_thread::yield();
    const std::uint64_t epoch = own->advance();
    while (own->oldest() < epoch) std::this_thread::yield();
    freed = 1;
    reader.join();
  }
}

/// A fork in the middle of a claim: the thread record is taken, and the claimer has done nothing else. Its last user was another
/// thread, which has released it. A child that took it for that thread's would give back a hold of the domain that no thread has.
TEST(domain, a_child_gives_back_no_hold_for_a_claim_that_the_fork_cut_short) {
  const cubby::detail::domain_ref own(new cubby::detail::domain);
  std::thread([&own] { (void)cubby::detail::registry::local(*own); }).join();
  const std::uint64_t before = own->holders.load(sync::relaxed);
  cubby::detail::spare_blocks spare;
  cubby::detail::thread_record* const cut_short = own->thread_records.claim(spare, 0);
  ASSERT_NE(cut_short, nullptr);
  own->forget_others();
  EXPECT_EQ(own->holders.load(sync::relaxed), before);
  own->thread_records.release(cut_short->id());
}

TEST(domain, a_thread_is_inside_by_its_handles_too) {
  cubby::map<std::uint64_t, std::string> m;
  m.insert(1, "a");
  auto h = m.handle();
  EXPECT_FALSE(cubby::detail::registry::inside());
  (void)h.find_ref(1);
  EXPECT_TRUE(cubby::detail::registry::inside());
  std::thread([] { EXPECT_FALSE(cubby::detail::registry::inside()) << "another's handle"; }).join();
  h.unpin();
  EXPECT_FALSE(cubby::detail::registry::inside());
}

} // namespace
} // namespace cubby_test
