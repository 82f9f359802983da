// SPDX-License-Identifier: Apache-2.0
// says alone: these are the options of a table in a file, which cubby::durable_map::open makes: give cubby::options, or the options_type of this table
#include <cubby/durable_map.hpp>
#include <cubby/map.hpp>

cubby::map<int, int> all(cubby::durable_options{.capacity = 10});
