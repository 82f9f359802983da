// SPDX-License-Identifier: Apache-2.0
// says: this engine cannot ask memory for an entry ahead; use contains
#include <cubby/coro.hpp>
#include <cubby/reference.hpp>
#include <cubby/set.hpp>

cubby::task ask(const cubby::set<int, cubby::reference>& all, bool& found) { found = co_await all.async_contains(1); }
