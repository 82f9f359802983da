// SPDX-License-Identifier: Apache-2.0
// The hash alone: `cubby::hash<K>` and the mixer behind it, for hashes of one's own and without a table.
#pragma once

#include <cubby/detail/core/hash.hpp>
