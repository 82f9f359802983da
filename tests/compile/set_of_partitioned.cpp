// SPDX-License-Identifier: Apache-2.0
// says alone: cubby::partitioned is no engine of cubby::set, because its writes are not answered: it is the engine of cubby::delegated_map<K, V> alone
#include <cubby/delegated_map.hpp>
#include <cubby/set.hpp>

cubby::set<int, cubby::partitioned> seen;
