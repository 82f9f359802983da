// SPDX-License-Identifier: Apache-2.0
/// @file
/// cubby::reference: a lock and a std::unordered_multimap behind the same API. It is the oracle of tests, and the example for
/// a new engine.
#pragma once

#include <cubby/detail/engines/reference/reference.hpp>
