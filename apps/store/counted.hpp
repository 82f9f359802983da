// SPDX-License-Identifier: Apache-2.0
// A count and its noun, by a short name.
#pragma once

#include "../counted.hpp"

namespace store {

using console::counted;

} // namespace store
