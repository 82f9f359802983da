// SPDX-License-Identifier: Apache-2.0
// The states that a power cut may leave of a snapshot: a prefix of each unit's stores, any mix of units. All of them if they are few
// enough; else the corners (nothing, everything, one unit alone, all but one), and a seeded sample.
#pragma once

#include "crash/medium.hpp"

namespace cubby_test::crash {

/// What is left of one unit: words that differ from the durable ones.
using remnant = std::vector<placed_word>;

class crash_states {
public:
  crash_states(const snapshot& of, std::uint64_t most, random_source& random);
  /// The next state: for each unit the number of one of its remnants. False: there are no more.
  bool next(std::vector<std::uint32_t>& choice);
  [[nodiscard]] const remnant& at(std::size_t unit, std::uint32_t number) const { return units_[unit][number]; }
  [[nodiscard]] std::size_t units() const { return units_.size(); }
  /// Whether all states are shown.
  [[nodiscard]] bool exhaustive() const { return exhaustive_; }

private:
  [[nodiscard]] bool next_of_all(std::vector<std::uint32_t>& choice) const;
  [[nodiscard]] bool next_of_sample(std::vector<std::uint32_t>& choice);

  std::vector<std::vector<remnant>> units_; // the first one of each is what is durable, the last one all stores
  std::uint64_t most_;
  random_source& random_;
  std::uint64_t shown_ = 0;
  bool exhaustive_ = true;
};

} // namespace cubby_test::crash
