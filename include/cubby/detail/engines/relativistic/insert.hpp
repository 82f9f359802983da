// SPDX-License-Identifier: Apache-2.0
// Insert if absent (section 3). It searches for the key without a lock and builds the node. Then, under the stripe's lock, it links the
// node at its position in the order of its bucket's chain, if there was no insert in the stripe since the search began. The new node's
// link is the old value of the link before it, so no node is skipped, and inserts go on during a resize.
#pragma once

#include <cubby/detail/engines/relativistic/find.hpp>
#include <cubby/detail/engines/relativistic/grow.hpp>

namespace cubby::inline v0::detail::engines::relativistic {

/// The most entries with one hash. Growth cannot separate them, and each lookup would pass all of them.
inline constexpr unsigned most_of_one_hash = 64;

template <class Policy>
CUBBY_NEVER_INLINE bool too_many_share(const table<Policy>& t, std::uint64_t hash) noexcept {
  unsigned count = 0;
  std::uint64_t link = first_link(t, hash);
  for (const node* n = node_at(link); n != nullptr; n = node_at(link)) {
    // [read-value] acquire: pairs with [write-value], and with [mark-dead-node]
    const std::uint64_t value = n->value.load(sync::acquire);
    // [follow] acquire: pairs with [put-link], and with [mark-dead]
    link = n->next.load(sync::acquire);
    if ((link & mark::gone) == 0 && t.policy.hash_of(n->key, value) == hash) ++count;
  }
  return count >= most_of_one_hash;
}

/// Takes one of the places of a `fixed` table; false: there is none.
template <class Policy> bool take_place(table<Policy>& t) noexcept {
  if (t.bound == ~std::uint64_t{0}) return true;
  // relaxed, all: only a number; the nodes are published by other stores
  std::uint64_t placed = t.placed.load(sync::relaxed);
  while (placed < t.bound) {
    // relaxed: as above
    if (t.placed.compare_exchange(placed, placed + 1, sync::relaxed, sync::relaxed)) return true;
  }
  return false;
}
template <class Policy> void give_place(table<Policy>& t) noexcept {
  // relaxed: as above
  if (t.bound != ~std::uint64_t{0}) t.placed.fetch_add(~std::uint64_t{0}, sync::relaxed);
}

/// The link at which a node of this hash belongs: the one before the first node that does not come before it. Under the lock of the
/// stripe.
template <class Policy>
sync::word<std::uint64_t>& link_for(const Policy& policy, bucket_array& at, std::uint64_t hash) noexcept {
  sync::word<std::uint64_t>* from = &at.heads[hash & at.mask];
  // relaxed: links change under the lock
  for (node* n = node_at(from->load(sync::relaxed)); n != nullptr && comes_before(hash_of(policy, *n), hash);) {
    from = &n->next;
    n = node_at(from->load(sync::relaxed)); // relaxed: as above
  }
  return *from;
}

enum class linking : std::uint8_t { linked, outdated, full };

/// Links `made` if there was no insert in its stripe since `seen`.
template <class Policy>
linking link_node(table<Policy>& t, stripe& s, std::uint64_t hash, node& made, std::uint64_t seen,
                  std::uint64_t& live) noexcept {
  lock_scope hold(s.lock);
  if (s.inserts.load(sync::relaxed) != seen) return linking::outdated; // relaxed: written under the lock
  if (!take_place(t)) return linking::full;
  auto& before = link_for(t.policy, array_of(t, hash), hash);
  // relaxed, all: links change under the lock; the node is not yet shared
  const std::uint64_t marks = made.next.load(sync::relaxed);
  made.next.store((before.load(sync::relaxed) & ~mark::all) | marks, sync::relaxed);
  put_link(before, link_to(made)); // Linearization point of an insert.
  // [count-insert] release: pairs with [inserts]; a thread that sees the number sees the node
  s.inserts.store(seen + 1, sync::release);
  live = count_live(s, (marks & mark::hidden) != 0 ? 0 : 1);
  return linking::linked;
}

/// Inserts `value` for the probe's key, with `marks`, unless the key is present or reserved. If it is not inserted, `value` stays the
/// caller's. Other inserts in the same stripe may make it search again.
template <class Policy, class Probe>
inserted_word insert(table<Policy>& t, const Probe& probe, std::uint64_t value, std::uint64_t marks = 0) noexcept {
  stripe& s = stripe_of(t, probe.hash);
  node* made = nullptr;
  std::uint64_t live = 0;
  inserted_word out;
  for (linking how = linking::outdated; how == linking::outdated;) {
    // [inserts] seq_cst: pairs with [count-insert]; the first load of a verb, as in first_link
    const std::uint64_t seen = s.inserts.load(sync::seq_cst);
    const seen_slot hit = search(t.policy, first_link(t, probe.hash), probe);
    if (hit.where != nullptr) out = {.outcome = insert_outcome::exists, .word = hit.value};
    else if (hit.steps >= most_of_one_hash && too_many_share(t, probe.hash)) out.outcome = insert_outcome::crowded;
    else if (made == nullptr) made = make_node<Policy>(probe.word, value, marks);
    if (out.outcome == insert_outcome::inserted && made == nullptr) out.outcome = insert_outcome::no_memory;
    if (out.outcome != insert_outcome::inserted) break;
    how = link_node(t, s, probe.hash, *made, seen, live);
    if (how == linking::full) out.outcome = insert_outcome::full;
  }
  if (out.outcome == insert_outcome::inserted) after_insert(t, live);
  else if (!Policy::unique_words && made != nullptr) free_node(made);
  return out;
}

} // namespace cubby::inline v0::detail::engines::relativistic
