// SPDX-License-Identifier: Apache-2.0
// says: this is an engine, and the engine of a durable table comes after the hash
#include <cubby/durable_map.hpp>
#include <cubby/seph.hpp>

void use() { (void)cubby::durable_map<int, int, cubby::seph>::open("table"); }
