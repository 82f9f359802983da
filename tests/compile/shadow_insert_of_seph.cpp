// SPDX-License-Identifier: Apache-2.0
// says alone: this engine has no hidden entries; insert the key when it is ready to be found
#include <cubby/map.hpp>
#include <cubby/seph.hpp>

bool hide(cubby::map<int, int, cubby::seph>& all) {
  auto hidden = all.handle().shadow_insert(1, 2);
  hidden.commit();
  return static_cast<bool>(hidden);
}
