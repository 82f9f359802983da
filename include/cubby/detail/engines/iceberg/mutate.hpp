// SPDX-License-Identifier: Apache-2.0
// Changes of a present entry. A lookup shows it to the caller, who decides without a lock. Then, under the lock of the front
// bucket, the decision is carried out if the entry still has that value.
#pragma once

#include <cubby/detail/engines/iceberg/insert.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

/// Carries out a decision about the value that the caller has seen. `full`: the entry has another one, or is gone.
template <class Policy, class Probe>
changed apply(table<Policy>& t, home<Policy>& at, const Probe& p, const typename Policy::stored_value& seen,
              const decision_as<typename Policy::stored_value>& wanted, seen_entry<Policy>& e) noexcept {
  e = {};
  if (!search_locked(t, at, p, e)) return changed::again;
  if (e.where == nullptr || !(e.value == seen)) return changed::full;
  if (is_held(t, at.state, p.hash, *e.where)) [[unlikely]]
    return changed::held;
  if (wanted.what == action::replace) return assign(t, at, e, wanted.word);
  e.key_record = key_record_of<Policy>(*e.where);
  return remove(t, at, e);
}

template <class Policy>
void after_remove(table<Policy>& t, const thread_record& who, const hashed& h, const seen_entry<Policy>& e) noexcept {
  t.entries.add(who.id(), -1);
  if (t.places.is_bounded()) t.places.give(who.id());
  retire_key(t, who, e.key_record);
  if (e.in == yard::chain) t.node_bag.add(who, e.node);
  after_erase(t, who, h.hash);
}

/// The mutate for every state of the table.
template <class Policy, class Probe, class F>
CUBBY_OUTLINED mutated_as<typename Policy::stored_value> mutate_anywhere(table<Policy>& t, const thread_record& who,
                                                                         Probe p, F& f) {
  hashed h = hashed_in(t, p.hash);
  for (;;) {
    seen_entry<Policy> e = find_anywhere(t, p);
    if (e.where == nullptr) return {};
    const typename Policy::stored_value seen = e.value;
    const auto wanted = f(seen);
    if (wanted.what == action::keep) return {true, action::keep, seen};
    changed how = changed::again;
    for (sync::backoff wait; how == changed::again || how == changed::held;) {
      if (how == changed::held) wait.pause();
      home<Policy> at = lock_home(t, h);
      how = apply(t, at, p, seen, wanted, e);
      if (how == changed::done) unlock_changed(*at.at.line, at.state);
      else unlock_unchanged(*at.at.line, at.state);
    }
    if (how != changed::done) continue;
    if (wanted.what == action::erase) after_remove(t, who, h, e);
    else maintenance(t, who);
    return {true, wanted.what, seen};
  }
}

/// The usual path of a mutate: the entry is in front, and no bucket moves. False: `mutate_anywhere` begins again.
template <class Policy, class Probe, class F>
CUBBY_ALWAYS_INLINE bool mutate_in_front(table<Policy>& t, const thread_record& who, const Probe& p, F& f,
                                         mutated_as<typename Policy::stored_value>& out) {
  front_hit<Policy> seen;
  glimpse how = find_in_front(t, p, seen);
  if (how == glimpse::miss) return true;
  if (how != glimpse::hit) return false;
  auto wanted = f(seen.value);
  out = {true, wanted.what, seen.value};
  if (wanted.what == action::keep) return true;
  const std::uint64_t word = lock_line(*seen.at.line);
  const unsigned slot = cpu::lowest_bit(seen.mask);
  // The same version: no entry of this bucket was erased or moved, so the slot is still that of the key. The same root: the lookup has
  // not met a bucket that a shrink had left before.
  if ((((word ^ seen.state) & state::position_mask) | (word & state::held)) != 0 || !is_same_root(t, seen.root) ||
      !(value_in<Policy>(seen.at.slots[slot]) == seen.value)) [[unlikely]] {
    unlock_unchanged(*seen.at.line, word);
    return false;
  }
  if (wanted.what == action::replace) {
    home<Policy> at{{}, {}, seen.at, word, {}};
    write_value(t, at, seen.at.slots[slot], wanted.word);
    unlock_changed(*seen.at.line, at.state);
    maintenance(t, who);
    return true;
  }
  const std::uint64_t record = key_record_of<Policy>(seen.at.slots[slot]);
  erase_slot(t, *seen.at.line, word, seen.at.slots[slot]);
  hide_tag<slot_of<Policy>>(*seen.at.line, slot); // Linearization point of an erase.
  unlock_changed(*seen.at.line, word + state::version_step);
  t.entries.add(who.id(), -1);
  if (t.places.is_bounded()) t.places.give(who.id());
  retire_key(t, who, record);
  after_erase(t, who, p.hash);
  return true;
}

/// Shows `f(value words) -> decision` the entry, and carries out the decision about exactly that value. `f` runs without a lock, and
/// again if another thread changes the entry meanwhile.
template <class Policy, class Probe, class F>
CUBBY_ALWAYS_INLINE mutated_as<typename Policy::stored_value> mutate(table<Policy>& t, const thread_record& who,
                                                                     const Probe& p, F& f) {
  mutated_as<typename Policy::stored_value> out{};
  if (mutate_in_front(t, who, p, f, out)) [[likely]]
    return out;
  return mutate_anywhere(t, who, p, f); // called in one place, as find_elsewhere
}

} // namespace cubby::inline v0::detail::engines::iceberg
