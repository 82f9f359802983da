// SPDX-License-Identifier: Apache-2.0
// shows: it is in a file: use durable_map::open(path)
#include <cubby/durable_map.hpp>

cubby::durable_map<int, int> counts("counts");
