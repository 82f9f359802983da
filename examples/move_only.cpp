// SPDX-License-Identifier: Apache-2.0
// Values that only move: jobs behind a std::unique_ptr. A job is moved into the table, is changed where it lies, and is moved out of it for
// exactly one of the workers that ask for it.
#include <cubby/in_place_map.hpp>

#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

struct job {
  int work;
};
using jobs = cubby::in_place_map<int, std::unique_ptr<job>>;

int work_of_ended(jobs& waiting, int id) {
  const auto ended = waiting.extract(id);
  return ended ? (*ended)->work : 0;
}

int main() {
  jobs waiting;
  for (int id = 0; id < 1000; ++id) waiting.insert(id, std::make_unique<job>(id));
  int seen = 0;
  waiting.modify(7, [](std::unique_ptr<job>& there) { there->work += 500; });
  waiting.visit(7, [&](const std::unique_ptr<job>& there) { seen = there->work; });

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
