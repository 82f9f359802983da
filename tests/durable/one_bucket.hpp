// SPDX-License-Identifier: Apache-2.0
// A durable table whose entries share one bucket, so that few of them are in all places that an entry may have.
#pragma once

#include <cstdint>

#include "durable/files.hpp"
#include "support/random.hpp"

namespace cubby_test {

/// The upper bits, which choose the first bucket, are 0. So its entries fill it, and two back buckets of each, and chains.
struct one_bucket_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return splitmix(key) >> 8; }
};
using bucket_table = cubby::durable_map<std::uint64_t, std::uint64_t, one_bucket_hash>;
inline constexpr std::uint64_t entries_of_bucket = 120; // some of them in chains

} // namespace cubby_test

template <> inline constexpr std::uint64_t cubby::hash_is_stable<cubby_test::one_bucket_hash> = 79;
