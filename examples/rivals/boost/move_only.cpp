// SPDX-License-Identifier: Apache-2.0
// examples/move_only.cpp with Boost.
#include <boost/unordered/concurrent_node_map.hpp>

#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

struct job {
  int work;
};
using jobs = boost::concurrent_node_map<int, std::unique_ptr<job>>;

int work_of_ended(jobs& waiting, int id) {
  const auto ended = waiting.extract(id);
  return ended.empty() ? 0 : ended.mapped()->work;
}

int main() {
  jobs waiting;
  for (int id = 0; id < 1000; ++id) waiting.emplace(id, std::make_unique<job>(id));
  int seen = 0;
  waiting.visit(7, [](auto& entry) { entry.second->work += 500; });
  waiting.cvisit(7, [&](const auto& entry) { seen = entry.second->work; });

  std::atomic<int> sum = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int id = 0; id < 1000; ++id) sum += work_of_ended(waiting, id);
    });
  }
  for (std::thread& one : threads) one.join();
  std::printf("work of job 7: %d; all work: %d; %zu jobs left\n", seen, sum.load(), waiting.size());
  return seen == 507 && sum == 500000 && waiting.empty() ? 0 : 1;
}
