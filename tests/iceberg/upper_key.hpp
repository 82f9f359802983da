// SPDX-License-Identifier: Apache-2.0
// A small map of `iceberg` with one key of an upper bucket: a doubling moves it up, and a shrink down again.
#pragma once

#include "engines.hpp"
#include "support/random.hpp"

namespace cubby_test {

inline constexpr std::uint64_t upper_key = 6;
/// All bits of its hash are ones.
struct hash_of_an_upper_key {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept {
    return key == upper_key ? ~std::uint64_t{0} : splitmix(key);
  }
};
using map_with_an_upper_key = cubby::map<std::uint64_t, std::uint64_t, cubby::iceberg, hash_of_an_upper_key>;
inline constexpr std::size_t a_doubling = 100; // entries for which a table of 50 doubles

} // namespace cubby_test
