// SPDX-License-Identifier: Apache-2.0
// says alone: this engine keeps no tables in files: use cubby::iceberg or cubby::seph
#include <string>

#include <cubby/durable_map.hpp>

void open_it() {
  (void)cubby::durable_map<std::string, int, cubby::hash<std::string>, cubby::iceberg_wide>::open("names.cubby");
}
