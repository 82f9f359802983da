// SPDX-License-Identifier: Apache-2.0
// says: there is no set of it
#include <cubby/delegated_map.hpp>
#include <cubby/set.hpp>

cubby::set<int, cubby::partitioned> seen;
