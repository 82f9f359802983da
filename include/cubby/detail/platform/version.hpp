// SPDX-License-Identifier: Apache-2.0
// The version of the library as macros, for `#if`. It is the one in CMakeLists.txt: tools/check_house.py compares them.
#pragma once

#define CUBBY_VERSION_MAJOR 0
#define CUBBY_VERSION_MINOR 2
#define CUBBY_VERSION_PATCH 0
/// One number that grows with the version: 10000 * major + 100 * minor + patch.
#define CUBBY_VERSION (CUBBY_VERSION_MAJOR * 10000 + CUBBY_VERSION_MINOR * 100 + CUBBY_VERSION_PATCH)
