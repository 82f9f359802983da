// SPDX-License-Identifier: Apache-2.0
// says alone: this engine has no hidden entries; insert the key when it is ready to be found
#include <cubby/dramhit_tuples.hpp>
#include <cubby/set.hpp>

bool hide(cubby::set<int, cubby::dramhit_tuples>& all) { return static_cast<bool>(all.shadow_insert(1)); }
