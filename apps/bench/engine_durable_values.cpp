// SPDX-License-Identifier: Apache-2.0
// Tables in files with values above 8 bytes; a file of its own so that building takes less memory and time.
#include "engine_durable.hpp"

namespace bench {

std::unique_ptr<table> make_durable_values(const table_spec& spec) { return build_values<durable_adapter>(spec); }

} // namespace bench
