// SPDX-License-Identifier: Apache-2.0
// shows: two texts would be taken for the ends of one: use insert_range(keys)
#include <cubby/set.hpp>

bool use(cubby::set<std::string>& words) { return words.insert({"alpha", "beta"}); }
