// SPDX-License-Identifier: Apache-2.0
/// @file
/// The hash without a table: `cubby::hash<K>`, and the mixer behind it for your own hashes.
#pragma once

#include <cubby/detail/core/hash.hpp>
