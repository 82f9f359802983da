// SPDX-License-Identifier: Apache-2.0
// Front buckets, back buckets and chains: a table that grows at 91 per cent of its slots.
#include "engine_cubby.hpp"

namespace bench {

std::unique_ptr<table> make_iceberg(const table_spec& spec) {
  if constexpr (is_whole_program) {
    if (spec.key_size > 8) return make_iceberg_keys(spec);
    if (spec.value_size > 8) return make_iceberg_values(spec);
  }
  return build_small<iceberg_adapter>(spec);
}

} // namespace bench
