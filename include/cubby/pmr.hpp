// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tables whose records come from a `std::pmr::memory_resource`: `cubby::pmr::map<K, V> m(&resource)`. Any thread may ask the resource for
/// memory, so it must allow that, as `std::pmr::synchronized_pool_resource` does. Values that use an allocator are given the resource, too,
/// and so are keys that are objects; a text is kept as its bytes, and a scan shows a copy of it. Keys and values of words lie in the table, and its index does not come from the resource.
#pragma once

#include <cstddef>
#include <memory_resource>

#include <cubby/in_place_map.hpp>
#include <cubby/map.hpp>
#include <cubby/set.hpp>

namespace cubby::inline v0::pmr {

template <class K, class V, class Engine = dlht, class Hash = hash<K>, class KeyEqual = equal<K>>
using map = cubby::map<K, V, Engine, Hash, std::pmr::polymorphic_allocator<std::byte>, KeyEqual>;
template <class K, class Engine = dlht, class Hash = hash<K>, class KeyEqual = equal<K>>
using set = cubby::set<K, Engine, Hash, std::pmr::polymorphic_allocator<std::byte>, KeyEqual>;
template <class K, class V, class Engine = dlht, class Hash = hash<K>, class KeyEqual = equal<K>>
using in_place_map = cubby::in_place_map<K, V, Engine, Hash, std::pmr::polymorphic_allocator<std::byte>, KeyEqual>;

} // namespace cubby::inline v0::pmr
