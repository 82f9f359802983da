// SPDX-License-Identifier: Apache-2.0
// Records behind slots of 8 bytes, in segments that split one by one.
#include "engine_cubby.hpp"

namespace bench {

std::unique_ptr<table> make_seph(const table_spec& spec) {
  if (spec.key_size > 8) return make_seph_keys(spec);
  return spec.value_size > 8 ? make_seph_values(spec) : build_small<seph_adapter>(spec);
}

} // namespace bench
