// SPDX-License-Identifier: Apache-2.0
// Lookups (section 3): load the root and the bucket's head, follow links and compare keys. A lookup writes nothing, never retries and
// never waits. A chain may hold nodes of other buckets; the comparison of keys skips them.
#pragma once

#include <cubby/detail/core/prefetch_group.hpp>
#include <cubby/detail/engines/relativistic/table.hpp>
#include <cubby/detail/platform/prefetch.hpp>

namespace cubby::inline v0::detail::engines::relativistic {

/// The first link of the chain of `hash`. If the chain has moved, it is in the next array. It cannot have moved twice, because a second
/// resize begins only after a wait for readers.
template <class Policy>
CUBBY_ALWAYS_INLINE std::uint64_t first_link(const table<Policy>& t, std::uint64_t hash) noexcept {
  // [table-root] seq_cst: pairs with [show-root]; the first load of a verb stays behind what its thread did before
  const bucket_array* at = t.root.load(sync::seq_cst);
  for (;;) {
    // [follow] acquire: pairs with [put-link], and with [move-chain]
    const std::uint64_t link = at->heads[hash & at->mask].load(sync::acquire);
    if ((link & head_mark::moved) == 0) [[likely]]
      return link;
    // [next-array] acquire: pairs with [hang-array]
    at = at->next.load(sync::acquire);
  }
}

CUBBY_NEVER_INLINE inline node* node_past_marks(std::uint64_t link) noexcept { return node_at(link); }
/// The node to which a link leads. Marks are rare, so a predicted branch is cheaper than clearing them for each node of a chain.
CUBBY_ALWAYS_INLINE node* follow(std::uint64_t link) noexcept {
  if ((link & mark::all) != 0) [[unlikely]]
    return node_past_marks(link);
  return std::bit_cast<node*>(link);
}

/// A node that a search has met. It was in the table at some moment of the search.
struct seen_slot {
  node* where = nullptr;
  std::uint64_t value = 0;
  bool hidden = false;
  unsigned steps = 0; // nodes before it on the chain
};

/// The node that has replaced the one with this link. It has the value that the entry got at the moment of the replacement. The next
/// assign comes only after all paths have left the replaced node (replace_node), so one step is enough.
CUBBY_NEVER_INLINE inline seen_slot replacement(std::uint64_t link, unsigned steps) noexcept {
  node* const made = node_at(link);
  // [read-value] acquire: pairs with [write-value]
  return {made, made->value.load(sync::acquire), false, steps};
}

/// Searches for the probe's key from `link` on. Only inside a pin, which keeps alive all nodes that it meets, dead ones included.
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE seen_slot search(const Policy& policy, std::uint64_t link, const Probe& probe) noexcept {
  unsigned steps = 0;
  for (node* n = follow(link); n != nullptr; n = follow(link), ++steps) {
    if (n->key != probe.word) {
      // [follow] acquire: pairs with [put-link]
      link = n->next.load(sync::acquire);
      continue;
    }
    // [read-value] acquire: pairs with [write-value], and with [mark-dead-node]
    const std::uint64_t value = n->value.load(sync::acquire);
    // Linearization point of a find: this load of a link without marks. The value was the entry's a moment before, when the
    // node was not dead either. The point of a miss is the load of the head, or the removal of the node after that. The
    // point of a replaced node's value is the load of its link, or the replacement after that.
    // [follow] acquire: pairs with [put-link], with [mark-dead] and with [mark-replaced]
    link = n->next.load(sync::acquire);
    if ((link & mark::dead) != 0 || !policy.matches(probe, value)) continue;
    if (Policy::unique_words && (link & mark::replaced) != 0) [[unlikely]]
      return replacement(link, steps);
    return {n, value, (link & mark::hidden) != 0, steps};
  }
  return {.steps = steps};
}

/// The value word of the probe's key. Linearizable. Never waits. It takes one more step for each node that is linked ahead of it
/// meanwhile.
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE found_word find(const table<Policy>& t, const Probe& probe) noexcept {
  const seen_slot hit = search(t.policy, first_link(t, probe.hash), probe);
  return {hit.where != nullptr && !hit.hidden, hit.value};
}

/// Prefetches the bucket's head.
template <class Policy>
CUBBY_ALWAYS_INLINE void prefetch_head(const table<Policy>& t, const word_probe& probe) noexcept {
  // [table-root] acquire: pairs with [show-root]
  const bucket_array* const at = t.root.load(sync::acquire);
  prefetch_line(&at->heads[probe.hash & at->mask]);
}

/// Prefetches what readers need of the first record on the chain with the probe's key word, which begins with its node. A hint: it does not compare keys.
template <class Policy>
CUBBY_ALWAYS_INLINE void prefetch_record(const Policy& policy, std::uint64_t link,
                                         const typename Policy::probe& p) noexcept {
  for (const node* n = node_at(link); n != nullptr; n = node_at(link)) {
    if (n->key == p.word) {
      prefetch_group::lines_from(policy, p, n, sizeof(node));
      return;
    }
    // [follow] acquire: pairs with [put-link]
    link = n->next.load(sync::acquire);
  }
}

} // namespace cubby::inline v0::detail::engines::relativistic
