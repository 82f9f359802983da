// SPDX-License-Identifier: Apache-2.0
// The runs over one engine of tests/engine_list.hpp. CMake compiles this file once for each of them and sets
// CUBBY_FUZZED_ENGINE and CUBBY_FUZZED_STORAGE, so that the engines are compiled side by side.
#include "play.hpp"

namespace cubby_fuzz {

template <> void play_engine<cubby::CUBBY_FUZZED_ENGINE>(unsigned kind, const choice& chosen, input& in) {
  play_kind<cubby::CUBBY_FUZZED_ENGINE>(storages::CUBBY_FUZZED_STORAGE{}, kind, chosen, in);
}

} // namespace cubby_fuzz
