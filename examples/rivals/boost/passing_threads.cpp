// SPDX-License-Identifier: Apache-2.0
// examples/passing_threads.cpp with Boost.
#include <boost/unordered/concurrent_node_map.hpp>

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

constexpr int waves = 100;
constexpr int threads_of_a_wave = 8;
using mailbox = boost::concurrent_node_map<int, std::string>;

bool connection(mailbox& mail, int wave, int number) {
  mail.emplace(wave * threads_of_a_wave + number, "message of wave " + std::to_string(wave));
  if (wave == 0) return true;
  const int last = (wave - 1) * threads_of_a_wave + number;
  const auto message = mail.extract(last);
  return !message.empty() && message.mapped() == "message of wave " + std::to_string(wave - 1);
}

int main() {
  mailbox mail;
  std::atomic<int> right = 0;
  for (int wave = 0; wave < waves; ++wave) {
    std::vector<std::thread> threads;
    for (int n = 0; n < threads_of_a_wave; ++n) threads.emplace_back([&, n] { right += connection(mail, wave, n); });
    for (std::thread& one : threads) one.join();
  }
  std::printf("%d threads, %d right, %zu messages left\n", waves * threads_of_a_wave, right.load(), mail.size());
  return right == waves * threads_of_a_wave && mail.size() == threads_of_a_wave ? 0 : 1;
}
