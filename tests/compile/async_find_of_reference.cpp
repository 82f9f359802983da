// SPDX-License-Identifier: Apache-2.0
// says: this engine cannot ask memory for an entry ahead; use find
#include <cubby/coro.hpp>
#include <cubby/map.hpp>
#include <cubby/reference.hpp>

cubby::task ask(const cubby::map<int, int, cubby::reference>& all, bool& found) {
  found = (co_await all.async_find(1)).has_value();
}
