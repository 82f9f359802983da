// SPDX-License-Identifier: Apache-2.0
// says: cubby::map<K, V, cubby::partitioned> needs #include <cubby/delegated_map.hpp>
#include <cubby/detail/engines/partitioned/partitioned.hpp>
#include <cubby/map.hpp>

cubby::map<int, int, cubby::partitioned> counts;
