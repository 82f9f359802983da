// SPDX-License-Identifier: Apache-2.0
// says: async_find and async_contains need #include <cubby/coro.hpp>
#include <cubby/map.hpp>

void ask(const cubby::map<int, int>& all) { (void)all.async_find(1); }
