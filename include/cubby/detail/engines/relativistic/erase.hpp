// SPDX-License-Identifier: Apache-2.0
// Unlinking a node (section 3), under the lock of its stripe: the node is marked dead, and then taken off each path that leads
// to it. While a larger array is being unzipped there may be several such paths. A reader that stands on the node goes on from
// it. The caller retires the node. `mutate` decides whether to erase; an aborted reservation is unlinked in the same way.
#pragma once

#include <cubby/detail/engines/relativistic/insert.hpp>

namespace cubby::inline v0::detail::engines::relativistic {

/// Replaces the link to `gone` on the path of bucket `b` by `after`, if there is one. A path has its bucket's own nodes first (N4).
/// The links of the nodes behind them are replaced on the paths of their own buckets.
template <class Policy>
void detach(const Policy& policy, bucket_array& at, std::uint64_t b, const node& gone, std::uint64_t after) noexcept {
  sync::word<std::uint64_t>* from = &at.heads[b];
  // relaxed: under the stripe's lock
  for (node* n = node_at(from->load(sync::relaxed)); n != nullptr; n = node_at(from->load(sync::relaxed))) {
    if (n == &gone) {
      put_link(*from, after);
      return;
    }
    if ((hash_of(policy, *n) & at.mask) != b) return;
    from = &n->next;
  }
}

/// The same on every path of the family of `hash`. It searches the path of the hash's own bucket in any case, because that bucket
/// may be missing in the list of siblings.
template <class Policy>
void detach_everywhere(table<Policy>& t, std::uint64_t hash, const node& gone, std::uint64_t after) noexcept {
  bucket_array& at = array_of(t, hash);
  const std::uint64_t family = at.family_mask.load(sync::relaxed); // relaxed: see end_resize
  const std::uint64_t own = hash & at.mask;
  detach(t.policy, at, own, gone, after);
  if (family == at.mask) [[likely]]
    return;
  for_each_sibling(at, hash & family, family + 1, [&](std::uint64_t b) {
    if (b != own) detach(t.policy, at, b, gone, after);
  });
}

/// Removes a node, under the lock of its stripe. Each link to it becomes a link to its successor, also if the successor is a node
/// of another bucket. To skip such nodes, too, would be a cut without a wait for the readers (README.md, hole 2).
template <class Policy> void remove_node(table<Policy>& t, std::uint64_t hash, node& gone) noexcept {
  // relaxed: under the stripe's lock
  const std::uint64_t after = gone.next.load(sync::relaxed);
  // Linearization point of an erase. [mark-dead] release: pairs with [follow]
  gone.next.store(after | mark::dead, sync::release);
  detach_everywhere(t, hash, gone, after & ~mark::all);
  give_place(t);
}

} // namespace cubby::inline v0::detail::engines::relativistic
