// SPDX-License-Identifier: Apache-2.0
// Iteration, weak: it follows the chains as a reader does.
#pragma once

#include <cubby/detail/core/scan_cursor.hpp>
#include <cubby/detail/engines/relativistic/find.hpp>
#include <cubby/detail/platform/prefetch.hpp>

namespace cubby::inline v0::detail::engines::relativistic {

/// Shows the entries of a path whose hashes, under `mask`, are `low`. `f` may change the table: what it is shown stays valid while the
/// caller's pin lives.
template <class Policy, class F>
void show_path(const Policy& policy, std::uint64_t link, std::uint64_t mask, std::uint64_t low, F& f) {
  for (const node* n = node_at(link); n != nullptr; n = node_at(link)) {
    // [read-value] acquire: pairs with [write-value], and with [mark-dead-node]
    const std::uint64_t value = n->value.load(sync::acquire);
    // [follow] acquire: pairs with [put-link], and with [mark-dead]
    link = n->next.load(sync::acquire);
    // the replacement of a record comes next
    if ((link & (mark::gone | mark::hidden)) == 0 && (policy.hash_of(n->key, value) & mask) == low) f(n->key, value);
  }
}

/// A scan that threads share. It begins in this array. The pin of the thread that began it lasts until the last thread has ended. It holds
/// up the wait for readers, so a chain moves at most once meanwhile, whenever the other threads begin.
struct shared_scan {
  const bucket_array* at;
  scan_cursor<sync::shared> buckets;
};
/// How many buckets a thread takes at a time.
inline constexpr std::uint64_t buckets_at_a_time = 1024;

/// The array in which a scan begins.
template <class Policy> const bucket_array& scanned_array(const table<Policy>& t) noexcept {
  // [table-root] seq_cst: pairs with [show-root]; the first load of a scan, as in first_link
  return *t.root.load(sync::seq_cst);
}
/// Shows the entries of the buckets from `first` on, also of those that have moved to the next array.
template <class Policy, class F>
void show_buckets(const table<Policy>& t, const bucket_array& at, std::uint64_t first, std::uint64_t count, F& f) {
  constexpr std::uint64_t ahead = 8; // as in `dlht`
  for (std::uint64_t b = first; b < first + count; ++b) {
    if (b + ahead < first + count) prefetch_line(node_at(at.heads[b + ahead].load(sync::relaxed))); // relaxed: a hint
    // [follow] acquire: pairs with [put-link], and with [move-chain]
    const std::uint64_t link = at.heads[b].load(sync::acquire);
    if ((link & head_mark::moved) == 0) {
      show_path(t.policy, link, at.mask, b, f);
      continue;
    }
    // [next-array] acquire: pairs with [hang-array]
    const bucket_array& to = *at.next.load(sync::acquire);
    const bool larger = to.mask > at.mask;
    for (std::uint64_t c = b & to.mask; c <= to.mask; c += larger ? at.mask + 1 : to.mask + 1) {
      // [follow] acquire: pairs with [put-link]
      show_path(t.policy, to.heads[c].load(sync::acquire), larger ? to.mask : at.mask, larger ? c : b, f);
    }
  }
}
/// A weak scan, inside a pin. An entry that is present throughout is shown exactly once; one that is inserted or erased meanwhile is
/// shown at most once for each insert. The pin holds up the wait for readers, so a chain moves at most once meanwhile.
template <class Policy, class F> void for_each(const table<Policy>& t, F& f) {
  const bucket_array& at = scanned_array(t);
  show_buckets(t, at, 0, at.mask + 1, f);
}
/// The part of a shared scan that other threads leave. All of them together show what `for_each` does.
template <class Policy, class F> void for_each_of(const table<Policy>& t, shared_scan& w, F& f) {
  w.buckets.share_out(w.at->mask + 1, buckets_at_a_time,
                      [&](std::uint64_t first, std::uint64_t count) { show_buckets(t, *w.at, first, count, f); });
}

} // namespace cubby::inline v0::detail::engines::relativistic
