// SPDX-License-Identifier: Apache-2.0
// What a resize does to one family of chains, under the lock of its stripe: hand a chain to the buckets of a larger array
// (section 4, expand), chain buckets together for a smaller one (shrink), and cut one link of chains that are zipped
// together (one unzip step). Between two cuts of a family the caller waits for readers.
#pragma once

#include <cubby/engine/relativistic/table.hpp>

namespace cubby::inline v0::engines::relativistic {

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
    if (head.load(sync::relaxed) == 0) head.store(link_to(*n), sync::relaxed); // relaxed: as above
    n = node_at(n->next.load(sync::relaxed));                                  // relaxed: as above
  }
  move_chain(from.heads[number]);
}

/// Shrinking: bucket `number` of `to` runs through all buckets of its family in `from`, one after the other.
inline void join_chains(bucket_array& from, bucket_array& to, std::uint64_t number) noexcept {
  sync::word<std::uint64_t>* tail = &to.heads[number];
  for (std::uint64_t b = number; b <= from.mask; b += to.mask + 1) {
    // relaxed: under the stripe's lock
    const std::uint64_t chain = from.heads[b].load(sync::relaxed);
    if (chain == 0) continue;
    put_link(*tail, chain);
    // relaxed: as above
    for (node* n = node_at(chain); n != nullptr; n = node_at(tail->load(sync::relaxed))) tail = &n->next;
  }
  for (std::uint64_t b = number; b <= from.mask; b += to.mask + 1) move_chain(from.heads[b]);
}

/// The first link on a bucket's path that leads to another bucket's node.
struct seam {
  sync::word<std::uint64_t>* where = nullptr;
  std::uint64_t behind = 0; // nodes on the path behind that link
  std::uint64_t own = 0;    // where it should lead: the bucket's next node, or nowhere
};

template <class Policy> seam find_seam(const Policy& policy, bucket_array& at, std::uint64_t bucket) noexcept {
  seam found;
  sync::word<std::uint64_t>* from = &at.heads[bucket];
  // relaxed: under the stripe's lock
  for (node* n = node_at(from->load(sync::relaxed)); n != nullptr; n = node_at(from->load(sync::relaxed))) {
    const bool own = (hash_of(policy, *n) & at.mask) == bucket;
    if (found.where == nullptr && !own) found.where = from;
    if (found.where != nullptr) {
      ++found.behind;
      if (own && found.own == 0) found.own = link_to(*n);
    }
    from = &n->next;
  }
  return found;
}

/// Of the seams of a family cuts the one with the most nodes behind it; false: there is none, its chains are precise.
/// No reader of another bucket is at that link, if the caller has waited for readers since the last cut: a path that
/// led there from another bucket would have its own seam on the way, with more nodes behind it.
template <class Policy> bool cut_seam(const Policy& policy, bucket_array& at, std::uint64_t number) noexcept {
  // relaxed: only the resizer changes it, and the caller is the resizer
  const std::uint64_t step = at.family_mask.load(sync::relaxed) + 1;
  seam first;
  for (std::uint64_t b = number; b <= at.mask; b += step) {
    const seam s = find_seam(policy, at, b);
    if (s.behind > first.behind) first = s;
  }
  if (first.where == nullptr) return false;
  put_link(*first.where, first.own);
  return true;
}

} // namespace cubby::inline v0::engines::relativistic
