// SPDX-License-Identifier: Apache-2.0
// The mode of the variant of iceberg whose slots for texts are wide.
#pragma once

#include <cubby/iceberg.hpp>

#include "modes.hpp"

namespace cubby_test {

/// Keys of 9 to 80 bytes beside values of a word. The even ones lie in slots of 64 bytes, half of them with more than 23 bytes. The odd ones are
/// in key records.
template <class Engine>
struct wide_text_mode {
  using engine = Engine;
  using key_type = std::string;
  using mapped_type = std::uint64_t;
  using map = cubby::map<key_type, mapped_type, cubby::iceberg_wide>;
  // The same first and last characters in all keys of a kind: only the whole key tells them apart.
  static key_type key(std::uint64_t n) {
    const std::string end = n % 4 == 0   ? ""
                            : n % 2 == 0 ? "-in-a-wide-slot"
                                         : "-which-is-too-long-even-for-a-slot-of-64-bytes";
    return "same-key" + std::to_string(n) + end;
  }
  static std::uint64_t number_of_key(const key_type& k) {
    const std::uint64_t n = std::stoull(k.substr(8));
    return key(n) == k ? n : torn;
  }
  static mapped_type value(std::uint64_t n) { return n; }
  static std::uint64_t number(const mapped_type& v) { return v; }
};

} // namespace cubby_test
