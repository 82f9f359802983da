// SPDX-License-Identifier: Apache-2.0
// Values that only move: jobs behind a std::unique_ptr. Producers insert them, and each job is taken out by exactly one worker,
// which then owns it. `visit` looks at a job that stays where it is.
#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>

#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

struct job {
  int work;
};
using jobs = cubby::map<int, std::unique_ptr<job>, cubby::iceberg>;

std::unique_ptr<job> take(jobs& waiting, int id) {
  std::unique_ptr<job> mine;
  waiting.modify(id, [&](std::unique_ptr<job>& there) { mine = std::move(there); }); // null for all but one thread
  if (mine) waiting.erase(id);
  return mine;
}

int main() {
  jobs waiting;
  for (int id = 0; id < 1000; ++id) waiting.insert(id, std::make_unique<job>(id));
  int seen = 0;
  waiting.visit(7, [&](const std::unique_ptr<job>& there) { seen = there->work; });

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
