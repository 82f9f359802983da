// SPDX-License-Identifier: Apache-2.0
/// @file
/// cubby::dlht, the default engine; cubby::dlht_single, the same for one thread; cubby::dlht_counted, with a histogram.
/// The paper: DLHT, HPDC 2024.
#pragma once

#include <cubby/detail/engines/dlht/dlht.hpp>
