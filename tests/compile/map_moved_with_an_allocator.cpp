// SPDX-License-Identifier: Apache-2.0
// shows: the allocator moves with the entries
#include <utility>

#include <cubby/map.hpp>

std::size_t take(cubby::map<int, int>& from) {
  const cubby::map<int, int> all(std::move(from), std::allocator<std::byte>());
  return all.size();
}
