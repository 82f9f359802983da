// SPDX-License-Identifier: Apache-2.0
// The runs over one engine: dlht_single.
#include "play.hpp"

namespace cubby_fuzz {

void play_single(unsigned kind, const choice& chosen, input& in) { play_kind<cubby::dlht_single>(kind, chosen, in); }

} // namespace cubby_fuzz
