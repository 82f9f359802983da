// SPDX-License-Identifier: Apache-2.0
// The seph engine over a file: slots in memory, all entries in records.
#include "engine_durable.hpp"

namespace bench {

std::unique_ptr<table> make_durable_seph(const table_spec& spec) {
  const bool words = spec.key_size <= 8 && spec.value_size <= 8;
  return in_file(spec, words ? build_small<durable_seph_adapter>(spec) : make_durable_seph_sizes(spec));
}

} // namespace bench
