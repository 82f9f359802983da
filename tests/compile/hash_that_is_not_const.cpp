// SPDX-License-Identifier: Apache-2.0
// says: a Hash is called by all threads, on a const object: std::uint64_t operator()(const K&) const
#include <cubby/map.hpp>

struct counting_hash {
  std::uint64_t operator()(int key) { return static_cast<std::uint64_t>(key + ++calls); }
  int calls = 0;
};
bool add(cubby::map<int, int, cubby::dlht, counting_hash>& all) { return all.insert(1, 1); }
