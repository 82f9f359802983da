// SPDX-License-Identifier: Apache-2.0
// says: cubby::hash has no hash for this key type
#include <vector>

#include <cubby/set.hpp>

cubby::set<std::vector<int>> seen;
