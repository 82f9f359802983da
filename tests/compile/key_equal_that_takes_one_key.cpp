// SPDX-License-Identifier: Apache-2.0
// says: a KeyEqual takes two keys and answers whether they are equal
#include <cubby/map.hpp>

struct is_noon {
  bool operator()(int a) const { return a == 12; }
};
struct one_bin {
  std::uint64_t operator()(int) const { return 0; }
};
cubby::map<int, int, cubby::dlht, one_bin, std::allocator<std::byte>, is_noon> hours;
