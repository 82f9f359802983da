// SPDX-License-Identifier: Apache-2.0
// The headers of the engines of engine_list.hpp, and of the types that they work behind.
#pragma once

#include <cubby/delegated_map.hpp>
#include <cubby/dramhit.hpp>
#include <cubby/dramhit_tuples.hpp>
#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>
#include <cubby/reference.hpp>
#include <cubby/relativistic.hpp>
#include <cubby/seph.hpp>
#include <cubby/set.hpp>

#include "wide_texts.hpp"
