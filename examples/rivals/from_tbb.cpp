// SPDX-License-Identifier: Apache-2.0
// The program with oneTBB that examples/from_tbb.cpp is a port of.
#include <tbb/concurrent_hash_map.h>

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

using places = std::vector<int>;
using word_index = tbb::concurrent_hash_map<std::string, places>;

void add(word_index& words, const std::string& word, int place) {
  word_index::accessor held;
  words.insert(held, word);
  held->second.push_back(place);
}

std::size_t count(const word_index& words, const std::string& word) {
  word_index::const_accessor held;
  return words.find(held, word) ? held->second.size() : 0;
}

bool forget_rare(word_index& words, const std::string& word) {
  word_index::accessor held;
  return words.find(held, word) && held->second.size() < 10 && words.erase(held);
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
