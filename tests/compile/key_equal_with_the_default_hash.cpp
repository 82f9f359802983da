// SPDX-License-Identifier: Apache-2.0
// says: a KeyEqual of yours needs a Hash of yours
#include <string>

#include <cubby/map.hpp>

struct first_letter {
  bool operator()(const std::string& a, const std::string& b) const { return a[0] == b[0]; }
};
cubby::map<std::string, int, cubby::dlht, cubby::hash<std::string>, std::allocator<std::byte>, first_letter> words;
