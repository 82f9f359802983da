// SPDX-License-Identifier: Apache-2.0
// When a slot is durable (section 3.3.4). A compare-and-swap of a durable table in `line` leaves the slot dirty. Who then acts upon it,
// its writer or another thread, first makes it durable. So nobody acts upon what a power cut could take back.
#pragma once

#include <cubby/detail/engines/seph/table.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// The flag of a new slot.
template <class Policy> CUBBY_ALWAYS_INLINE std::uint64_t dirty_flag(const table<Policy>& t) noexcept {
  if constexpr (durable<Policy>) return t.policy.home().medium().must_drain() ? slot_word::dirty : 0;
  else return 0;
}
/// Returns when what the caller has read in a slot is durable.
template <class Policy>
CUBBY_ALWAYS_INLINE void make_durable([[maybe_unused]] const table<Policy>& t, [[maybe_unused]] slot& at,
                                      [[maybe_unused]] std::uint64_t word) noexcept {
  if constexpr (durable<Policy>) {
    if ((word & slot_word::dirty) == 0) [[likely]]
      return;
    t.policy.home().medium().persist(&at, sizeof at);
    // relaxed: the flag alone is taken away; if the slot has changed meanwhile, it is another one's
    (void)at.compare_exchange(word, word & ~slot_word::dirty, sync::relaxed, sync::relaxed);
  }
}

} // namespace cubby::inline v0::detail::engines::seph
