// SPDX-License-Identifier: Apache-2.0
// examples/url_counts.cpp with Boost.
#include <boost/unordered/concurrent_flat_map.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

int main(int count, char** arguments) {
  std::ifstream in(count == 2 ? arguments[1] : "");
  std::vector<std::string> log;
  for (std::string line; std::getline(in, line);) log.push_back(line);
  if (log.empty()) {
    std::fprintf(stderr, "url_counts: no lines to read; give a FILE with one URL a line\n");
    return 2;
  }

  boost::concurrent_flat_map<std::string, std::uint64_t> counts;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&counts, &log, t] {
      for (std::size_t i = t; i < log.size(); i += 4)
        counts.try_emplace_or_visit(log[i], 1, [](auto& url) { ++url.second; });
    });
  }
  for (std::thread& one : threads) one.join();

  std::vector<std::pair<std::string, std::uint64_t>> top;
  counts.cvisit_all([&top](const auto& url) { top.emplace_back(url.first, url.second); });
  std::sort(top.begin(), top.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (std::size_t i = 0; i < top.size() && i < 5; ++i)
    std::printf("%8ju %s\n", std::uintmax_t{top[i].second}, top[i].first.c_str());

  std::map<std::string, std::uint64_t> expected;
  for (const std::string& url : log) ++expected[url];
  return std::map(top.begin(), top.end()) == expected ? 0 : 1;
}
