// SPDX-License-Identifier: Apache-2.0
// Explores the scenarios of a group within its share of the time, and keeps the figures for the table at the end.
#pragma once

#include <string>
#include <vector>

#include "explore/scenario.hpp"

namespace cubby_test {

/// What the shares of all groups add up to: a run of all of them fails if they do not.
inline constexpr unsigned all_shares = 219;

/// Takes its share of the seconds. Fails the current test at the first scenario that fails.
void explore_group(const std::string& name, std::vector<scenario> scenarios, unsigned share);

/// All schedules up to a bound of the scenarios of a kind, however long that takes.
void explore_to_the_end(const std::vector<scenario>& all, const std::string& kind, unsigned most);
/// The same, and then so many schedules drawn at random from a seed that does not change.
void explore_and_draw(const std::vector<scenario>& all, const std::string& kind, unsigned most, std::uint64_t draws);

} // namespace cubby_test
