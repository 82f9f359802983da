// SPDX-License-Identifier: Apache-2.0
// says: a batch takes a contiguous range of keys, or of what a lookup takes
#include <string_view>

#include <cubby/map.hpp>

std::size_t ask(const cubby::map<int, int>& all, std::span<const std::string_view> keys, std::span<int> values,
                std::span<bool> found) {
  return all.find_batch(keys, values, found);
}
