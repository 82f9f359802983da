// SPDX-License-Identifier: Apache-2.0
// The runs over one engine: dlht.
#include "play.hpp"

namespace cubby_fuzz {

void play_dlht(unsigned kind, const choice& chosen, input& in) { play_kind<cubby::dlht>(kind, chosen, in); }

} // namespace cubby_fuzz
