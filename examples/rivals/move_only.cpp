// SPDX-License-Identifier: Apache-2.0
// examples/move_only.cpp with oneTBB.
#include <tbb/concurrent_hash_map.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

struct job {
  int work;
};
using jobs = tbb::concurrent_hash_map<int, std::unique_ptr<job>>;

std::unique_ptr<job> take(jobs& waiting, int id) {
  jobs::accessor held;
  if (!waiting.find(held, id)) return nullptr;
  std::unique_ptr<job> mine = std::move(held->second);
  waiting.erase(held);
  return mine;
}

int main() {
  jobs waiting;
  for (int id = 0; id < 1000; ++id) waiting.emplace(id, std::make_unique<job>(id));
  int seen = 0;
  if (jobs::const_accessor held; waiting.find(held, 7)) seen = held->second->work;

  std::atomic<int> sum = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int id = 0; id < 1000; ++id)
        if (const auto mine = take(waiting, id)) sum += mine->work;
    });
  }
  for (std::thread& one : threads) one.join();
  std::printf("work of job 7: %d; all work: %d; %zu jobs left\n", seen, sum.load(), waiting.size());
  return seen == 7 && sum == 499500 && waiting.empty() ? 0 : 1;
}
