// SPDX-License-Identifier: Apache-2.0
// A lock manager over a set (DLHT section 5.3.3): inserting keys locks them, erasing unlocks them. A batch takes the
// locks of one transfer in order and stops at the first that another thread holds; order and stop are what make it safe.
#include <cubby/set.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

using account = std::uint32_t;
using lock_set = cubby::set<account>;
using lock_request = cubby::request<account>;

// Locks all accounts or none.
bool try_lock(lock_set::handle_type& locks, std::array<account, 3> wanted) {
  std::sort(wanted.begin(), wanted.end());
  std::array<lock_request, 3> requests;
  std::array<cubby::reply<>, 3> replies;
  for (std::size_t i = 0; i < 3; ++i) requests[i] = {cubby::verb::insert, wanted[i], {}};
  const std::size_t done = locks.execute(requests, replies, cubby::batch_policy::stop_at_first_failure);
  if (replies[done - 1].result == cubby::outcome::done) return true;
  for (std::size_t i = 0; i + 1 < done; ++i) locks.erase(wanted[i]);
  return false;
}

void transfer(lock_set::handle_type& locks, std::vector<long>& balance, std::array<account, 3> who) {
  while (!try_lock(locks, who)) std::this_thread::yield();
  balance[who[0]] -= 2;
  balance[who[1]] += 1;
  balance[who[2]] += 1;
  for (const account a : who) locks.erase(a);
}

} // namespace

int main() {
  constexpr account accounts = 8;
  constexpr int transfers = 5000;
  lock_set locks;
  std::vector<long> balance(accounts, 1000); // plain memory: only the locks protect it
  std::vector<std::thread> worker_threads;
  for (account t = 0; t < 3; ++t) {
    worker_threads.emplace_back([&locks, &balance, t] {
      auto mine = locks.handle();
      for (account i = 0; i < transfers; ++i) {
        const account first = (i * 5 + t) % accounts;
        transfer(mine, balance, {first, (first + 3) % accounts, (first + 6) % accounts});
      }
    });
  }
  for (auto& one : worker_threads) one.join();
  long sum = 0;
  for (const long one : balance) sum += one;
  std::printf("sum %ld, locks still held %zu\n", sum, locks.size());
  return sum == 1000L * accounts && locks.empty() ? 0 : 1;
}
