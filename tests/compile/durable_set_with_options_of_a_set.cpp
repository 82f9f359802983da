// SPDX-License-Identifier: Apache-2.0
// says alone: these are the options of a table in memory: a table in a file takes cubby::durable_options
#include <string>

#include <cubby/durable_map.hpp>

void open_it(const std::string& path) {
  (void)cubby::durable_set<int>::open_read_only(path, cubby::options{.capacity = 10});
}
