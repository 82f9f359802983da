// SPDX-License-Identifier: Apache-2.0
// says alone: this engine has no snapshot of one point in time; use visit_all
#include <cubby/dramhit.hpp>
#include <cubby/map.hpp>

void copy(cubby::map<int, int, cubby::dramhit>& all) { all.snapshot(); }
