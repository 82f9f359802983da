// SPDX-License-Identifier: Apache-2.0
// Decides whether what the threads of a schedule saw has an order. Each history goes to the checker of
// tests/linearizability, key by key. One with a batch or a snapshot also goes to a search over the whole table's
// states. Only together do keys show that a batch kept its order and that a snapshot was of one moment. The same
// history comes up in many schedules, so that results are kept.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "explore/scenario.hpp"

namespace cubby_test {

class judge {
public:
  /// Empty when there is an order.
  const std::string& operator()(const std::vector<lane>& lanes);
  /// Whether two judges have seen the same histories.
  [[nodiscard]] bool saw_the_same(const judge& other) const {
    if (known_.size() != other.known_.size()) return false;
    for (const auto& one : known_) {
      if (!other.known_.contains(one.first)) return false;
    }
    return true;
  }
  [[nodiscard]] std::size_t histories() const noexcept { return known_.size(); }

private:
  struct digest {
    std::uint64_t low = 0, high = 0;
    bool operator==(const digest&) const = default;
  };
  struct digest_hash {
    std::size_t operator()(const digest& d) const noexcept { return d.low; }
  };
  static digest digest_of(const std::vector<lane>& lanes);
  std::unordered_map<digest, std::string, digest_hash> known_;
};

/// One order of all calls on all keys at once. Empty when there is one.
std::string check_as_a_whole(const std::vector<lane>& lanes);

} // namespace cubby_test
