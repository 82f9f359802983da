// SPDX-License-Identifier: Apache-2.0
// The second file of the program: it instantiates the same table.
#include <cubby_all.hpp>

#include "shared.hpp"

void add_from_second_file(counts& words) {
  for (int i = 0; i < 1000; ++i) words.insert_or_add("word", 1);
}
