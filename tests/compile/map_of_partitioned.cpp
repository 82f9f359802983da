// SPDX-License-Identifier: Apache-2.0
// says alone: cubby::partitioned is no engine of cubby::map, because its writes are not answered: write cubby::delegated_map<K, V>
#include <cubby/delegated_map.hpp>

cubby::map<int, int, cubby::partitioned> counts;
