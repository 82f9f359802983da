// SPDX-License-Identifier: Apache-2.0
// What a table of this engine is told beside the options of every table.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/core/move_options.hpp>
#include <cubby/engine.hpp>

namespace cubby::inline v0::engines::dramhit_tuples {

/// `cubby::dramhit_tuples::options{{.capacity = 1000}, {.move_bins = 16}}`.
struct options : cubby::options, arrays::move_options {};

} // namespace cubby::inline v0::engines::dramhit_tuples
