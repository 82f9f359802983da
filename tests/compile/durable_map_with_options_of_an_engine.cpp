// SPDX-License-Identifier: Apache-2.0
// says alone: these are the options of a table in memory: a table in a file takes cubby::durable_options
#include <cubby/durable_map.hpp>
#include <cubby/iceberg.hpp>

void open_it() {
  (void)cubby::durable_map<int, int>::open("names.cubby", cubby::iceberg::options{{.capacity = 10}, {.move_bins = 4}});
}
