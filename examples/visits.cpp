// SPDX-License-Identifier: Apache-2.0
// A table in a file: it is there again when the program starts again, however it ended.
#include <cubby/durable_map.hpp>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace {

using visits = cubby::durable_map<std::string, std::uint64_t>;

/// Counts a visit of each page. Returns how many there were, or nothing if the file cannot be used.
std::optional<std::uint64_t> count(const char* path) {
  const auto opened = visits::open(path);
  if (!opened) {
    std::fprintf(stderr, "%s\n", opened.message());
    return std::nullopt;
  }
  opened->insert_or_add("/index", 1);
  opened->insert_or_add("/about", 1);
  if (!opened->sync()) return std::nullopt; // from here on a power cut does not take the visits away
  return opened->find("/index");
}

} // namespace

int main() {
  const char* const path = "visits.cubby";
  std::remove(path);
  const auto first = count(path);
  const auto second = count(path); // the table is opened again
  if (first != 1 || second != 2) return 1;
  std::printf("%s has %llu visits of /index\n", path, static_cast<unsigned long long>(*second));
  return std::remove(path);
}
