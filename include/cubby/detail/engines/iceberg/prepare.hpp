// SPDX-License-Identifier: Apache-2.0
// The pages of the next segment. The first touch of a huge page takes up to some milliseconds. Therefore an insert touches one page, as a rule
// (docs/performance/iceberg.md, "Growth"). The pages of the lines are touched before the growth begins, because an insert may split any bucket. Those of
// the slots are touched as the move comes to them. An insert that splits a full bucket before its turn may touch two or three.
#pragma once

#include <cubby/detail/engines/iceberg/table.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

/// The pages of the lines of both yards, of which the last one has slots as well, and the page behind them.
template <class Slot> std::uint64_t pages_of(const segment<Slot>& s) noexcept {
  const auto lines = static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(s.slots) - s.pages.address);
  return (lines + memory::huge_page - 1) / memory::huge_page + 1;
}
/// Touches page `at` of a segment, if there is one.
template <class Slot> void touch_page(const segment<Slot>& s, std::uint64_t at) noexcept {
  if (at * memory::huge_page >= s.pages.bytes) return;
  const std::uint64_t left = s.pages.bytes - at * memory::huge_page;
  memory::bring_in(s.pages.address + at * memory::huge_page, left < memory::huge_page ? left : memory::huge_page);
}
/// If the slots of this bucket are the first ones that begin in their page: touches the page behind it, while others fill this one.
template <class Policy>
void touch_behind(const segment<slot_of<Policy>>& s, const slot_of<Policy>* slots, std::uint64_t count) noexcept {
  if constexpr (durable<Policy>) return;
  const auto at = static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(slots) - s.pages.address);
  if (at % memory::huge_page < count * sizeof(slot_of<Policy>)) touch_page(s, at / memory::huge_page + 1);
}

/// Writes from one page to the next one: 1/64 of the slots of a page. There are many pages of slots for each page of lines.
template <class Policy> inline constexpr std::uint64_t writes_a_page = memory::huge_page / sizeof(slot_of<Policy>) / 64;

/// Whether growths of this table have the pages of their lines touched first. `cooperative` does all work of a growth in a few calls anyway.
template <class Policy> bool prepares(const table<Policy>& t) noexcept {
  return !durable<Policy> && t.settings.growth != growth_policy::cooperative;
}

/// The segment that was prepared for a growth from `fronts` buckets; null: there is none. The caller has `resize_lock`.
template <class Policy>
typename table<Policy>::segment_type* take_next(table<Policy>& t) noexcept {
  auto* const made = t.next.made.load(sync::relaxed); // relaxed: under the lock
  // relaxed: a thread that still reads the old value touches a page of a segment that is in use or retired
  if (made != nullptr) t.next.made.store(nullptr, sync::relaxed);
  return made;
}
/// Gives up a prepared segment, because the table shrinks. The caller has `resize_lock`.
template <class Policy> void retire_next(table<Policy>& t) noexcept {
  if (auto* const made = take_next(t)) {
    lock_scope keep(t.retired.lock);
    t.retired.add(*made);
    t.duty.store(1, sync::relaxed); // relaxed: a hint; writes free it
  }
}

/// The same, for a call that has no lock.
template <class Policy> void drop_next(table<Policy>& t) noexcept {
  lock_scope alone(t.resize_lock);
  retire_next(t);
}

/// Touches the next page. False: there is a prepared segment, and all its pages are taken. The caller has a guard.
template <class Policy> bool touch_next_page(table<Policy>& t) noexcept {
  // [touch-page] acquire: pairs with [show-pages]
  auto* const made = t.next.made.load(sync::acquire);
  if (made == nullptr) return true;
  // relaxed: the pages are zero before and behind; a growth may begin while one is touched
  const std::uint64_t at = t.next.cursor.fetch_add(1, sync::relaxed);
  if (at >= pages_of(*made)) return false;
  touch_page(*made, at);
  return true;
}

} // namespace cubby::inline v0::detail::engines::iceberg
