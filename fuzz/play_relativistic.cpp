// SPDX-License-Identifier: Apache-2.0
// The runs over one engine: relativistic.
#include <cubby/engine/relativistic/relativistic.hpp>

#include "play.hpp"

namespace cubby_fuzz {

void play_relativistic(unsigned kind, const choice& chosen, input& in) {
  play_kind<cubby::relativistic>(kind, chosen, in);
}

} // namespace cubby_fuzz
