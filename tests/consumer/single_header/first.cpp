// SPDX-License-Identifier: Apache-2.0
// A program of two files that both include the single header. They share one table; each adds to it. Returns 0 when both have.
#include <cubby_all.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>

#include "shared.hpp"

static_assert(CUBBY_VERSION == 10000 * CUBBY_VERSION_MAJOR + 100 * CUBBY_VERSION_MINOR + CUBBY_VERSION_PATCH);

int main() {
  counts words;
  std::thread other(add_from_second_file, std::ref(words));
  for (int i = 0; i < 1000; ++i) words.insert_or_add("word", 1);
  other.join();
  cubby::set<std::uint64_t, cubby::iceberg> seen;
  std::printf("cubby %s: %d words\n", cubby::version_text, words.find("word").value_or(0));
  return words.find("word") == 2000 && seen.insert(1) && !seen.insert(1) ? 0 : 1;
}
