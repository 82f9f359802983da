// SPDX-License-Identifier: Apache-2.0
// cubby::relativistic: an engine whose lookups wait for nobody, also while the table grows or shrinks. Triplett, ATC 2011.
#pragma once

#include <cubby/detail/engines/relativistic/relativistic.hpp>
