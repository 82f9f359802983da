// SPDX-License-Identifier: Apache-2.0
// modify: holds one entry while the caller's function runs, exactly once. Threads that change or erase this entry wait; lookups,
// scans, resizes and operations on other entries go on. No lock is held meanwhile: the calls are in a list of their stripe (N5),
// which the stripe's lock guards. The paper has no such operation.
#pragma once

#include <cubby/detail/engines/relativistic/mutate.hpp>

namespace cubby::inline v0::detail::engines::relativistic {

/// A hold of an entry. While it lives, no other thread changes the entry.
class entry_hold {
public:
  explicit entry_hold(stripe& s) noexcept : stripe_(s) {}
  ~entry_hold() {
    if (node_ == nullptr) return;
    const lock_scope locked(stripe_.lock);
    let_go();
  }
  entry_hold(const entry_hold&) = delete;
  entry_hold& operator=(const entry_hold&) = delete;

  /// `outdated`: the node has left the table. `held`: another call holds it.
  applied take(node& n) noexcept {
    const lock_scope locked(stripe_.lock);
    if ((n.next.load(sync::relaxed) & mark::gone) != 0) return applied::outdated; // relaxed: written under the lock
    if (is_held(stripe_, n)) return applied::held;
    node_ = &n;
    mine_ = {&n, stripe_.held};
    stripe_.held = &mine_;
    return applied::done;
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return node_->value.load(sync::relaxed); } // relaxed: it is held
  /// Assigns the new value and ends the hold.
  template <class Policy> void publish(table<Policy>& t, std::uint64_t hash, std::uint64_t word) noexcept {
    const lock_scope locked(stripe_.lock);
    put_value(t, hash, *node_, word);
    let_go();
  }

private:
  void let_go() noexcept {
    holding** at = &stripe_.held;
    while (*at != &mine_) at = &(*at)->next;
    *at = mine_.next;
    node_ = nullptr;
    // relaxed, both: written under the lock; a thread that sees it takes the lock
    stripe_.releases.store(stripe_.releases.load(sync::relaxed) + 1, sync::relaxed);
  }
  stripe& stripe_;
  node* node_ = nullptr;
  holding mine_;
};

/// Shows `f(value word) -> decision` the entry exactly once, while no other thread changes it, and carries out a `replace`. An exception
/// of `f` leaves the entry as it was. Blocks while another `modify` holds the entry.
template <class Policy, class Probe, class F> mutated modify(table<Policy>& t, const Probe& probe, F& f) {
  stripe& s = stripe_of(t, probe.hash);
  mutated out;
  {
    entry_hold mine(s);
    for (applied how = applied::outdated; how != applied::done;) {
      const seen_slot hit = search(t.policy, first_link(t, probe.hash), probe);
      if (hit.where == nullptr || hit.hidden) return {};
      how = mine.take(*hit.where);
      if (how == applied::held) wait_while_held(s, *hit.where);
    }
    out = {true, action::keep, mine.value()};
    const decision wanted = f(out.before);
    if (wanted.what == action::replace) mine.publish(t, probe.hash, wanted.word);
    out.done = wanted.what;
  }
  maintenance(t);
  return out;
}

} // namespace cubby::inline v0::detail::engines::relativistic
