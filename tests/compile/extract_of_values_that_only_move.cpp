// SPDX-License-Identifier: Apache-2.0
// says alone: extract copies the value, and this type cannot be copied: use cubby::in_place_map
#include <memory>

#include <cubby/map.hpp>

bool take(cubby::map<int, std::unique_ptr<int>>& all) { return all.extract(1).has_value(); }
