// SPDX-License-Identifier: Apache-2.0
// The runs over one engine: reference.
#include "play.hpp"

namespace cubby_fuzz {

void play_reference(unsigned kind, const choice& chosen, input& in) { play_kind<cubby::reference>(kind, chosen, in); }

} // namespace cubby_fuzz
