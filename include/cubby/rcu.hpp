// SPDX-License-Identifier: Apache-2.0
// Read-copy-update alone, for structures of one's own: read sections, `synchronize`, grace periods, and the bag
// into which a writer retires what it has unlinked.
#pragma once

#include <cubby/detail/core/epoch.hpp>
#include <cubby/detail/core/rcu.hpp>
