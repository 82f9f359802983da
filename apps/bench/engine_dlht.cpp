// SPDX-License-Identifier: Apache-2.0
// cubby's default engine, with 8-byte and with text keys; larger sizes are in the two files beside this one.
#include "engine_cubby.hpp"
#include "session.hpp"

namespace bench {

std::unique_ptr<table> make_dlht(const table_spec& spec) {
  if (spec.key_size > 8)
    return make_dlht_keys(spec);
  return spec.value_size > 8 ? make_dlht_values(spec) : build_small<dlht_adapter>(spec);
}

// An index is mapped, not touched, until keys come: making one to ask for its size costs no memory.
std::size_t default_limit_bytes(std::size_t keys) {
  return build_small<dlht_adapter>({engine_id::dlht, false, 8, 8, keys, 0, 0})->own_bytes();
}

} // namespace bench
