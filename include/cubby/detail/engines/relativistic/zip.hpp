// SPDX-License-Identifier: Apache-2.0
// The steps of a resize on one family of chains, under the lock of its stripe. Growth gives a chain to the buckets of a larger
// array (section 4, expand). A shrink links the chains of several buckets into one. Unzip cuts the shared chains of a growth apart,
// for sorted buckets (section 4.3). Between the first and the last step of a growth the caller waits for readers, once.
#pragma once

#include <cubby/detail/engines/relativistic/table.hpp>

namespace cubby::inline v0::detail::engines::relativistic {

/// Sets the target of a link, and keeps the marks of its node.
inline void put_link(sync::word<std::uint64_t>& link, std::uint64_t to) noexcept {
  // relaxed: links change under the lock that the caller holds
  const std::uint64_t marks = link.load(sync::relaxed) & mark::all;
  // [put-link] release: pairs with [follow]
  link.store(to | marks, sync::release);
}

/// Tells readers and writers that the chain of this head has moved: its nodes can be reached from the next array.
inline void move_chain(sync::word<std::uint64_t>& head) noexcept {
  // [move-chain] release: pairs with [follow]
  head.store(head_mark::moved, sync::release);
}

/// Growth: each bucket of `to` in family `number` begins at its first node in the old chain, which does not change.
template <class Policy>
void share_chain(const Policy& policy, bucket_array& from, bucket_array& to, std::uint64_t number) noexcept {
  // relaxed, all: under the stripe's lock, and the new heads are not shared before the chain has moved
  for (const node* n = node_at(from.heads[number].load(sync::relaxed)); n != nullptr;) {
    auto& head = to.heads[hash_of(policy, *n) & to.mask];
    if (head.load(sync::relaxed) == 0) {      // relaxed: as above
      head.store(link_to(*n), sync::relaxed); // relaxed: as above
      if (to.siblings.runs != nullptr) to.siblings.add(number, hash_of(policy, *n) & to.mask);
    }
    n = node_at(n->next.load(sync::relaxed)); // relaxed: as above
  }
  move_chain(from.heads[number]);
}

/// Shrink: the chain of bucket `number` of `to` is that of all buckets of its family in `from`, one after the other, in chain order.
inline void join_chains(bucket_array& from, bucket_array& to, std::uint64_t number) noexcept {
  const std::uint64_t ways = from.mask ^ to.mask;
  sync::word<std::uint64_t>* tail = &to.heads[number];
  std::uint64_t b = number;
  do {
    // relaxed: under the stripe's lock
    const std::uint64_t chain = from.heads[b].load(sync::relaxed);
    if (chain != 0) put_link(*tail, chain);
    // relaxed: as above
    for (node* n = node_at(chain); n != nullptr; n = node_at(tail->load(sync::relaxed))) tail = &n->next;
    b = next_sibling(b, ways);
  } while (b != number);
  for (; b <= from.mask; b += to.mask + 1) move_chain(from.heads[b]);
}

/// Ends the path of each bucket of a family behind the bucket's own nodes. Readers of the old array must have left before: only they
/// may be at a node of one bucket and search for a node of another. Any other reader at such a link has passed the node that it
/// searches for (N4). So one pass cuts all links of all families, with no further wait for readers.
template <class Policy> void cut_chains(const Policy& policy, bucket_array& at, std::uint64_t number) noexcept {
  // relaxed: only the resizing thread changes it, which is the caller
  const std::uint64_t step = at.family_mask.load(sync::relaxed) + 1;
  for_each_sibling(at, number, step, [&](std::uint64_t b) {
    sync::word<std::uint64_t>* from = &at.heads[b];
    // relaxed: under the stripe's lock
    node* n = node_at(from->load(sync::relaxed));
    for (; n != nullptr && (hash_of(policy, *n) & at.mask) == b; n = node_at(from->load(sync::relaxed))) {
      from = &n->next;
    }
    if (n != nullptr) put_link(*from, 0);
  });
}

} // namespace cubby::inline v0::detail::engines::relativistic
