// SPDX-License-Identifier: Apache-2.0
// What a resize does to one family of chains, under the lock of its stripe: hand a chain to the buckets of a larger array
// (section 4, expand), chain buckets together for a smaller one (shrink), and cut chains that are zipped together (unzip,
// of sorted buckets: section 4.3). Between the first and the last the caller waits for readers, once.
#pragma once

#include <cubby/detail/engines/relativistic/table.hpp>

namespace cubby::inline v0::detail::engines::relativistic {

/// Sets where a link leads, and leaves the marks of the node that it is in.
inline void put_link(sync::word<std::uint64_t>& link, std::uint64_t to) noexcept {
  // relaxed: links change under the lock that the caller holds
  const std::uint64_t marks = link.load(sync::relaxed) & mark::all;
  // [put-link] release: pairs with [follow]
  link.store(to | marks, sync::release);
}

/// Tells readers and writers that the chain of this head has moved; whatever it holds is reached from the next array.
inline void move_chain(sync::word<std::uint64_t>& head) noexcept {
  // [move-chain] release: pairs with [follow]
  head.store(head_mark::moved, sync::release);
}

/// Growth: every bucket of `to` in family `number` begins at its first node in the old chain, which stays as it is.
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

/// Shrinking: bucket `number` of `to` runs through all buckets of its family in `from`, in the order of chains.
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

/// Ends the path of every bucket of a family behind the bucket's own nodes. Readers of the old array must have left, as only they
/// may stand on one bucket's nodes and look for another's. Everybody else who is at such a link has passed what it looks
/// for (N4), so all links of all families are cut in one pass, and nobody need leave after it.
template <class Policy> void cut_chains(const Policy& policy, bucket_array& at, std::uint64_t number) noexcept {
  // relaxed: only the resizer changes it, and the caller is the resizer
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
