// SPDX-License-Identifier: Apache-2.0
// Insert if absent (section 3.2): under the lock of the front bucket the key is searched for in all three levels, and goes into the
// first of them that has a slot.
#pragma once

#include <cubby/detail/engines/iceberg/grow.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

template <class Policy> struct inserted_entry {
  insert_outcome outcome = insert_outcome::inserted;
  static constexpr bool shown = false;
  typename Policy::stored_value word{};
};

/// Inserts under the lock of `at`. `again`: a bucket moved.
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE changed insert_locked(table<Policy>& t, const thread_record& who, home<Policy>& at, const Probe& p,
                                          const typename Policy::stored_value& value,
                                          inserted_entry<Policy>& out) noexcept {
  seen_entry<Policy> e;
  if (!search_locked(t, at, p, e)) return changed::again;
  if (e.where != nullptr) {
    out.outcome = insert_outcome::exists;
    out.word = e.value;
    return changed::full;
  }
  if (t.places.is_bounded() && !t.places.take(who.id())) {
    out.outcome = insert_outcome::full;
    return changed::full;
  }
  const changed how = put_new(t, at, key_asked(p), value);
  if (how == changed::done) return how;
  if (t.places.is_bounded()) t.places.give(who.id());
  out.outcome = insert_outcome::no_memory;
  return how;
}

/// Inserts `value` for the probe's key unless the key is present. Waits for other changes in the same bucket.
template <class Policy, class Probe>
inserted_entry<Policy> insert(table<Policy>& t, const thread_record& who, const Probe& p,
                              const typename Policy::stored_value& value) noexcept {
  const hashed h = hashed_for(p.hash, t.fronts);
  inserted_entry<Policy> out;
  for (;;) {
    home<Policy> at = lock_home(t, h);
    out.outcome = insert_outcome::inserted;
    const changed how = insert_locked(t, who, at, p, value, out);
    if (how == changed::done) {
      const std::uint64_t free = tags::match(at.at.line->tag_words, 0);
      unlock_changed(*at.at.line, at.state);
      t.entries.add(who.id(), 1);
      after_insert(t, h, free);
      return out;
    }
    unlock_unchanged(*at.at.line, at.state);
    if (how != changed::again) return out;
  }
}

} // namespace cubby::inline v0::detail::engines::iceberg
