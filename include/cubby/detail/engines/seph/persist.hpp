// SPDX-License-Identifier: Apache-2.0
// When a change of a durable table is complete (section 3.3.4). A compare-and-swap leaves the slot dirty, and the file without the change. Who
// then acts upon the slot, its writer or another thread, first completes the change: it brings the states of the records (records.hpp) to
// where the word of the slot has them. So nobody acts upon what a crash could take back.
#pragma once

#include <cubby/detail/engines/seph/table.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// Whether the table is being made of the records in its file. The records change nothing then.
template <class Policy> CUBBY_ALWAYS_INLINE bool is_recovering([[maybe_unused]] const table<Policy>& t) noexcept {
  if constexpr (durable<Policy>) return t.in_file.recovering;
  else return false;
}
/// The flag of a new slot.
template <class Policy> CUBBY_ALWAYS_INLINE std::uint64_t dirty_flag(const table<Policy>& t) noexcept {
  return durable<Policy> && !is_recovering(t) ? slot_word::dirty : 0;
}

/// Takes the flag from a slot whose change is complete. An item that was erased leaves a tombstone.
template <durable Policy> void clear_dirty(slot& at, std::uint64_t word) noexcept {
  const bool erases = (word & slot_word::erasing) != 0;
  std::uint64_t now = at.load(sync::relaxed); // relaxed: the pointer says whether it is the same change
  while ((now & slot_word::dirty) != 0 && slot_word::pointer(now) == slot_word::pointer(word)) {
    const std::uint64_t after = erases ? slot_word::tombstone | (now & slot_word::mark) : now & ~slot_word::dirty;
    // [put-slot] release: pairs with [slot]; behind the states of the records
    // relaxed: a failed attempt reads no more than the word
    if (at.compare_exchange(now, after, sync::release, sync::relaxed)) return;
  }
}
/// Completes the change that a dirty word shows. Several threads may do so, also late ones. The guard of each of them began before the change was
/// complete. The record that it replaces or erases is retired only after that, so it is still there.
template <durable Policy> CUBBY_OUTLINED void complete(const table<Policy>& t, slot& at, std::uint64_t word) noexcept {
  const std::uint64_t pointer = slot_word::pointer(word) & ~slot_word::erasing;
  if ((word & slot_word::erasing) != 0) t.policy.erase(pointer);
  else t.policy.show(pointer);
  clear_dirty<Policy>(at, word);
}
/// Returns when the change that the caller has read in a slot is complete.
template <class Policy>
CUBBY_ALWAYS_INLINE void make_durable([[maybe_unused]] const table<Policy>& t, [[maybe_unused]] slot& at,
                                      [[maybe_unused]] std::uint64_t word) noexcept {
  if constexpr (durable<Policy>) {
    if ((word & slot_word::dirty) != 0) [[unlikely]]
      complete(t, at, word);
  }
}
/// The same by the thread that has inserted the word.
template <class Policy>
CUBBY_ALWAYS_INLINE void finish_insert([[maybe_unused]] const table<Policy>& t, [[maybe_unused]] slot& at,
                                       [[maybe_unused]] std::uint64_t word) noexcept {
  if constexpr (durable<Policy>) {
    if ((word & slot_word::dirty) == 0) return;
    t.policy.show_first(slot_word::pointer(word));
    clear_dirty<Policy>(at, word);
  }
}

} // namespace cubby::inline v0::detail::engines::seph
