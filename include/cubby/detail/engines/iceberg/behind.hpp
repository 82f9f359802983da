// SPDX-License-Identifier: Apache-2.0
// What a front bucket says of the entries behind it when one comes or goes (I6). The bits of a filter do not say how many entries they
// stand for. So where inserts and erases go on for long, a filter would fill up, and lookups would search the back yard for
// nothing. A bucket of wide slots in memory has a list of those tags, up to eight of them, and an erase makes the filter anew from it. Other
// buckets have no list: it would be more bytes an entry than a bound of the tables allows (docs/performance/iceberg.md).
#pragma once

#include <cubby/detail/engines/iceberg/table.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

/// Tags of entries behind a bucket, in the bytes of a word: as many of each as there are, or fewer. 0: none. Which of several tags is left out
/// makes no difference, because the count of the bucket tells whether one is.
namespace behind_list {
inline constexpr unsigned places = 8;
constexpr unsigned length(std::uint64_t list) noexcept { return places - tags::count_equal<std::uint8_t>(list, 0); }
/// The list with one more tag. A full list stays as it is.
constexpr std::uint64_t with(std::uint64_t list, std::uint8_t tag) noexcept {
  const std::uint32_t free = tags::equal_tags<std::uint8_t>(list, 0);
  return free == 0 ? list : tags::with_tag(list, static_cast<unsigned>(std::countr_zero(free)), tag);
}
/// The list with one of these tags less. One that has none stays as it is: the tag is one of those that were left out.
constexpr std::uint64_t without(std::uint64_t list, std::uint8_t tag) noexcept {
  const std::uint32_t same = tags::equal_tags(list, tag);
  return same == 0 ? list : tags::with_tag<std::uint8_t>(list, static_cast<unsigned>(std::countr_zero(same)), 0);
}
/// The filter of a bucket with these tags behind it and no others.
constexpr std::uint64_t filter(std::uint64_t list) noexcept {
  std::uint64_t bits = 0;
  for (; list != 0; list >>= 8) {
    if (list % 256 != 0) bits |= state::filter_of(static_cast<std::uint16_t>(list % 256));
  }
  return bits;
}
} // namespace behind_list

/// The list of a front bucket, for a thread that has its lock. It says nothing while the count is 0 or unknown, or the filter inherited.
template <class Policy>
sync::word<std::uint64_t>& list_of_behind(const table<Policy>& t, const front_line& line) noexcept {
  const auto at = std::bit_cast<std::uintptr_t>(&line);
  for (unsigned number = 0;; ++number) {
    const auto& s = segment_at(t, number);
    const auto first = std::bit_cast<std::uintptr_t>(s.lines);
    if (at >= first && at < first + s.fronts * sizeof(front_line))
      return s.behind_lists[(at - first) / sizeof(front_line)];
  }
}
/// What the list of a bucket with this state has.
template <class Policy>
std::uint64_t listed_behind(const table<Policy>& t, const front_line& line, std::uint64_t word) noexcept {
  // relaxed: under the lock
  return state::has_count(word) && (word & state::behind_mask) != 0 ? list_of_behind(t, line).load(sync::relaxed) : 0;
}

template <class Policy> struct home; // change.hpp

/// An entry of the bucket is put behind it.
template <class Policy> void note_behind(const table<Policy>& t, home<Policy>& at) noexcept {
  if constexpr (lists_behind<slot_of<Policy>>) {
    const std::uint64_t list = behind_list::with(listed_behind(t, *at.at.line, at.state), state::filter_tag(at.h.tag));
    list_of_behind(t, *at.at.line).store(list, sync::relaxed); // relaxed: under the lock
  }
  at.state = state::with_behind(at.state, at.h.tag);
}
/// An entry of the bucket has left the buckets behind it. The caller raises the version.
template <class Policy> void note_left_behind(const table<Policy>& t, home<Policy>& at) noexcept {
  const std::uint64_t before = at.state;
  at.state = state::without_behind(before);
  if constexpr (lists_behind<slot_of<Policy>>) {
    if (!state::has_count(before)) return;
    const std::uint64_t list = behind_list::without(listed_behind(t, *at.at.line, before), state::filter_tag(at.h.tag));
    list_of_behind(t, *at.at.line).store(list, sync::relaxed); // relaxed: under the lock
    if (behind_list::length(list) == state::count_behind(at.state))
      at.state = (at.state & ~state::filter_mask) | behind_list::filter(list);
  }
}
/// Two buckets become one: what is behind the other one is behind this one, too.
template <class Policy>
void join_behind(const table<Policy>& t, home<Policy>& at, const front_line& other, std::uint64_t word) noexcept {
  if constexpr (lists_behind<slot_of<Policy>>) {
    std::uint64_t list = listed_behind(t, *at.at.line, at.state);
    for (std::uint64_t more = listed_behind(t, other, word); more != 0; more >>= 8) {
      if (more % 256 != 0) list = behind_list::with(list, static_cast<std::uint8_t>(more % 256));
    }
    list_of_behind(t, *at.at.line).store(list, sync::relaxed); // relaxed: under the lock
  }
  at.state = state::joined(at.state, word);
}

} // namespace cubby::inline v0::detail::engines::iceberg
