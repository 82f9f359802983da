// SPDX-License-Identifier: Apache-2.0
// The pages of the next segment. The first touch of a huge page takes up to some milliseconds. In a new segment each bucket leads to others
// that no thread has touched, so the first inserts of a growth took some 14 such touches each (docs/performance/iceberg.md, "Growth"). Therefore a
// large segment is made when the table is full, and inserts touch its pages before they begin the growth. One touches one page at most.
#pragma once

#include <cubby/detail/engines/iceberg/table.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

/// With fewer pages it is not worth it.
inline constexpr std::uint64_t least_pages = 2;

/// Of these the last one may be a part, which has small pages.
template <class Slot> std::uint64_t pages_of(const segment<Slot>& s) noexcept {
  return (s.pages.bytes + memory::huge_page - 1) / memory::huge_page;
}

/// Writes from one page to the next one: 1/64 of the slots of a page. So the table takes about 2 % of its slots more until its growth begins,
/// and up to 3 % if it has few pages.
template <class Policy> inline constexpr std::uint64_t writes_a_page = memory::huge_page / sizeof(slot_of<Policy>) / 64;

/// Whether growths of this table have their pages touched first. `cooperative` does all work of a growth in a few calls anyway.
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
  const std::uint64_t left = made->pages.bytes - at * memory::huge_page;
  memory::bring_in(made->pages.address + at * memory::huge_page, left < memory::huge_page ? left : memory::huge_page);
  return true;
}

} // namespace cubby::inline v0::detail::engines::iceberg
