// SPDX-License-Identifier: Apache-2.0
// cubby::reference: a mutex and std::unordered_map behind the same API: the oracle of tests, and the lesson for writing an engine.
#pragma once

#include <cubby/detail/engines/reference/reference.hpp>
