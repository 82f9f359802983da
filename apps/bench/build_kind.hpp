// SPDX-License-Identifier: Apache-2.0
// Two programs are built from these files: the whole one, and that of `make demo`, which compiles in a fifth of the time. It holds
// what the default run measures, compiled with the same flags, and says what to build for the rest.
#pragma once

#include <string_view>

namespace bench {

#if defined(CUBBY_DEMO_PROGRAM)
inline constexpr bool is_whole_program = false;
#else
inline constexpr bool is_whole_program = true;
#endif

inline constexpr std::string_view how_to_get_the_rest = "this is the program of make demo, which holds the default run "
                                                        "alone; build the whole one: cmake --preset release && cmake "
                                                        "--build --preset release --target cubby_program";

} // namespace bench
