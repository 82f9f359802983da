// SPDX-License-Identifier: Apache-2.0
// DRAMHiT's tuples, which hold keys and values of up to 56 bytes together; beside the same sizes in records.
#include <cubby/dramhit_tuples.hpp>

#include "engine_cubby.hpp"

namespace bench {

namespace {

template <class K, class V>
using tuples_adapter = map_adapter<cubby_map<K, V, cubby::dramhit_tuples, engine_id::dramhit_tuples>>;

} // namespace

std::unique_ptr<table> make_dramhit_tuples(const table_spec& spec) {
  using word = std::uint64_t;
  if (spec.key_size == 16) return build_one<tuples_adapter, block<16>, word>(spec);
  if (spec.key_size == 32) return build_one<tuples_adapter, block<32>, word>(spec);
  if (spec.value_size == 16) return build_one<tuples_adapter, word, block<16>>(spec);
  if (spec.value_size == 32) return build_one<tuples_adapter, word, block<32>>(spec);
  return build_one<tuples_adapter, word, word>(spec);
}

} // namespace bench
