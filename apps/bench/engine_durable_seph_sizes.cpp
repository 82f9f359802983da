// SPDX-License-Identifier: Apache-2.0
// The same with keys or values above 8 bytes; a file of its own so that building takes less memory and time.
#include "engine_durable.hpp"

namespace bench {

std::unique_ptr<table> make_durable_seph_sizes(const table_spec& spec) {
  return spec.key_size > 8 ? build_keys<durable_seph_adapter>(spec) : build_values<durable_seph_adapter>(spec);
}

} // namespace bench
