// SPDX-License-Identifier: Apache-2.0
// Guarantee H where a sync writes a log, for entries in each of their places: the front bucket, a back bucket, a chain, and the slot of the zero
// key. The log is told of an insert only when its place is certain: a refused one has no entry there. A thread that waits for a place
// keeps no writer slot of the log, which the thread in front of it may need.
#include <atomic>
#include <cerrno>
#include <deque>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "durable/faults.hpp"
#include "durable/synced_disk.hpp"
#include "support/hooks.hpp"
#include "support/random.hpp"

namespace cubby_test {

/// Keys with the same upper bits have one hash: they are of one class.
struct hash_of_class {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return splitmix(key >> 16); }
};

} // namespace cubby_test

template <> inline constexpr std::uint64_t cubby::hash_is_stable<cubby_test::hash_of_class> = 80;

namespace cubby_test {
namespace {

namespace iceberg = cubby::detail::engines::iceberg;
using class_table = cubby::durable_map<std::uint64_t, std::uint64_t, hash_of_class>;
using class_engine =
    std::remove_cvref_t<decltype(cubby::detail::engine_access::of(std::declval<const class_table&>()))>;
using state_of_table = iceberg::table<class_engine::policy>;

// An explicit instantiation may name a private member.
struct class_table_key {
  friend constexpr state_of_table class_engine::* class_table_member(class_table_key);
};
template <class Key, auto Member> struct class_table_state {
  friend constexpr decltype(Member) class_table_member(Key) { return Member; }
};
template struct class_table_state<class_table_key, &class_engine::table_>;

constexpr std::uint64_t key_in_class(std::uint64_t number, std::uint64_t n) { return number << 16 | n; }

class log_places : public watched_files {
protected:
  static constexpr std::uint64_t first = 1; // a class
  static constexpr std::uint64_t in_front = iceberg::front_slots<iceberg::slot<1, 1>>;
  static constexpr std::uint64_t in_backs = std::uint64_t{2} * iceberg::back_slots;

  void SetUp() override {
    watched_files::SetUp();
    table_ = must_open<class_table>(disk_.path, {.capacity = 4000, .log_bytes = std::size_t{256} << 10}); // no growths
  }
  [[nodiscard]] state_of_table& state() {
    auto& engine = const_cast<class_engine&>(cubby::detail::engine_access::of(*table_));
    return engine.*class_table_member(class_table_key{});
  }
  [[nodiscard]] std::uint64_t hash_in(std::uint64_t number) {
    return state().policy.probe_of(key_in_class(number, 0)).hash;
  }
  [[nodiscard]] const void* front_line_of(std::uint64_t number) {
    return iceberg::front_of(state(), iceberg::hashed_for<iceberg::slot<1, 1>>(hash_in(number), state().fronts), 0)
        .line;
  }
  [[nodiscard]] iceberg::back_line* back_line_of(std::uint64_t number, unsigned which) {
    return iceberg::back_of(state(), iceberg::back_hash(hash_in(number), which), 0).line;
  }
  [[nodiscard]] iceberg::chain* chain_of(std::uint64_t number) {
    auto& in = iceberg::newest_chains(state());
    return &in.heads[iceberg::chain_number<class_engine::policy>(in, hash_in(number))];
  }
  /// A class with the back buckets and the chain of the first one, and with another front bucket.
  [[nodiscard]] std::uint64_t class_beside_the_first() {
    std::uint64_t other = first + 1;
    const auto shares = [&] {
      return back_line_of(other, 0) == back_line_of(first, 0) && back_line_of(other, 1) == back_line_of(first, 1) &&
             chain_of(other) == chain_of(first) && front_line_of(other) != front_line_of(first);
    };
    while (!shares()) ++other;
    EXPECT_NE(back_line_of(first, 0), back_line_of(first, 1));
    return other;
  }
  void fill(std::uint64_t number, std::uint64_t count) {
    for (std::uint64_t n = 0; n < count; ++n) ASSERT_TRUE(table_->insert(key_in_class(number, n), n));
  }
  /// A sync comes whenever the table asks for space.
  cubby::outcome insert_on_a_full_disk(std::uint64_t key) {
    static class_table* syncs = nullptr; // the hook is a plain function
    syncs = table_.get();
    cubby::detail::file::installed_refusal() = [] {
      EXPECT_TRUE(syncs->sync());
      return ENOSPC;
    };
    const auto how = table_->try_insert(key, 1);
    cubby::detail::file::installed_refusal() = nullptr;
    return how;
  }
  [[nodiscard]] std::uint64_t chained() { return iceberg::chained_entries(state()); }

  std::unique_ptr<class_table> table_;
};

TEST_F(log_places, all_have_what_a_sync_has_covered) {
  constexpr std::uint64_t all = in_front + in_backs + 4;
  fill(first, all);
  ASSERT_TRUE(table_->insert(0, 17));
  EXPECT_EQ(chained(), 5U);
  ASSERT_TRUE(table_->sync());
  for (std::uint64_t n = 0; n < all; n += 2) {
    EXPECT_EQ(table_->erase(key_in_class(first, n)), 1U);
    EXPECT_TRUE(table_->assign(key_in_class(first, n + 1), 1000 + n));
  }
  EXPECT_EQ(table_->erase(0), 1U);
  const auto inserted = must_open<class_table>(cut());
  EXPECT_EQ(inserted->size(), all + 1);
  EXPECT_EQ(inserted->find(0), 17U);
  for (std::uint64_t n = 0; n < all; ++n) EXPECT_EQ(inserted->find(key_in_class(first, n)), n);
  ASSERT_TRUE(table_->sync());
  const auto changed = must_open<class_table>(cut("changed"));
  EXPECT_EQ(changed->size(), all / 2);
  for (std::uint64_t n = 0; n < all; n += 2) EXPECT_EQ(changed->find(key_in_class(first, n + 1)), 1000 + n);
}

/// Moves change no entry, so the log is not told of them. The entries of one front bucket get several.
TEST_F(log_places, are_changed_by_a_growth_without_entries) {
  std::uint64_t entries = 0;
  for (std::uint64_t number = first; entries < in_front + 2 * in_backs; ++number) {
    if (front_line_of(number) != front_line_of(first)) continue;
    fill(number, 8);
    entries += 8;
  }
  ASSERT_TRUE(table_->sync());
  const auto groups = table_->stats().log_syncs;
  ASSERT_TRUE(table_->reserve(20'000));
  EXPECT_EQ(must_open<class_table>(cut())->size(), entries);
  ASSERT_TRUE(table_->sync());
  EXPECT_EQ(table_->stats().log_syncs, groups) << "a growth has made entries of the log";
}

/// The disk is full, and a sync comes before the insert knows that.
TEST_F(log_places, have_nothing_of_an_insert_that_is_refused) {
  std::uint64_t inserted = 0; // until the chain has no slot, and the file has no space that was taken ahead
  while (insert_on_a_full_disk(key_in_class(first, inserted)) == cubby::outcome::inserted) ++inserted;
  EXPECT_GT(chained(), 0U);
  for (const std::uint64_t key : {key_in_class(first, inserted), std::uint64_t{0}}) {
    EXPECT_EQ(insert_on_a_full_disk(key), cubby::outcome::no_memory);
    const auto left = must_open<class_table>(cut());
    EXPECT_EQ(left->find(key), std::nullopt) << "a refused insert is there after a power cut";
    EXPECT_EQ(left->size(), inserted);
  }
}

/// All writer slots of the log but one are in use. A change of the first class stops before it locks `where`; then others change what is there.
class last_writer_slot : public log_places {
protected:
  using redo_log = cubby::detail::redo_log;
  void take_all_but_one() {
    const std::uint64_t key = key_in_class(7777, 0);
    for (unsigned n = 1; n < redo_log::most_writers; ++n)
      taken_.emplace_back().note(state().policy.shared().log, n, pool_layout::log_kind::erase,
                                 iceberg::bytes_of_words(key), {});
  }
  template <class Where>
  void expect_no_wait(const Where& where, const std::function<void()>& change, const std::function<void()>& beside) {
    const auto* const from = reinterpret_cast<const char*>(&where);
    parking spot;
    std::thread waits([&] {
      const park_before stop(spot, [from](step kind, const void* address) {
        const auto* const at = static_cast<const char*>(address);
        return kind == step::rmw8 && at >= from && at < from + sizeof(Where);
      });
      change();
    });
    EXPECT_TRUE(spot.wait_until_parked());
    std::atomic<bool> done{false};
    std::thread other([&] {
      beside();
      done = true;
    });
    EXPECT_TRUE(eventually([&] { return done.load(); }, std::chrono::seconds(10)))
        << "the change that waits for a lock has the writer slot";
    taken_.clear(); // so that a failure ends
    spot.release();
    waits.join();
    other.join();
  }
  std::deque<redo_log::change> taken_;
};

TEST_F(last_writer_slot, is_not_kept_by_changes_that_wait_for_a_back_bucket) {
  const std::uint64_t other = class_beside_the_first();
  fill(other, in_front + 2);
  fill(first, in_front + 2); // one of each class in each bucket
  auto& where = *back_line_of(first, 0);
  const std::uint64_t mine = key_in_class(first, in_front);
  const std::uint64_t theirs = key_in_class(other, in_front);
  const std::function<void()> changes[] = {[&] { EXPECT_TRUE(table_->insert(key_in_class(first, 100), 1)); },
                                           [&] { EXPECT_TRUE(table_->assign(mine, 1)); },
                                           [&] { EXPECT_EQ(table_->erase(mine), 1U); }};
  std::uint64_t value = 0;
  for (const auto& change : changes) {
    take_all_but_one();
    expect_no_wait(where, change, [&] { EXPECT_TRUE(table_->assign(theirs, ++value)); });
  }
  EXPECT_EQ(table_->find(theirs), value);
  EXPECT_TRUE(table_->check().ok());
}

TEST_F(last_writer_slot, is_not_kept_by_an_insert_that_waits_for_a_chain) {
  const std::uint64_t other = class_beside_the_first();
  fill(other, in_front + in_backs);
  fill(first, in_front);
  take_all_but_one();
  expect_no_wait(
      *chain_of(first), [&] { EXPECT_TRUE(table_->insert(key_in_class(first, 100), 1)); },
      [&] { EXPECT_TRUE(table_->insert(key_in_class(other, 100), 2)); });
  EXPECT_EQ(chained(), 2U);
  ASSERT_TRUE(table_->sync());
  const auto left = must_open<class_table>(cut());
  EXPECT_EQ(left->find(key_in_class(first, 100)), 1U);
  EXPECT_EQ(left->find(key_in_class(other, 100)), 2U);
}

} // namespace
} // namespace cubby_test
