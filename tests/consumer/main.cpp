// SPDX-License-Identifier: Apache-2.0
// A small user of the library, built in every way that a user has: each line checks what it asked for. Returns the
// number of the first check that failed, 0 when all is well. Uses no exceptions and no run-time types.
#include <cstdint>
#include <string>
#include <string_view>

#include <cubby/map.hpp>
#include <cubby/set.hpp>

namespace {

int check_words() {
  cubby::map<std::uint64_t, std::uint64_t> squares;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    if (!squares.insert(i, i * i)) return 1;
  }
  if (squares.size() != 10'000 || squares.insert(7, 0)) return 2;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    if (squares.find(i) != i * i) return 3;
  }
  if (squares.insert_or_assign(7, 1) || squares.find(7) != 1U) return 4;
  if (!squares.erase(7) || squares.contains(7)) return 5;
  return 0;
}

int check_records() {
  cubby::map<std::string, std::string> names;
  if (!names.insert("engine", "one of several ways to lay a table out in memory")) return 11;
  if (!names.contains("engine") || names.find("space")) return 12;
  std::size_t length = 0;
  names.visit("engine", [&](const std::string& text) { length = text.size(); });
  if (length != std::string_view("one of several ways to lay a table out in memory").size()) return 13;
  return names.extract("engine") && names.empty() ? 0 : 14;
}

int check_set() {
  cubby::set<std::uint32_t> seen;
  return seen.insert(3) && !seen.insert(3) && seen.contains(3) && !seen.contains(4) ? 0 : 21;
}

} // namespace

int main() {
  if (const int failed = check_words(); failed != 0) return failed;
  if (const int failed = check_records(); failed != 0) return failed;
  return check_set();
}
