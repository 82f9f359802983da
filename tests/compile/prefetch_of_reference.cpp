// SPDX-License-Identifier: Apache-2.0
// says: this engine cannot ask memory for an entry ahead
#include <cubby/map.hpp>
#include <cubby/reference.hpp>

void ask(const cubby::map<int, int, cubby::reference>& all) { all.prefetch(1); }
