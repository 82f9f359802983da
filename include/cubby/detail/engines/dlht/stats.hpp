// SPDX-License-Identifier: Apache-2.0
// The statistics of a table.
#pragma once

#include <cubby/detail/engines/dlht/scan.hpp>

namespace cubby::inline v0 {

/// The distribution of entries: `bins[n]` bins have n entries; `chains[n]` bins have n buckets (1 to 4; 0 is unused).
struct chain_histogram {
  std::uint64_t bins[16] = {};
  std::uint64_t chains[5] = {};
};

namespace detail {

namespace engines::dlht {

/// The statistics. Needs no pin, because indexes are freed only under the lock of `retired`.
template <class Policy, class Threads> table_stats stats(const table<Policy, Threads>& t) noexcept {
  const std::size_t words = t.bag.waiting();
  auto out = generations::figures_of<table_stats>(t, [](table_stats& to, const index<Threads>& at) {
    to.links = at.link_count;
    to.links_used = at.links_used.load(sync::relaxed); // relaxed: a statistic
  });
  out.retired += words;
  out.size = live_entries(t);
  return out;
}

/// The distribution, from a scan of the whole table. Old indexes are not freed meanwhile.
template <class Policy, class Threads> chain_histogram histogram(const table<Policy, Threads>& t) noexcept {
  chain_histogram out;
  lock_scope keep(t.retired.lock);
  const index<Threads>& at = *first_index(t);
  for (std::uint64_t number = 0; number < at.bin_count; ++number) {
    bin_copy copy;
    if (!copy_bin(at, at.bins[number], copy)) continue;                    // the bin has moved to the next index
    const std::uint64_t links = at.bins[number].links.load(sync::relaxed); // relaxed: as above
    ++out.bins[copy.count];
    ++out.chains[1 + ((links & low_half) != 0 ? 1 : 0) + ((links >> 32) != 0 ? 2 : 0)];
  }
  return out;
}

} // namespace engines::dlht

} // namespace detail

} // namespace cubby::inline v0
