// SPDX-License-Identifier: Apache-2.0
// The runs over one engine: dramhit.
#include <cubby/engine/dramhit/dramhit.hpp>

#include "play.hpp"

namespace cubby_fuzz {

void play_dramhit(unsigned kind, const choice& chosen, input& in) { play_kind<cubby::dramhit>(kind, chosen, in); }

} // namespace cubby_fuzz
