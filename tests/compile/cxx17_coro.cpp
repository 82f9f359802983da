// SPDX-License-Identifier: Apache-2.0
// with: -std=c++17
// says: cubby needs C++20: compile with -std=c++20 or newer
#include <cubby/coro.hpp>
