// SPDX-License-Identifier: Apache-2.0
// The iceberg engine with keys above 8 bytes; a file of its own so that building takes less memory and time.
#include "engine_cubby.hpp"

namespace bench {

std::unique_ptr<table> make_iceberg_keys(const table_spec& spec) { return build_keys<iceberg_adapter>(spec); }

} // namespace bench
