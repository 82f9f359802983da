// SPDX-License-Identifier: Apache-2.0
// says alone: find_ref needs a map in record mode
#include <cubby/map.hpp>

const int* refer(cubby::map<int, int>::handle_type& all) { return all.find_ref(1); }
