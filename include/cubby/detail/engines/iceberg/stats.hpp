// SPDX-License-Identifier: Apache-2.0
// The statistics of a table.
#pragma once

#include <cubby/detail/engines/iceberg/table.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

/// `cubby::table_stats`, and how many entries are in chains.
struct table_stats : cubby::table_stats {
  std::size_t chained = 0; ///< entries for which neither yard had a slot
};

template <class Policy> table_stats stats(const table<Policy>& t) noexcept {
  table_stats out;
  memory::region_list pages;
  {
    lock_scope keep(t.retired.lock); // segments are freed only under it
    const root_word r = first_root(t);
    out.size = static_cast<std::size_t>(live_entries(t));
    out.capacity = static_cast<std::size_t>(slots_at(t, r.level()));
    out.bins = static_cast<std::size_t>(t.fronts << r.level());
    out.migrating = r.moving();
    for (unsigned number = 0; number <= r.level(); ++number) pages.add(segment_at(t, number).pages);
    // [touch-page] acquire: pairs with [show-pages]
    if (const auto* const made = t.next.made.load(sync::acquire)) pages.add(made->pages);
    out.retired = t.retired.count();
    out.bytes = t.retired.bytes();
  }
  out.chained = chained_entries(t);
  out.retired += t.bag.waiting() + t.node_bag.waiting();
  if constexpr (key_owning_policy<Policy>) out.retired += t.key_records.bag.waiting();
  out.bytes += pages.bytes() + bytes_of_chains(t) + out.chained * sizeof(node<Policy>);
  out.growths = t.growths.load(sync::relaxed); // relaxed: as above
  out.shrinks = t.shrinks.load(sync::relaxed); // relaxed: as above
  out.huge_bytes = pages.huge_bytes();         // reads a file, so not under the lock
  return out;
}

} // namespace cubby::inline v0::detail::engines::iceberg
