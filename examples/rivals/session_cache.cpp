// SPDX-License-Identifier: Apache-2.0
// examples/session_cache.cpp with libcuckoo.
#include <libcuckoo/cuckoohash_map.hh>

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
using sessions = libcuckoo::cuckoohash_map<std::string, session>;

void request(sessions& all, const std::string& id, const std::string& page, std::uint64_t now) {
  const auto visit = [&](session& s) {
    s.pages.push_back(page);
    s.last_used = now;
  };
  while (!all.update_fn(id, visit)) all.insert(id);
}

std::size_t expire(sessions& all, std::uint64_t before) {
  auto locked = all.lock_table(); // requests wait
  const std::size_t size = locked.size();
  for (auto it = locked.begin(); it != locked.end();) it = it->second.last_used < before ? locked.erase(it) : ++it;
  return size - locked.size();
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
  all.find_fn("session 7", [&](const session& s) { pages = s.pages.size(); });
  for (int i = 0; i < 50; ++i) request(all, "session " + std::to_string(i), "/last", clock + 10);
  const std::size_t dropped = expire(all, clock);
  std::printf("session 7 saw %zu pages; %zu sessions dropped, %zu left\n", pages, dropped, all.size());
  return pages == 40 && dropped == 50 && all.size() == 50 ? 0 : 1;
}
