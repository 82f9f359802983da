// SPDX-License-Identifier: Apache-2.0
// A cache of shared objects. The first thread that asks for an object creates it, and all threads get the same one. An object without
// users is dropped. No lock is held while an object is created: two threads may both create one, but only one enters the cache.
#include <cubby/map.hpp>

#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

struct picture {
  std::string name;
};
using shared_picture = std::shared_ptr<const picture>;
using cache = cubby::map<std::string, shared_picture>;

shared_picture get_or_create(cache& c, const std::string& name) {
  if (auto there = c.find(name)) return *there;
  auto mine = std::make_shared<const picture>(picture{name});
  shared_picture result;
  // the function may run again; it only chooses, so this is safe
  c.compute(name, [&](const shared_picture* there) -> cubby::computed<shared_picture> {
    result = there != nullptr ? *there : mine;
    if (there != nullptr) return cubby::action::keep;
    return mine;
  });
  return result;
}

} // namespace

int main() {
  cache pictures;
  constexpr int names = 50;
  constexpr int threads = 4;
  std::vector<std::vector<shared_picture>> got(threads);
  std::vector<std::thread> worker_threads;
  for (auto& mine : got) {
    worker_threads.emplace_back([&pictures, &mine] {
      for (int i = 0; i < names; ++i) mine.push_back(get_or_create(pictures, "picture " + std::to_string(i)));
    });
  }
  for (auto& one : worker_threads) one.join();

  for (const auto& mine : got) {
    if (mine != got[0]) return 1; // pointers are compared: everybody must have the same objects
  }
  for (std::size_t i = 0; i < names / 2; ++i) {
    for (auto& mine : got) mine[i].reset();
  }
  const std::size_t dropped = pictures.erase_if([](const std::string&, const shared_picture& p) {
    return p.use_count() == 1; // the cache has the only reference left
  });
  std::printf("%d pictures, %zu dropped, %zu left\n", names, dropped, pictures.size());
  return dropped + pictures.size() == names && pictures.size() >= names / 2 ? 0 : 1;
}
