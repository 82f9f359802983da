// SPDX-License-Identifier: Apache-2.0
// says: partitions
#include <cubby/map.hpp>

cubby::map<int, int> all(cubby::dlht::options{{.capacity = 10}, {.partitions = 4}});
