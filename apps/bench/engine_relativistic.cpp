// SPDX-License-Identifier: Apache-2.0
// Chained buckets whose lookups wait for nothing, not even while the table is resized.
#include "engine_cubby.hpp"

namespace bench {

std::unique_ptr<table> make_relativistic(const table_spec& spec) {
  if (spec.key_size > 8) return make_relativistic_keys(spec);
  return spec.value_size > 8 ? make_relativistic_values(spec) : build_small<relativistic_adapter>(spec);
}

} // namespace bench
