// SPDX-License-Identifier: Apache-2.0
// The seph engine with values above 8 bytes; a file of its own so that building takes less memory and time.
#include "engine_cubby.hpp"

namespace bench {

std::unique_ptr<table> make_seph_values(const table_spec& spec) { return build_values<seph_adapter>(spec); }

} // namespace bench
