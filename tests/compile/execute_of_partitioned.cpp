// SPDX-License-Identifier: Apache-2.0
// says: execute
#include <cubby/delegated_map.hpp>

void ask(cubby::map<int, int, cubby::partitioned>& all) { all.execute({}, {}); }
