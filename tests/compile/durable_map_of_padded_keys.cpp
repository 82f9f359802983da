// SPDX-License-Identifier: Apache-2.0
// says alone: a durable key is text (std::string), or trivially copyable without padding, and compared by its bits
#include <cubby/durable_map.hpp>

struct padded {
  char letter;
  int number;
};
void open_it() { (void)cubby::durable_map<padded, int>::open("padded.cubby"); }
