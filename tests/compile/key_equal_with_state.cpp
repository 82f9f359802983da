// SPDX-License-Identifier: Apache-2.0
// says: a KeyEqual has no state
#include <cubby/map.hpp>

struct modulo {
  int n = 12;
  bool operator()(int a, int b) const { return a % n == b % n; }
};
struct one_bin {
  std::uint64_t operator()(int) const { return 0; }
};
cubby::map<int, int, cubby::dlht, one_bin, std::allocator<std::byte>, modulo> hours;
