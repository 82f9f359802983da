// SPDX-License-Identifier: Apache-2.0
// The runs over one engine: dramhit_tuples. It takes no strings; in their place are keys and values that fill a line.
#include <cubby/engine/dramhit_tuples/dramhit_tuples.hpp>

#include "play.hpp"

namespace cubby_fuzz {

void play_tuples(unsigned kind, const choice& chosen, input& in) {
  using engine = cubby::dramhit_tuples;
  if (kind == 0) play<words, engine>(chosen, in);
  else if (kind == 1) play<whole_lines, engine>(chosen, in);
  else play<keys_alone, engine>(chosen, in);
}

} // namespace cubby_fuzz
