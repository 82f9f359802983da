// SPDX-License-Identifier: Apache-2.0
// cubby::dlht, the default engine, and cubby::dlht_single, the same for one thread; cubby::dlht_counted has a histogram. DLHT, HPDC 2024.
#pragma once

#include <cubby/detail/engines/dlht/dlht.hpp>
