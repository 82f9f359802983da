// SPDX-License-Identifier: Apache-2.0
// says alone: the function of a batch is called with the index of a key and what is there: f(i, const V*)
#include <cubby/map.hpp>

std::size_t ask(const cubby::map<int, int>& all, std::span<const int> keys) {
  return all.visit_batch(keys, [](const int*) {});
}
