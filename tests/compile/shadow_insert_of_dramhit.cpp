// SPDX-License-Identifier: Apache-2.0
// says alone: this engine has no hidden entries; insert the key when it is ready to be found
#include <cubby/dramhit.hpp>
#include <cubby/map.hpp>

bool hide(cubby::map<int, int, cubby::dramhit>& all) { return static_cast<bool>(all.shadow_insert(1, 2)); }
