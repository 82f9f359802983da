// SPDX-License-Identifier: Apache-2.0
// Explores the scenarios of a group within its share of the time, and keeps the figures for the table at the end.
#pragma once

#include <string>
#include <vector>

#include "explore/scenario.hpp"

namespace cubby_test {

/// What the shares of all groups add up to: a run of all of them fails if they do not.
inline constexpr unsigned all_shares = 193;

/// Takes its share of the seconds. Fails the current test at the first scenario that fails.
void explore_group(const std::string& name, std::vector<scenario> scenarios, unsigned share);

} // namespace cubby_test
