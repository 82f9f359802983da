// SPDX-License-Identifier: Apache-2.0
// The statistics of a table.
#pragma once

#include <cubby/detail/engines/relativistic/table.hpp>

namespace cubby::inline v0::detail::engines::relativistic {

template <class Policy> table_stats stats(table<Policy>& t) noexcept {
  table_stats out;
  out.size = static_cast<std::size_t>(live_entries(t));
  out.retired = t.bag.waiting() + t.node_bag.waiting();
  // relaxed, all: recent values
  out.capacity = out.bins = static_cast<std::size_t>(t.buckets.load(sync::relaxed));
  out.bytes = static_cast<std::size_t>(t.array_bytes.load(sync::relaxed));
  if (!Policy::unique_words)
    out.bytes += (out.size + t.node_bag.waiting()) * sizeof(node); // otherwise records contain them
  out.growths = t.growths.load(sync::relaxed);                     // relaxed: as above
  out.shrinks = t.shrinks.load(sync::relaxed);                     // relaxed: as above
  memory::region_list pages;
  {
    lock_scope hold(t.resize_lock);
    out.migrating = t.work.at != stage::idle;
    const bucket_array* const first = t.root.load(sync::relaxed); // relaxed: roots change under the lock
    pages.add(first->pages);
    const bucket_array* const other = first == t.work.from ? t.work.to : t.work.from;
    if (other != nullptr) pages.add(other->pages);
  }
  out.huge_bytes = pages.huge_bytes(); // reads a file, so not under the lock
  return out;
}

} // namespace cubby::inline v0::detail::engines::relativistic
