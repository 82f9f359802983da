// SPDX-License-Identifier: Apache-2.0
// Reservations (as in DLHT section 3.2.2): a node that is linked with the mark `hidden`. Inserts of its key fail, and lookups skip
// it. Only its owner makes it visible or removes it.
#pragma once

#include <cubby/detail/engines/relativistic/erase.hpp>

namespace cubby::inline v0::detail::engines::relativistic {

/// The hidden node of this reservation, under the lock of its stripe. It compares no keys: in word tables equal words are equal keys,
/// and the word of a record is unique.
template <class Policy>
node& hidden_node(table<Policy>& t, const word_probe& probe, std::uint64_t value) noexcept {
  bucket_array& at = array_of(t, probe.hash);
  // relaxed, all: under the stripe's lock
  node* n = node_at(at.heads[probe.hash & at.mask].load(sync::relaxed));
  for (;; n = node_at(n->next.load(sync::relaxed))) {
    if (n->key != probe.word || (n->next.load(sync::relaxed) & mark::hidden) == 0) continue; // relaxed: as above
    if (!Policy::unique_words || n->value.load(sync::relaxed) == value) return *n;           // relaxed: as above
  }
}

/// Makes the entry visible. Never fails.
template <class Policy>
void shadow_commit(table<Policy>& t, const word_probe& probe, std::uint64_t value) noexcept {
  stripe& s = stripe_of(t, probe.hash);
  std::uint64_t live = 0;
  {
    lock_scope hold(s.lock);
    node& n = hidden_node(t, probe, value);
    // relaxed: under the lock
    const std::uint64_t link = n.next.load(sync::relaxed);
    // Linearization point of a commit. [put-link] release: pairs with [follow]
    n.next.store(link & ~mark::hidden, sync::release);
    live = count_live(s, 1);
  }
  after_insert(t, live);
}

/// Removes the entry. Never fails.
template <class Policy>
void shadow_abort(table<Policy>& t, [[maybe_unused]] thread_record& who, const word_probe& probe,
                  std::uint64_t value) noexcept {
  node* gone = nullptr;
  {
    lock_scope hold(stripe_of(t, probe.hash).lock);
    gone = &hidden_node(t, probe, value);
    remove_node(t, probe.hash, *gone);
  }
  if constexpr (!Policy::unique_words) t.node_bag.add(who, link_to(*gone));
  maintenance(t);
}

} // namespace cubby::inline v0::detail::engines::relativistic
