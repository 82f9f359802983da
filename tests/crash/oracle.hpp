// SPDX-License-Identifier: Apache-2.0
// What a table may contain after a power cut: durable linearizability. For each key the oracle keeps all values that the calls so far
// allow. A call that has returned counts with its answer, lookups included; one that has not may have happened or not.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cubby_test::crash {

using token = std::uint64_t; // stands for a key or a value of any type
using maybe = std::optional<token>;

enum class verb : std::uint8_t { find, insert, assign, update, modify, insert_or_assign, erase };
struct call {
  verb what = verb::find;
  token key = 0;
  token value = 0; // of `update` and `modify`: what is added
};
/// What a call has returned. `value`: of a find.
struct answer {
  bool done = false;
  maybe value;
  auto operator<=>(const answer&) const = default;
};

inline constexpr unsigned most_actors = 3;

/// For each key the values that it may have after a power cut. No value: the key is absent.
using allowed_values = std::map<token, std::vector<maybe>>;

class oracle {
public:
  void begin(unsigned actor, const call& made);
  /// False: no order of the calls explains the answer.
  [[nodiscard]] bool end(unsigned actor, const answer& got);
  /// Everything that is allowed now. The same object until something changes.
  [[nodiscard]] std::shared_ptr<const allowed_values> allowed();
  /// Goes on from what a recovery has found.
  void restart(const std::map<token, token>& contents);

private:
  /// One way in which the calls may have happened: the value, and what the calls under way have answered if they have happened.
  struct way {
    maybe value;
    std::array<std::optional<answer>, most_actors> said;
    auto operator<=>(const way&) const = default;
  };
  struct key_state {
    std::set<way> ways{way{}};
    std::array<std::optional<call>, most_actors> flying;
  };
  static void complete(key_state& of);

  std::map<token, key_state> keys_;
  std::array<token, most_actors> key_of_{};
  std::shared_ptr<const allowed_values> known_;
};

/// "7: absent or 3"
std::string describe(token key, const std::vector<maybe>& values);

} // namespace cubby_test::crash
