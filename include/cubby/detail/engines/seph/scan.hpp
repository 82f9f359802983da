// SPDX-License-Identifier: Apache-2.0
// Iteration, weak: level segment by level segment, in the order of their prefixes. What a level segment had when the scan came to it stays
// readable inside the guard, in live slots or in marked ones. So an entry that is present throughout is met once.
#pragma once

#include <cubby/detail/engines/seph/find.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// Calls `f(leaf, hash)` for each level segment, in the order of prefixes. `f` may split or merge them: the next one is the leaf of the next
/// hash. After a merge it may have smaller hashes, too, which were met before.
template <class Policy, class F> void for_each_leaf(const table<Policy>& t, F f) {
  for (std::uint64_t hash = 0;;) {
    level_segment& x = *leaf_of(t, hash);
    const std::uint64_t count = x.level == 0 ? 0 : std::uint64_t{1} << (hash_bits - x.level);
    const std::uint64_t next = x.prefix + count;
    f(x, hash);
    if (next == 0) return;
    hash = next;
  }
}
template <class Policy, class F> void for_each_slot(const table<Policy>& t, const level_segment& x, F f) {
  for (slot* const half : {x.lower, x.higher[0], x.higher[1]})
    for (std::uint64_t i = 0; i < buckets_of_half(t) * table<Policy>::slots_a_bucket; ++i) f(half[i]);
}

/// A weak scan, inside a guard.
template <class Policy, class F> void for_each(table<Policy>& t, F& f) {
  for_each_leaf(t, [&](level_segment& x, std::uint64_t first) {
    for_each_slot(t, x, [&](slot& at) {
      // [slot] acquire: pairs with [put-slot], and with [put-mark]
      const std::uint64_t word = at.load(sync::acquire);
      make_durable(t, at, word);
      if (!shows_item<Policy>(word)) return;
      const std::uint64_t place = slot_word::place(word);
      if (x.prefix != first && hash_at(t.policy, place) < first) return;
      f(key_at(t.policy, place), value_at(t.policy, place));
    });
  });
}

} // namespace cubby::inline v0::detail::engines::seph
