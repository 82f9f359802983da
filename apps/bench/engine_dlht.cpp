// SPDX-License-Identifier: Apache-2.0
// cubby's default engine, with 8-byte and with text keys; larger sizes are in the two files beside this one.
#include "engine_cubby.hpp"
#include "session.hpp"

namespace bench {

std::unique_ptr<table> make_dlht(const table_spec& spec) {
  if constexpr (is_whole_program) {
    if (spec.key_size > 8) return make_dlht_keys(spec);
    if (spec.value_size > 8) return make_dlht_values(spec);
  }
  return build_small<dlht_adapter>(spec);
}

// The bins of the table, which are the lines that a request must meet; link buckets come on top. An index is mapped, not
// touched, until keys come: making one to ask for its size costs no memory.
std::size_t default_limit_bytes(std::size_t keys) {
  cubby::options o;
  o.capacity = keys;
  return cubby::map<std::uint64_t, std::uint64_t>(o).stats().bins * 64;
}

} // namespace bench
