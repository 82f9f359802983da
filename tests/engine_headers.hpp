// SPDX-License-Identifier: Apache-2.0
// The headers of the engines of engine_list.hpp, and of the types that they work behind.
#pragma once

#include <cubby/delegated_map.hpp>
#include <cubby/engine/dramhit/dramhit.hpp>
#include <cubby/engine/dramhit_tuples/dramhit_tuples.hpp>
#include <cubby/engine/reference/reference.hpp>
#include <cubby/engine/relativistic/relativistic.hpp>
#include <cubby/map.hpp>
#include <cubby/set.hpp>
