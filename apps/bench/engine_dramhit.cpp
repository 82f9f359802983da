// SPDX-License-Identifier: Apache-2.0
// DRAMHiT's array behind the same API, with 8-byte and with text keys; larger sizes are in the two files beside this one.
#include "engine_cubby.hpp"

namespace bench {

std::unique_ptr<table> make_dramhit(const table_spec& spec) {
  if (spec.key_size > 8) return make_dramhit_keys(spec);
  return spec.value_size > 8 ? make_dramhit_values(spec) : build_small<dramhit_adapter>(spec);
}

} // namespace bench
