// SPDX-License-Identifier: Apache-2.0
// The paper's Put, Upsert and Delete as one read-modify-write (section 3, Operations and Atomicity). Visitors run on a copy of
// the value; what they want is carried out if the version is still the copy's.
#pragma once

#include <cubby/detail/engines/dramhit_tuples/write.hpp>

namespace cubby::inline v0::engines::dramhit_tuples {

/// Takes the entry out. Linearization point of an erase.
template <class Policy, class Threads>
bool make_tombstone(table<Policy, Threads>& t, const thread_record& who, tuple<Policy, Threads>& s,
                    std::uint64_t header) noexcept {
  // [mark-dead-tuple] release: pairs with [look-at-tuple]; who misses the key sees what came before its erase
  // relaxed: who is late looks again
  if (!s.header.compare_exchange(header, in_state(header, state::dead), sync::release, sync::relaxed)) return false;
  count_erase(t, who.id());
  return true;
}

/// T6: for a thread that is about to change an entry of `a` that it has not met where its search began. Behind its look at an
/// array an insert may still have filled an empty tuple, and the entry may be on its way from there. Only the root is moved
/// from: who has met the entry reads as the root the array that it came from, or a later one when that is done with. So it is
/// enough to look there; of older arrays a pin may keep any number.
template <class Policy, class Threads, class Probe>
CUBBY_NEVER_INLINE void wait_for_older_place(const array<Policy, Threads>& root, const array<Policy, Threads>& a,
                                             const Probe& p) noexcept {
  if (&root == &a) return;
  typename Policy::stored_value unused; // asked for, so that inserts under way are passed by
  const auto seen = search(root, p, &unused);
  if (seen.how == stop::carried) wait_while(*seen.where, state::moving);
}

/// Finds the entry, asks `f(words of the value)`, and carries out its decision if the value is still that one; else asks
/// again. Waits while the entry is being written or moved.
template <class Policy, class Threads, class Probe, class F>
mutated_as<typename Policy::stored_value> mutate(table<Policy, Threads>& t, const thread_record& who, const Probe& p,
                                                 F& f) {
  using stored_value = typename Policy::stored_value;
  stored_value value;
  auto* const first = first_array(t);
  for (auto* a = first; a != nullptr;) {
    const auto seen = search(*a, p, &value);
    if (seen.how == stop::carried) {
      wait_while(*seen.where, state::moving);
      a = next_array(*a);
      continue;
    }
    if (seen.how != stop::hit) {
      a = beyond(*a, seen);
      continue;
    }
    if (a != first) [[unlikely]]
      wait_for_older_place(*first_array(t), *a, p);
    const decision_as<stored_value> wanted = f(value);
    bool done = true;
    if (wanted.what == action::erase) done = make_tombstone(t, who, *seen.where, seen.header);
    else if (wanted.what == action::replace && wanted.word != value)
      done = overwrite(t, *a, *seen.where, seen.header, p, wanted.word);
    if (!done) continue;
    if (wanted.what != action::keep) maintenance(t);
    return {true, wanted.what, value};
  }
  return {};
}

} // namespace cubby::inline v0::engines::dramhit_tuples
