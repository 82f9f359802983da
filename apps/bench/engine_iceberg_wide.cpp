// SPDX-License-Identifier: Apache-2.0
// The iceberg engine with slots of 64 bytes for text keys.
#include "engine_cubby.hpp"

namespace bench {

namespace {

template <class V>
using wide_adapter = map_adapter<cubby_map<std::string, V, cubby::iceberg_wide, engine_id::iceberg_wide>>;

} // namespace

std::unique_ptr<table> make_iceberg_wide(const table_spec& spec) {
  return std::make_unique<table_of<wide_adapter<std::uint64_t>>>(spec);
}

} // namespace bench
