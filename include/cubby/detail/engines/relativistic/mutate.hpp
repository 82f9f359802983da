// SPDX-License-Identifier: Apache-2.0
// Changes of a present entry. The node is found without a lock, and the caller decides. The decision is carried out under the
// stripe's lock, if the node is still linked and still has the value that the caller has seen. A value word is stored in its node.
// A record has its own node, which replaces the old one on each path that leads to it; while a larger array is being unzipped there
// may be several.
#pragma once

#include <cubby/detail/engines/relativistic/erase.hpp>
#include <cubby/detail/engines/relativistic/insert.hpp>

namespace cubby::inline v0::detail::engines::relativistic {

/// Replaces the node `old` by that of another record, under the lock of their stripe. First the link of `old` leads to the new node, then
/// each path that has led to `old` does. From the first store on each reader sees the new record, on any path.
template <class Policy> void replace_node(table<Policy>& t, std::uint64_t hash, node& old,
                                          std::uint64_t value) noexcept {
  // relaxed: under the stripe's lock
  const std::uint64_t after = old.next.load(sync::relaxed);
  const node& made = *make_node<Policy>(old.key, value, after);
  // Linearization point of an assign in a record table. [mark-replaced] release: pairs with [follow]
  old.next.store(link_to(made) | mark::replaced, sync::release);
  detach_everywhere(t, hash, old, link_to(made));
}

/// Assigns a value to the entry of a linked node, under the lock of its stripe.
template <class Policy> void put_value(table<Policy>& t, std::uint64_t hash, node& n, std::uint64_t word) noexcept {
  if constexpr (Policy::unique_words) replace_node(t, hash, n, word);
  // Linearization point of an assign in a word table. [write-value] release: pairs with [read-value]
  else n.value.store(word, sync::release);
}

/// Whether a `modify` holds this node. Under the lock of its stripe.
inline bool is_held(const stripe& s, const node& n) noexcept {
  for (const holding* h = s.held; h != nullptr; h = h->next) {
    if (h->where == &n) return true;
  }
  return false;
}
/// Blocks while a `modify` holds the node. It takes the lock only after the end of some `modify` in the stripe.
CUBBY_NEVER_INLINE inline void wait_while_held(stripe& s, const node& n) noexcept {
  for (sync::backoff wait;;) {
    // relaxed, both: only a hint to look again, under the lock
    const std::uint64_t before = s.releases.load(sync::relaxed);
    {
      const lock_scope look(s.lock);
      if (!is_held(s, n)) return;
    }
    while (s.releases.load(sync::relaxed) == before) wait.pause(); // relaxed: as above
  }
}

enum class applied : std::uint8_t { done, outdated, held };

/// Carries out a decision about a seen slot, if the slot is unchanged. Only an erase writes `live`.
template <class Policy>
applied apply(table<Policy>& t, std::uint64_t hash, const seen_slot& hit, const decision& wanted,
              std::uint64_t& live) noexcept {
  stripe& s = stripe_of(t, hash);
  lock_scope hold(s.lock);
  node& n = *hit.where;
  // relaxed, both: written under the lock
  if ((n.next.load(sync::relaxed) & mark::gone) != 0 || n.value.load(sync::relaxed) != hit.value)
    return applied::outdated;
  if (is_held(s, n)) [[unlikely]]
    return applied::held;
  if (wanted.what == action::replace) {
    put_value(t, hash, n, wanted.word);
    return applied::done;
  }
  remove_node(t, hash, n);
  live = count_live(s, ~std::uint64_t{0});
  return applied::done;
}

/// Shows `f(value word) -> decision` the entry, and carries out the decision about exactly that value. `f` runs without a lock, and
/// again if another thread changes the entry meanwhile. Waits only while a `modify` holds this entry.
template <class Policy, class Probe, class F>
mutated mutate(table<Policy>& t, thread_record& who, const Probe& probe, F& f) {
  for (;;) {
    const seen_slot hit = search(t.policy, first_link(t, probe.hash), probe);
    if (hit.where == nullptr || hit.hidden) return {};
    const decision wanted = f(hit.value);
    if (wanted.what == action::keep) return {true, action::keep, hit.value};
    std::uint64_t live = 0;
    const applied how = apply(t, probe.hash, hit, wanted, live);
    if (how == applied::held) wait_while_held(stripe_of(t, probe.hash), *hit.where);
    if (how != applied::done) continue;
    if (wanted.what == action::erase) {
      if constexpr (!Policy::unique_words) t.node_bag.add(who, link_to(*hit.where)); // the caller retires records
      after_erase(t, live);
    } else {
      maintenance(t);
    }
    return {true, wanted.what, hit.value};
  }
}

} // namespace cubby::inline v0::detail::engines::relativistic
