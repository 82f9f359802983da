// SPDX-License-Identifier: Apache-2.0
// cubby::reference: a lock and std::unordered_multimap behind the same API: the oracle of tests, and the lesson for writing an engine.
#pragma once

#include <cubby/detail/engines/reference/reference.hpp>
