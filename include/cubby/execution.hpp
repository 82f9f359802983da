// SPDX-License-Identifier: Apache-2.0
/// @file
/// The execution policies of the standard library for scans by several threads: `m.visit_all(std::execution::par, f)`, and likewise
/// `visit_while`, `erase_if`, `snapshot` and `modify_all`. A header of its own because of what <execution> brings: that of GCC's library
/// asks for TBB (-ltbb) where its headers are installed, unless _GLIBCXX_USE_TBB_PAR_BACKEND is defined as 0.
#pragma once

#include <cubby/detail/platform/cpu.hpp> // first: it says which C++ is needed

#include <execution>
#include <type_traits>

#include <cubby/detail/api/shared_scan.hpp>

namespace cubby::inline v0::detail {

/// `seq` and `unseq`: the caller alone. `par` and `par_unseq`: as many threads as there are processors. A thread calls the function for one
/// entry after the other, also where the policy would allow more.
template <class Policy>
  requires std::is_execution_policy_v<Policy>
struct team<Policy> {
  static constexpr bool is_parallel = std::is_same_v<Policy, std::execution::parallel_policy> ||
                                      std::is_same_v<Policy, std::execution::parallel_unsequenced_policy>;
  template <class F> static void run(const Policy&, F f) noexcept { in_parallel(is_parallel ? processors() : 1, f); }
};

} // namespace cubby::inline v0::detail
