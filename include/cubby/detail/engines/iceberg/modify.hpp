// SPDX-License-Identifier: Apache-2.0
// modify: holds one entry while the caller's function runs, exactly once. Threads that change or erase this entry wait; lookups, scans,
// resizes and operations on other entries go on. No lock is held meanwhile. The calls are in a list of the table, and the state
// word of the front bucket says that the list may have an entry of the bucket (`state::held`). The paper has no such operation.
#pragma once

#include <cubby/detail/engines/iceberg/mutate.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

/// A hold of an entry. While it lives, no other thread changes the entry.
template <class Policy, class Probe> class entry_hold {
public:
  entry_hold(table<Policy>& t, const Probe& p) noexcept : table_(t), probe_(p), h_(hashed_in(t, p.hash)) {}
  ~entry_hold() {
    if (!holds_) return;
    home<Policy> at = lock_home(table_, h_);
    let_go(at);
    unlock_changed(*at.at.line, at.state);
  }
  entry_hold(const entry_hold&) = delete;
  entry_hold& operator=(const entry_hold&) = delete;

  /// False: the key is absent. Blocks while another call holds the entry.
  bool take(seen_entry<Policy>& e) noexcept {
    for (sync::backoff wait;;) {
      home<Policy> at = lock_home(table_, h_);
      e = {};
      const bool same = search_locked(table_, at, probe_, e);
      const bool held = same && e.where != nullptr && is_held(table_, at.state, h_.hash, *e.where);
      if (same && !held && e.where != nullptr) hold(at, *e.where);
      unlock_changed(*at.at.line, at.state);
      if (same && !held) return e.where != nullptr;
      if (held) wait.pause();
    }
  }
  /// Assigns the new value, and ends the hold.
  void publish(const typename Policy::stored_value& word) noexcept {
    for (changed how = changed::again; how == changed::again;) {
      home<Policy> at = lock_home(table_, h_);
      seen_entry<Policy> e;
      if (search_locked(table_, at, probe_, e)) how = assign(table_, at, e, word);
      if (how == changed::done) let_go(at);
      unlock_changed(*at.at.line, at.state);
    }
  }

private:
  void hold(home<Policy>& at, const slot_of<Policy>& s) noexcept {
    mine_ = {h_.hash, identity_of<Policy>(s), nullptr};
    const lock_scope alone(table_.holds_lock);
    mine_.next = table_.holds;
    table_.holds = &mine_;
    at.state |= state::held;
    holds_ = true;
  }
  void let_go(home<Policy>& at) noexcept {
    const lock_scope alone(table_.holds_lock);
    held_entry<Policy>** from = &table_.holds;
    while (*from != &mine_) from = &(*from)->next;
    *from = mine_.next;
    holds_ = false;
    if (table_.holds == nullptr) at.state &= ~state::held;
  }

  table<Policy>& table_;
  const Probe& probe_;
  hashed h_;
  held_entry<Policy> mine_;
  bool holds_ = false;
};

/// Shows `f(value words) -> decision` the entry exactly once, while no other thread changes it, and carries out a `replace`. An exception
/// of `f` leaves the entry as it was. Blocks while another `modify` holds the entry.
template <class Policy, class Probe, class F>
mutated_as<typename Policy::stored_value> modify(table<Policy>& t, const Probe& p, F& f) {
  entry_hold<Policy, Probe> mine(t, p);
  seen_entry<Policy> e;
  if (!mine.take(e)) return {};
  const auto wanted = f(e.value);
  if (wanted.what == action::replace) mine.publish(wanted.word);
  return {true, wanted.what, e.value};
}

} // namespace cubby::inline v0::detail::engines::iceberg
