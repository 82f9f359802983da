// SPDX-License-Identifier: Apache-2.0
/// @file
/// The version of the library: `#if CUBBY_VERSION >= 200` asks for 0.2.0 or later. `CUBBY_VERSION_MAJOR`, `CUBBY_VERSION_MINOR` and
/// `CUBBY_VERSION_PATCH` are its parts. docs/versions.md says what a version promises.
#pragma once

#include <cubby/detail/platform/version.hpp>

namespace cubby::inline v0 {

/// The version as a text, for messages.
inline constexpr char version_text[] = "0.2.0";

} // namespace cubby::inline v0
