// SPDX-License-Identifier: Apache-2.0
// A thread that waits for a reservation to end holds a handful of records, however long it waits. Each turn of the wait once
// left one behind, which the waiter's own pin kept from being freed.
#include <atomic>
#include <string>
#include <thread>

#include "engines.hpp"
#include "support/counting.hpp"
#include "support/hooks.hpp"

namespace cubby_test {
namespace {

/// Runs `wait_for_it` beside a reservation until it has turned a thousand times; the blocks that were out then.
template <class Table, class Reserve, class Wait>
std::int64_t blocks_while_waiting(Table& table, const allocation_account& account, Reserve reserve, Wait wait_for_it) {
  auto reserved = reserve(table);
  EXPECT_TRUE(static_cast<bool>(reserved));
  std::atomic<std::uint64_t> turns{0};
  std::thread other([&] {
    const wait_counter w(turns);
    wait_for_it(table);
  });
  EXPECT_TRUE(eventually([&] { return turns.load() >= 1000; }));
  const std::int64_t blocks = account.blocks.load();
  reserved.commit();
  other.join();
  return blocks;
}

using counted = counting_allocator<std::byte>;
constexpr std::int64_t handful = 4;

TEST(regression_dlht_waiting, of_a_batch_over_a_set) {
  allocation_account account;
  using set = cubby::set<std::string, cubby::dlht, cubby::hash<std::string>, counted>;
  set s(tiny_options(), {}, counted(account));
  const auto reserve = [](set& at) { return at.shadow_insert("key"); };
  const auto ask = [](set& at) {
    const set::request_type wanted[] = {{cubby::verb::insert_or_assign, "key"}};
    set::reply_type answers[1];
    at.execute(wanted, answers);
    EXPECT_EQ(answers[0].result, cubby::outcome::done);
  };
  EXPECT_LE(blocks_while_waiting(s, account, reserve, ask), handful);
}

TEST(regression_dlht_waiting, of_a_compute) {
  allocation_account account;
  using map = cubby::map<std::string, int, cubby::dlht, cubby::hash<std::string>, counted>;
  map m(tiny_options(), {}, counted(account));
  const auto reserve = [](map& at) { return at.shadow_insert("key", 1); };
  const auto ask = [](map& at) {
    at.compute("key", [](const int* old) { return cubby::computed<int>(old != nullptr ? *old + 1 : 1); });
  };
  EXPECT_LE(blocks_while_waiting(m, account, reserve, ask), handful);
  EXPECT_EQ(m.find("key"), 2);
}

} // namespace
} // namespace cubby_test
