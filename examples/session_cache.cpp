// SPDX-License-Identifier: Apache-2.0
// A cache of sessions. Each request changes its session where it lies: the function holds the one entry, and runs once. Sessions that
// were not used for a while are dropped beside the requests.
#include <cubby/in_place_map.hpp>

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
using sessions = cubby::in_place_map<std::string, session>;

void request(sessions& all, const std::string& id, const std::string& page, std::uint64_t now) {
  all.emplace_and_modify(id, [&](session& s) {
    s.pages.push_back(page);
    s.last_used = now;
  });
}

std::size_t expire(sessions& all, std::uint64_t before) {
  return all.erase_if([&](const std::string&, const session& s) { return s.last_used < before; });
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
  all.visit("session 7", [&](const session& s) { pages = s.pages.size(); });
  for (int i = 0; i < 50; ++i) request(all, "session " + std::to_string(i), "/last", clock + 10);
  const std::size_t dropped = expire(all, clock);
  std::printf("session 7 saw %zu pages; %zu sessions dropped, %zu left\n", pages, dropped, all.size());
  return pages == 40 && dropped == 50 && all.size() == 50 ? 0 : 1;
}
