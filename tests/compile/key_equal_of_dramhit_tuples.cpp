// SPDX-License-Identifier: Apache-2.0
// says: this engine compares the bits of keys, so it takes no KeyEqual of yours: take another engine
#include <cubby/dramhit_tuples.hpp>
#include <cubby/map.hpp>

struct same_hour {
  bool operator()(int a, int b) const { return a % 12 == b % 12; }
};
struct hash_of_hour {
  std::uint64_t operator()(int h) const { return static_cast<std::uint64_t>(h % 12); }
};
cubby::map<int, int, cubby::dramhit_tuples, hash_of_hour, std::allocator<std::byte>, same_hour> hours;
