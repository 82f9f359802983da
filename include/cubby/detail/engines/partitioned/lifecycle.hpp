// SPDX-License-Identifier: Apache-2.0
// How a partitioned table is made, and how it ends.
#pragma once

#include <new>

#include <cubby/detail/engines/partitioned/delegate.hpp>
#include <cubby/detail/engines/partitioned/partition_scan.hpp>

namespace cubby::inline v0::detail::engines::partitioned {

template <class Policy> bool start_owners(delegation<Policy>& d) noexcept {
  const std::size_t wanted = d.set.settings.owners < d.set.count ? d.set.settings.owners : d.set.count;
  if (wanted == 0) return true;
  if (wanted > most_partitions) return false; // impossible; without it link-time optimizers warn of the size
  d.owners = new (std::nothrow) owner<Policy>[wanted];
  if (d.owners == nullptr) return false;
  for (std::size_t i = 0; i < wanted; ++i) {
    owner<Policy>& o = d.owners[i];
    o.all = &d;
    o.first = i;
    o.of = wanted;
    o.asleep.store(1, sync::relaxed); // relaxed: its thread has not started
    if (!o.thread.start(own_partitions<Policy>, &o, d.set.home->forks)) return false;
  }
  d.owner_count = wanted;
  for (std::size_t i = 0; i < d.set.count; ++i)
    d.set.all[i].owners.store(1, sync::relaxed); // relaxed: no thread sends yet
  return true;
}

/// Initializes a new table. False: no memory, or no thread for an owner; the caller must then `close` it.
template <class Policy> bool open(delegation<Policy>& d) noexcept {
  constexpr std::size_t usual_partitions = 16;
  const options& o = d.set.settings;
  std::size_t wanted = o.partitions != 0 ? o.partitions : o.owners > usual_partitions ? o.owners : usual_partitions;
  if (wanted > most_partitions) wanted = most_partitions;
  if (o.growth == growth_policy::fixed) d.set.bound = o.capacity;
  d.set.least_lines = lines_for<word_layout>(share_of(o.capacity, wanted));
  if (!can_hold(wanted, d.set.least_lines) || !d.set.home) return false;
  d.set.all = detail::take_raw<partition>(wanted);
  if (d.set.all == nullptr) return false;
  for (; d.set.count < wanted; ++d.set.count) {
    partition_array* const first = make_partition_array(d.set.least_lines);
    if (first == nullptr) return false;
    auto* const p = ::new (static_cast<void*>(d.set.all + d.set.count)) partition;
    p->current.store(first, sync::relaxed); // relaxed: the table is not shared yet
  }
  return start_owners(d);
}

/// Frees all memory and ends the table's threads. No other thread may use the table any more.
template <class Policy> void close(delegation<Policy>& d) noexcept {
  delete[] d.owners; // the destructors end the threads
  d.owners = nullptr;
  while (d.set.count != 0) {
    partition& p = d.set.all[--d.set.count];
    while (partition_array* const one = p.retired) {
      p.retired = one->next_retired;
      free_partition_array(one);
    }
    free_partition_array(p.current.load(sync::relaxed)); // relaxed: no other thread is here
  }
  detail::give_raw(d.set.all);
  d.set.all = nullptr;
  outbox* one = d.outboxes.load(sync::relaxed); // relaxed: as above
  while (one != nullptr) {
    outbox* const next = one->next;
    free_outbox(one);
    one = next;
  }
  d.outboxes.store(nullptr, sync::relaxed); // relaxed: as above
}

} // namespace cubby::inline v0::detail::engines::partitioned
