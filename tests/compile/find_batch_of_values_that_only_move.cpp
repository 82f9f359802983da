// SPDX-License-Identifier: Apache-2.0
// says alone: find_batch copies values, and this type cannot be copied: use visit_batch
#include <memory>

#include <cubby/map.hpp>

std::size_t look(const cubby::map<int, std::unique_ptr<int>>& all) {
  const int keys[1] = {1};
  std::unique_ptr<int> values[1];
  bool found[1];
  return all.find_batch(keys, values, found);
}
