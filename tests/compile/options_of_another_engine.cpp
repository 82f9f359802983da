// SPDX-License-Identifier: Apache-2.0
// says alone: these are the options of another engine: give cubby::options, or the options_type of this table
#include <cubby/map.hpp>
#include <cubby/relativistic.hpp>

cubby::map<int, int, cubby::relativistic> all(cubby::dlht::options{{.capacity = 10}, {.move_bins = 4}});
