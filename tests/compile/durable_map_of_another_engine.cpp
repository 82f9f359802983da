// SPDX-License-Identifier: Apache-2.0
// says alone: this engine keeps no tables in files: use cubby::iceberg or cubby::seph
#include <cubby/dlht.hpp>
#include <cubby/durable_map.hpp>

void open_it() { (void)cubby::durable_map<int, int, cubby::hash<int>, cubby::dlht>::open("names.cubby"); }
