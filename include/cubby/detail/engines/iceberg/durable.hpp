// SPDX-License-Identifier: Apache-2.0
// What the operations do beside their stores if the table is durable (section 6, docs/format.md). For a table in memory all of this
// compiles to nothing. The last key word of a slot is its commit word: 0 says that the slot is empty.
#pragma once

#include <cubby/detail/engines/iceberg/logged.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

template <class Policy> CUBBY_ALWAYS_INLINE sync::word<std::uint64_t>& commit_word(slot_of<Policy>& s) noexcept {
  return s.key[word_count<typename Policy::stored_key> - 1];
}
template <class Policy> slot_of<Policy>* zero_slot(const table<Policy>& t) noexcept {
  return reinterpret_cast<slot_of<Policy>*>(&t.policy.home().zero());
}

/// A slot has been written that no lookup finds yet. It is durable when this returns, so the caller may show it.
template <class Policy>
CUBBY_ALWAYS_INLINE void keep_slot([[maybe_unused]] table<Policy>& t, [[maybe_unused]] slot_of<Policy>& s) noexcept {
  if constexpr (durable<Policy>) {
    if constexpr (std::is_same_v<typename Policy::stored_key, std::uint64_t>) {
      if (&s == zero_slot(t)) [[unlikely]] {
        // [put-key] release: pairs with [key-word]; the value word before it, in the same line
        t.policy.home().zero().present.store(1, sync::release);
      }
    }
    if constexpr (Policy::in_records) t.policy.note_inserted(value_in<Policy>(s));
    t.policy.home().medium().persist(&s, sizeof s);
  }
}
/// The same for several slots: they are durable after `drain`.
template <class Policy>
CUBBY_ALWAYS_INLINE void write_slot_back([[maybe_unused]] table<Policy>& t,
                                         [[maybe_unused]] const slot_of<Policy>& s) noexcept {
  if constexpr (durable<Policy>) t.policy.home().medium().write_back(&s, sizeof s);
}
template <class Policy> CUBBY_ALWAYS_INLINE void drain([[maybe_unused]] table<Policy>& t) noexcept {
  if constexpr (durable<Policy>) t.policy.home().medium().drain();
}

/// Empties a slot on the medium. It is durable after `drain`.
template <class Policy>
CUBBY_ALWAYS_INLINE void empty_slot([[maybe_unused]] table<Policy>& t, [[maybe_unused]] slot_of<Policy>& s) noexcept {
  if constexpr (durable<Policy>) {
    if constexpr (std::is_same_v<typename Policy::stored_key, std::uint64_t>) {
      // [put-key] release: pairs with [key-word]
      if (&s == zero_slot(t)) t.policy.home().zero().present.store(0, sync::release);
    }
    // [put-key] release: pairs with [key-word]; a lookup that reads it sees `writing`, or the newer version
    commit_word<Policy>(s).store(0, sync::release);
    write_slot_back(t, s);
  }
}

/// Whether the medium is one that only a sync makes durable. Then a move leaves its old slots as they are, because they may reach
/// the disk before the copies do.
template <class Policy> CUBBY_ALWAYS_INLINE bool waits_for_sync([[maybe_unused]] const table<Policy>& t) noexcept {
  if constexpr (durable<Policy>) return t.policy.home().medium().is_synced_later();
  else return false;
}
/// The same for a slot whose entry was copied: with `waits_for_sync` it is emptied by a later sync, and is not used until then.
template <class Policy> CUBBY_ALWAYS_INLINE void leave_slot(table<Policy>& t, slot_of<Policy>& s) noexcept {
  if (!waits_for_sync(t)) empty_slot(t, s);
}
/// Of slots without a tag: those that can be used. The others have an entry that was copied. A slot is read only while there may be one
/// (`unsettled.since`): it is a line from memory, while the bucket is locked.
template <class Policy>
CUBBY_ALWAYS_INLINE std::uint64_t usable([[maybe_unused]] const table<Policy>& t,
                                         [[maybe_unused]] slot_of<Policy>* slots, std::uint64_t empty) noexcept {
  if constexpr (durable<Policy>) {
    // relaxed, both: under the lock of the bucket
    if (t.unsettled.since.load(sync::relaxed) == 0) [[likely]] // relaxed: which orders it (`since`)
      return empty;
    while (empty != 0 &&
           commit_word<Policy>(slots[cpu::lowest_bit(empty)]).load(sync::relaxed) != 0) // relaxed: as above
      empty &= empty - 1;
  }
  return empty;
}

/// The slot for an entry (`best_slot`). `empty` is what `usable` has returned, and not 0.
template <class Policy> CUBBY_ALWAYS_INLINE unsigned slot_for(const table<Policy>& t, slot_of<Policy>* slots,
                                                              const hashed& h, std::uint64_t empty) noexcept {
  return best_slot<slot_of<Policy>>(h, [&](std::uint64_t some) { return usable(t, slots, empty & some); });
}

/// Before a change of a slot that lookups find: they wait until the bucket is unlocked, because the change is durable only then.
/// The unlock must have a newer version.
template <class Policy>
CUBBY_ALWAYS_INLINE void hold_lookups([[maybe_unused]] table<Policy>& t, [[maybe_unused]] front_line& line,
                                      [[maybe_unused]] std::uint64_t word) noexcept {
  if constexpr (durable<Policy>) {
    // [version] release: pairs with [state]
    if (t.policy.home().medium().must_drain()) line.state.store(word | state::locked | state::writing, sync::release);
  }
}
/// Empties the slot of an entry that is erased, before its tag is hidden.
template <class Policy> void forget_copies(table<Policy>& t, slot_of<Policy>& s) noexcept;
template <class Policy>
CUBBY_ALWAYS_INLINE void erase_slot(table<Policy>& t, front_line& line, std::uint64_t word,
                                    slot_of<Policy>& s) noexcept {
  if constexpr (durable<Policy>) {
    const logged_change<Policy> entry(t, line, pool_layout::log_kind::erase, key_in<Policy>(s), value_in<Policy>(s));
    hold_lookups(t, line, word);
    // relaxed: written before the bucket of the entry was locked, in which it was copied
    if (t.unsettled.since.load(sync::relaxed) != 0) [[unlikely]]
      forget_copies(t, s);
    if constexpr (Policy::in_records) t.policy.note_erased(value_in<Policy>(s));
    empty_slot(t, s);
    drain(t);
  }
}

/// The extent of a segment for a growth: the one that an earlier shrink has left, or a new one. Null: no space. Lookups may still
/// read the earlier one, and a growth does not wait for them. Then it takes a new one, and the earlier one keeps its addresses in
/// the file, but no disk space. So does a reader, whose growth is in its own memory.
template <durable Policy> extent* take_segment(table<Policy>& t, unsigned level, std::uint64_t bytes) noexcept {
  pool& home = t.policy.home();
  extent* const old = home.segment(level);
  // [leave-extent] acquire: pairs with [leave-extent]; what the last one has emptied stays empty
  const bool is_free = old != nullptr && !home.is_read_only() && old->state.load(sync::acquire) == extent_state::free;
  if (!is_free) return home.take_extent(pool_layout::extent_kind::segment, level, bytes, 0);
  return home.retake(*old) ? old : nullptr;
}
/// A segment of a durable table. Null: no space, or no memory.
template <durable Policy>
typename table<Policy>::segment_type* make_durable_segment(table<Policy>& t, unsigned level, std::uint64_t fronts,
                                                           std::uint64_t backs) noexcept {
  using slot_type = slot_of<Policy>;
  extent* const part = take_segment(t, level, slot_bytes<slot_type>(fronts, backs));
  if (part == nullptr) return nullptr;
  auto* const made = make_segment<slot_type>(fronts, backs, t.policy.home().template at<slot_type>(part->at));
  if (made != nullptr) part->state.store(extent_state::in_use, sync::relaxed); // relaxed: nobody else has it
  return made;
}
/// A shrink has left the segment: its slots are given back when no lookup reads them any more.
template <durable Policy> void give_back_at_end(table<Policy>& t, typename table<Policy>::segment_type& s) noexcept {
  s.owner = &t.policy.home();
  s.at_end = [](typename table<Policy>::segment_type& gone) {
    auto& home = *static_cast<pool*>(gone.owner);
    extent* const part = home.extent_at(home.offset_of(gone.slots));
    const bool by_sync =
        home.medium().is_synced_later(); // a sync empties it (settle.hpp), and only then it is known to be empty
    if (!by_sync) home.give_back(*part);
    // [leave-extent] release: pairs with [leave-extent]
    part->state.store(by_sync ? extent_state::left : extent_state::free, sync::release);
  };
}
/// Writes down how many doublings are in use, or are aimed at by a move.
template <class Policy> void keep_level([[maybe_unused]] table<Policy>& t, [[maybe_unused]] unsigned level,
                                        [[maybe_unused]] pool_layout::move_state moving) noexcept {
  if constexpr (durable<Policy>) {
    const extent* const top = t.policy.home().segment(level);
    t.policy.home().update([&](pool_layout::superblock& s) {
      s.level = level;
      s.moving = moving;
      s.top = top != nullptr ? top->at : 0;
    });
  }
}

} // namespace cubby::inline v0::detail::engines::iceberg
