// SPDX-License-Identifier: Apache-2.0
// says: execute
#include <cubby/delegated_map.hpp>

void ask(cubby::delegated_map<int, int>& all) { all.execute({}, {}); }
