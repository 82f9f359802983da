// SPDX-License-Identifier: Apache-2.0
// The options that only this engine has, beside those of every table.
#pragma once

#include <cubby/detail/core/contract.hpp>
#include <cubby/detail/core/move_options.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

/// `cubby::dramhit::options{{.capacity = 1000}, {.move_bins = 16}}`.
struct options : cubby::options, arrays::move_options {};

} // namespace cubby::inline v0::detail::engines::dramhit
