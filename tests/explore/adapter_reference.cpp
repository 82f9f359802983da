// SPDX-License-Identifier: Apache-2.0
#include <cubby/reference.hpp>

#include "explore/map_adapter.hpp"

namespace cubby_test {
run_state make_reference_words(const scenario& s) { return make_map<explored_words<cubby::reference>>(s); }
run_state make_reference_records(const scenario& s) { return make_map<explored_records<cubby::reference>>(s); }
} // namespace cubby_test
