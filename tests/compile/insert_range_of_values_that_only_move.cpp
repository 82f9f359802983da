// SPDX-License-Identifier: Apache-2.0
// says: insert_range takes a range of pairs, each of a key of this map and its value
#include <cubby/map.hpp>

#include <memory>
#include <ranges>
#include <utility>

using table = cubby::map<int, std::unique_ptr<int>>;

std::size_t put(table& all) {
  const auto make = [](int n) { return std::pair<int, std::unique_ptr<int>>(n, nullptr); };
  return all.insert_range(std::views::iota(0, 5) | std::views::transform(make));
}
