// SPDX-License-Identifier: Apache-2.0
// How a table is made, and how it ends.
#pragma once

#include <cubby/detail/core/moved_table.hpp>
#include <cubby/detail/engines/relativistic/grow.hpp>

namespace cubby::inline v0::detail::engines::relativistic {

/// Initializes a new table. False: no memory, or no thread for background growth.
template <class Policy> bool open(table<Policy>& t) noexcept {
  if (t.settings.chunk_bins == 0) t.settings.chunk_bins = 1;
  if (t.settings.move_bins == 0) t.settings.move_bins = 1;
  if (t.settings.growth_factor == 1) t.settings.growth_factor = 2;
  if (t.settings.growth_factor > most_siblings) t.settings.growth_factor = most_siblings;
  t.least_buckets = buckets_for(t.settings.capacity);
  if (t.settings.growth == growth_policy::fixed) t.bound = t.settings.capacity;
  bucket_array* const first = t.home ? make_array(t.least_buckets) : nullptr;
  if (first == nullptr) return false;
  // relaxed, all: the table is not shared yet
  t.root.store(first, sync::relaxed);
  t.buckets.store(t.least_buckets, sync::relaxed);
  t.array_bytes.store(first->pages.bytes, sync::relaxed); // relaxed: as above
  return t.settings.growth != growth_policy::background || t.worker.start(background_work<Policy>, &t, t.home->forks);
}

/// Takes all locks of the table, for a caller that is alone. False: a lock is held. In the child of a fork it may belong to a thread
/// that the child does not have; then the state that this thread was changing is unknown.
template <class Policy> bool lock_all(table<Policy>& t) noexcept {
  bool all = t.resize_lock.try_lock();
  for (stripe& s : t.stripes) all = s.lock.try_lock() && all;
  return all;
}
template <class Policy> void unlock_stripes(table<Policy>& t) noexcept {
  for (stripe& s : t.stripes) s.lock.unlock();
}

/// Ends a resize, and one that is wanted behind it, without a wait for readers. No other thread uses the table.
template <class Policy> void finish_alone(table<Policy>& t) noexcept {
  while (work_on(t, ~std::uint64_t{0}, true) != progress::idle) {
  }
}
/// Before a table moves: ends its worker, frees all that waits to be freed, and ends its resizes, which the destructors of values may have
/// begun.
template <class Policy> table<Policy>&& at_rest(table<Policy>& t) noexcept {
  end_worker(t);
  while (t.bag.dispose_all() || t.node_bag.dispose_all()) {
  }
  finish_alone(t);
  return std::move(t);
}

/// Disposes of all entries and frees all arrays. No other thread may use the table any more, so it first finishes a resize without a
/// wait for readers; then each node is on one chain. In the child of a fork that lacks the holder of a lock, it leaves the table's
/// memory as it is.
template <class Policy> void close(table<Policy>& t) {
  t.closing.store(1, sync::relaxed); // relaxed: only a request to stop early; see background_work
  t.worker.stop();
  if (!lock_all(t)) return;
  unlock_stripes(t); // the resize takes them one by one
  t.wanted = 0;
  finish_alone(t);
  // relaxed, all: no other thread is here
  bucket_array* const last = t.root.load(sync::relaxed);
  if (last == nullptr) return;
  for (std::uint64_t b = 0; b <= last->mask; ++b) {
    // relaxed: as above
    for (node* n = node_at(last->heads[b].load(sync::relaxed)); n != nullptr;) {
      node* const next = node_at(n->next.load(sync::relaxed)); // relaxed: as above
      t.policy.dispose(n->value.load(sync::relaxed));          // relaxed: as above
      if constexpr (!Policy::unique_words) free_node(n);
      n = next;
    }
  }
  free_array(last);
}

} // namespace cubby::inline v0::detail::engines::relativistic
