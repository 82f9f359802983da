// SPDX-License-Identifier: Apache-2.0
// The seph engine with keys above 8 bytes; a file of its own so that building takes less memory and time.
#include "engine_cubby.hpp"

namespace bench {

std::unique_ptr<table> make_seph_keys(const table_spec& spec) { return build_keys<seph_adapter>(spec); }

} // namespace bench
