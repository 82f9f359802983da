// SPDX-License-Identifier: Apache-2.0
// Changes of a present entry (section 3.3.3, lock-free): a lookup shows it to the caller, who decides; then one compare-and-swap carries
// the decision out if the slot is still the same.
#pragma once

#include <cubby/detail/engines/seph/grow.hpp>
#include <cubby/detail/engines/seph/insert.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// The slot with another item of the same key, or without one.
template <class Policy>
std::uint64_t changed_word(const table<Policy>& t, const seen_slot& seen, const typename Policy::probe& p,
                           const decision& wanted) noexcept {
  if constexpr (durable<Policy>) {
    if (wanted.what == action::erase) return seen.word | slot_word::erasing | slot_word::dirty;
    if (dirty_flag(t) != 0) t.policy.follow(wanted.word, slot_word::pointer(seen.word));
  }
  if (wanted.what == action::erase) return slot_word::tombstone;
  const std::uint64_t pointer = pointer_to(t.policy, p.word, wanted.word);
  // the foreseer is that of the key, and so stays
  constexpr std::uint64_t kept = ~(slot_word::pointer_mask | slot_word::dirty);
  return (seen.word & kept) | pointer | dirty_flag(t);
}

template <class Policy> void after_erase(table<Policy>& t, const thread_record& who) noexcept {
  t.entries.add(who.id(), -1);
  if (t.places.is_bounded()) t.places.give(who.id());
  if (t.settings.shrink == shrink_policy::automatic) shrink_a_little(t);
}

/// Shows `f(value word) -> decision` the entry, and carries out the decision about exactly that value. `f` runs again if another thread
/// changes the entry meanwhile. Waits only while a snapshot or a merge holds the segment.
template <class Policy, class F>
CUBBY_ALWAYS_INLINE mutated mutate(table<Policy>& t, const thread_record& who, const typename Policy::probe& p, F& f) {
  const std::uint64_t hash = spread<Policy>(p.hash);
  sync::backoff wait;
  for (;;) {
    const auto [seen, leaf] = search(t, p, hash);
    if (seen.where == nullptr) return {};
    make_durable(t, *seen.where, seen.word);
    const std::uint64_t before = value_at(t.policy, slot_word::pointer(seen.word));
    const decision wanted = f(before);
    if (wanted.what == action::keep) return {true, action::keep, before};
    if (slot_word::is_marked(seen.word)) {
      resolve(t, *leaf, wait);
      continue;
    }
    const std::uint64_t after = changed_word(t, seen, p, wanted);
    std::uint64_t expected = seen.word & ~slot_word::dirty; // it is durable
    // Linearization point of an assign and of an erase. An item that was shown does not come back while its readers are here, so the
    // same word is the same entry.
    // [put-slot] seq_cst: pairs with [slot]; the next operation of this thread stays behind it (A.1)
    // relaxed: a failed attempt reads the slot anew
    if (!seen.where->compare_exchange(expected, after, sync::seq_cst, sync::relaxed)) continue;
    make_durable(t, *seen.where, after);
    if (wanted.what == action::erase) after_erase(t, who);
    return {true, wanted.what, before};
  }
}

} // namespace cubby::inline v0::detail::engines::seph
