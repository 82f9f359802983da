// SPDX-License-Identifier: Apache-2.0
// A program of oneTBB's concurrent_hash_map (examples/rivals/from_tbb.cpp), ported: an index of the places of each word. What
// happened while an accessor was held is a function now, and nothing stays locked behind it.
#include <cubby/in_place_map.hpp>

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

using places = std::vector<int>;
using word_index = cubby::in_place_map<std::string, places>;

void add(word_index& words, const std::string& word, int place) {
  words.emplace_and_modify(word, [&](places& there) { there.push_back(place); });
}

std::size_t count(const word_index& words, const std::string& word) {
  std::size_t found = 0;
  words.visit(word, [&](const places& there) { found = there.size(); });
  return found;
}

bool forget_rare(word_index& words, const std::string& word) {
  return words.erase_if(word, [](const places& there) { return there.size() < 10; });
}

int main() {
  word_index words;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&words, t] {
      for (int i = t; i < 1000; i += 4) add(words, i % 250 == 0 ? "rare" : "usual", i);
    });
  }
  for (std::thread& one : threads) one.join();
  std::printf("usual: %zu places, rare: %zu\n", count(words, "usual"), count(words, "rare"));
  const bool right = count(words, "usual") == 996 && count(words, "rare") == 4;
  return right && forget_rare(words, "rare") && !forget_rare(words, "usual") && words.size() == 1 ? 0 : 1;
}
