// SPDX-License-Identifier: Apache-2.0
// Ten lines that show a map shared by two threads. Exits with 0 when the count is right.
#include <cubby/map.hpp>

#include <cstdio>
#include <string>
#include <thread>

int main() {
  cubby::map<std::string, int> visits;
  const auto work = [&visits] {
    for (int i = 0; i < 1000; ++i) visits.insert_or_add(i % 2 == 0 ? "even" : "odd", 1);
  };
  std::thread other(work);
  work();
  other.join();
  visits.update("odd", [](int count) { return count + 1; });
  visits.visit_all([](const std::string& key, int count) { std::printf("%s: %d\n", key.c_str(), count); });
  return visits.find("even") == 1000 && visits.find("odd") == 1001 ? 0 : 1;
}
