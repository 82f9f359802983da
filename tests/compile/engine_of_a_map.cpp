// SPDX-License-Identifier: Apache-2.0
// says: engine
#include <cubby/map.hpp>

void ask(cubby::map<int, int>& all) { (void)all.engine(); }
