// SPDX-License-Identifier: Apache-2.0
// The state of a table with either slot layout; where a search begins, how it ends, and where it goes on.
#pragma once

#include <new>
#include <type_traits>
#include <utility>

#include <cubby/detail/core/epoch.hpp>
#include <cubby/detail/engines/dramhit/layout.hpp>
#include <cubby/detail/engines/dramhit/options.hpp>
#include <cubby/detail/platform/prefetch.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

using arrays::growth_factor, arrays::next_array, generations::is_complete;

template <class Policy>
struct table : arrays::table_state<array<layout_of<Policy>>, Policy, options> {
  using base = arrays::table_state<array<layout_of<Policy>>, Policy, options>;
  table(const options& chosen, Policy slots) : base(chosen, std::move(slots)), bag(this->policy, this->home) {}
  /// Moves an idle table.
  table(table&& from) noexcept : base(std::move(from)), bag(this->policy, this->home) {
    this->claims.take_over(from.claims);
    this->erases.take_over(from.erases);
    generations::take_over(*this, from);
  }
  [[no_unique_address]] std::conditional_t<tuple_policy<Policy>, no_bag, bag_for<Policy, sync::shared>> bag;
};

template <class Policy> constexpr std::uint64_t map_hash(std::uint64_t hash, std::uint64_t count) noexcept {
  if constexpr (Policy::mapping == bin_mapping::fastrange) return cpu::multiply(hash, count).high;
  else return hash % count;
}
/// The first slot of the line in which a search begins.
template <class Policy, class Layout>
CUBBY_ALWAYS_INLINE auto* home_line(const array<Layout>& a, std::uint64_t hash) noexcept {
  return a.slots + map_hash<Policy>(hash, a.lines) * a.in_line;
}

/// Prefetches the first line of a search for `p`; while the table moves, in two arrays.
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE void prefetch_home(const table<Policy>& t, const Probe& p) noexcept {
  const auto& a = *first_array(t);
  prefetch_line(home_line<Policy>(a, p.hash));
  if (const auto* const next = next_array(a)) [[unlikely]]
    prefetch_line(home_line<Policy>(*next, p.hash));
}

/// How a search of one array ended.
enum class stop : std::uint8_t {
  hit,     ///< the key is live in `where`
  carried, ///< the key is moving out of `where`; it cannot change until it has moved
  filling, ///< tuples: an insert of this key, or of one with its tag, is filling `where`
  end,     ///< `where` is the first slot that an insert can take
  sealed,  ///< absent here, and no thread can insert it here any more
  spent    ///< the same, because no slot is free
};

template <class Layout> struct seen_slot {
  stop how;
  typename Layout::slot* where = nullptr;
  typename Layout::contents contents{}; ///< of the slot, as read
  std::uint64_t looked = 0;             ///< slots that were read
  bool passed_moved = false;            ///< a slot before it has moved or is moving: the key may be in a later array
};

/// The array in which a search that has not met the key goes on; null: the key is absent. Only inserts must seal the free slot at the
/// end of the chain (J4). A find or a change may leave it open. At the read of that slot the key was either in a later array: then
/// its old slot says that it has moved, and no thread inserts it in the old array. Or it was absent, and that is the moment of the
/// miss.
template <class Layout>
array<Layout>* beyond(const array<Layout>& a, const seen_slot<Layout>& seen) noexcept {
  return seen.how == stop::end && !seen.passed_moved ? nullptr : next_array(a);
}

} // namespace cubby::inline v0::detail::engines::dramhit
