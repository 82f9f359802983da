// SPDX-License-Identifier: Apache-2.0
// says alone: this engine does not count how full its bins are
#include <cubby/map.hpp>

void look(const cubby::map<int, int>& all) { all.histogram(); }
