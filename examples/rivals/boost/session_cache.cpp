// SPDX-License-Identifier: Apache-2.0
// examples/session_cache.cpp with Boost.
#include <boost/unordered/concurrent_flat_map.hpp>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

struct session {
  std::vector<std::string> pages;
  std::uint64_t last_used = 0;
};
using sessions = boost::concurrent_flat_map<std::string, session>;

void request(sessions& all, const std::string& id, const std::string& page, std::uint64_t now) {
  const auto use = [&](auto& entry) {
    entry.second.pages.push_back(page);
    entry.second.last_used = now;
  };
  all.try_emplace_and_visit(id, use, use);
}

std::size_t expire(sessions& all, std::uint64_t before) {
  return all.erase_if([&](const auto& entry) { return entry.second.last_used < before; });
}

int main() {
  sessions all;
  std::atomic<std::uint64_t> clock = 1;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&all, &clock] {
      for (int i = 0; i < 1000; ++i) request(all, "session " + std::to_string(i % 100), "/page", clock++);
    });
  }
  for (std::thread& one : threads) one.join();

  std::size_t pages = 0;
  all.cvisit("session 7", [&](const auto& entry) { pages = entry.second.pages.size(); });
  for (int i = 0; i < 50; ++i) request(all, "session " + std::to_string(i), "/last", clock + 10);
  const std::size_t dropped = expire(all, clock);
  std::printf("session 7 saw %zu pages; %zu sessions dropped, %zu left\n", pages, dropped, all.size());
  return pages == 40 && dropped == 50 && all.size() == 50 ? 0 : 1;
}
