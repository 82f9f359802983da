// SPDX-License-Identifier: Apache-2.0
// says: a batch takes a contiguous range of keys, or of what a lookup takes
#include <deque>

#include <cubby/map.hpp>

auto ask(const cubby::map<int, int>& all, const std::deque<int>& keys) {
  return all.visit_batch(keys, [](std::size_t, const int*) {});
}
