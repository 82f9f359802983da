// SPDX-License-Identifier: Apache-2.0
// says alone: find copies the value, and this type cannot be copied: use visit
#include <memory>

#include <cubby/in_place_map.hpp>

bool look(const cubby::in_place_map<int, std::unique_ptr<int>>& all) { return all.find(1).has_value(); }
