// SPDX-License-Identifier: Apache-2.0
// says: found is a contiguous range of bool, and std::vector<bool> is none: use an array, or visit_batch
#include <vector>

#include <cubby/set.hpp>

std::size_t ask(const cubby::set<int>& all, const std::vector<int>& keys) {
  std::vector<bool> found(keys.size());
  return all.contains_batch(keys, found);
}
