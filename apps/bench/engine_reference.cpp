// SPDX-License-Identifier: Apache-2.0
// One lock and a standard container behind the same API: the lower bound of every comparison.
#include "engine_cubby.hpp"

namespace bench {

std::unique_ptr<table> make_reference(const table_spec& spec) {
  if constexpr (is_whole_program) {
    if (spec.key_size > 8) return make_reference_keys(spec);
    if (spec.value_size > 8) return make_reference_values(spec);
  }
  return build_small<reference_adapter>(spec);
}

} // namespace bench
