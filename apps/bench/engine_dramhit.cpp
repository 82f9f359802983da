// SPDX-License-Identifier: Apache-2.0
// DRAMHiT's array behind the same API, with 8-byte and with text keys; larger sizes are in the two files beside this one.
#include "engine_cubby.hpp"

namespace bench {

std::unique_ptr<table> make_dramhit(const table_spec& spec) {
  if constexpr (is_whole_program) {
    if (spec.key_size > 8) return make_dramhit_keys(spec);
    if (spec.value_size > 8) return make_dramhit_values(spec);
  }
  return build_small<dramhit_adapter>(spec);
}

} // namespace bench
