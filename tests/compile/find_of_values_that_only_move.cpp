// SPDX-License-Identifier: Apache-2.0
// says alone: find copies the value, and this type cannot be copied: use visit
#include <memory>

#include <cubby/map.hpp>

bool is_there(const cubby::map<int, std::unique_ptr<int>>& all) { return all.find(1).has_value(); }
