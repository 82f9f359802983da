// SPDX-License-Identifier: Apache-2.0
// says alone: cubby::delegated_map holds keys and values of at most 8 bytes that are their own bits
#include <cubby/delegated_map.hpp>

cubby::delegated_map<int, int&> all;
