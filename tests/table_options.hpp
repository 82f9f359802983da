// SPDX-License-Identifier: Apache-2.0
// The options of whichever engine a test runs over: each table takes those that its engine has. The defaults are the engine's
// where a test does not choose.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <cubby/detail/core/contract.hpp>

namespace cubby_test {

struct table_options {
  std::size_t capacity = 0;
  cubby::growth_policy growth = cubby::growth_policy::incremental;
  cubby::shrink_policy shrink = cubby::shrink_policy::manual;
  std::uint64_t seed = 0;
  // Of engines that have them.
  std::optional<std::uint32_t> bins_per_link{};
  std::optional<std::size_t> chunk_bins{};
  std::optional<std::size_t> move_bins{};
  std::optional<std::uint32_t> growth_factor{};
  std::optional<std::uint32_t> grow_at{};
  std::optional<std::uint32_t> segment_bits{};
  std::optional<std::size_t> partitions{};
  std::optional<std::size_t> owners{};

  template <std::derived_from<cubby::options> O> operator O() const {
    O o{};
    o.capacity = capacity;
    o.growth = growth;
    o.shrink = shrink;
    o.seed = seed;
    if constexpr (requires { o.bins_per_link; }) o.bins_per_link = bins_per_link.value_or(o.bins_per_link);
    if constexpr (requires { o.chunk_bins; }) o.chunk_bins = chunk_bins.value_or(o.chunk_bins);
    if constexpr (requires { o.move_bins; }) o.move_bins = move_bins.value_or(o.move_bins);
    if constexpr (requires { o.growth_factor; }) o.growth_factor = growth_factor.value_or(o.growth_factor);
    if constexpr (requires { o.grow_at; }) o.grow_at = grow_at.value_or(o.grow_at);
    if constexpr (requires { o.segment_bits; }) o.segment_bits = segment_bits.value_or(o.segment_bits);
    if constexpr (requires { o.partitions; }) o.partitions = partitions.value_or(o.partitions);
    if constexpr (requires { o.owners; }) o.owners = owners.value_or(o.owners);
    return o;
  }
};

} // namespace cubby_test
