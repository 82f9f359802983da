// SPDX-License-Identifier: Apache-2.0
// Iteration, weak: level segment by level segment, in the order of their prefixes. What a level segment had when the scan came to it stays
// readable inside the guard, in live slots or in marked ones. So an entry that is present throughout is met once.
#pragma once

#include <cubby/detail/engines/seph/batch.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// The first hash behind those of a level segment; 0 behind the last one.
inline std::uint64_t end_of(const level_segment& x) noexcept {
  return x.prefix + (x.level == 0 ? 0 : std::uint64_t{1} << (hash_bits - x.level));
}
/// Calls `f(leaf, hash)` for each level segment, in the order of prefixes. `f` may split or merge them: the next one is the leaf of the next
/// hash. After a merge it may have smaller hashes, too, which were met before.
template <class Policy, class F> void for_each_leaf(const table<Policy>& t, F f) {
  for (std::uint64_t hash = 0;;) {
    level_segment& x = *leaf_of(t, hash);
    const std::uint64_t next = end_of(x);
    f(x, hash);
    if (next == 0) return;
    hash = next;
  }
}
/// Each slot of a level segment; its item has been asked for.
template <class Policy, class F> void for_each_slot(const table<Policy>& t, const level_segment& x, F f) {
  constexpr std::uint64_t ahead = 16;
  const std::uint64_t count = buckets_of_half(t) * table<Policy>::slots_a_bucket;
  for (slot* const half : {x.lower, x.higher[0], x.higher[1]})
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i + ahead < count) prefetch_item_in(t, half[i + ahead]);
      f(half[i]);
    }
}

/// Shows the entries of a level segment whose hashes are `first` or larger.
template <class Policy, class F>
void show_leaf(table<Policy>& t, const level_segment& x, std::uint64_t first, F& f) {
  for_each_slot(t, x, [&](slot& at) {
    // [slot] acquire: pairs with [put-slot], and with [put-mark]
    const std::uint64_t word = at.load(sync::acquire);
    make_durable(t, at, word);
    if (!shows_item<Policy>(word)) return;
    const std::uint64_t pointer = slot_word::pointer(word);
    if (x.prefix != first && hash_at(t.policy, pointer) < first) return;
    f(key_at(t.policy, pointer), value_at(t.policy, pointer));
  });
}
/// A weak scan, inside a guard.
template <class Policy, class F> void for_each(table<Policy>& t, F& f) {
  for_each_leaf(t, [&](level_segment& x, std::uint64_t first) { show_leaf(t, x, first, f); });
}

/// A scan that threads share: the first hash that no thread has taken. It only becomes larger.
struct shared_scan {
  sync::word<std::uint64_t> next;
};
/// No level segment begins at this hash, because each has several hashes.
inline constexpr std::uint64_t all_taken = ~std::uint64_t{0};
static_assert(most_known < hash_bits);

/// The part of a shared scan that other threads leave, a level segment at a time. A thread takes the hashes of the level segment that it has
/// found, inside its own guard. So each hash is taken once, and its entries are shown as in `for_each`.
template <class Policy, class F> void for_each_of(table<Policy>& t, shared_scan& w, F& f) {
  std::uint64_t hash = w.next.load(sync::relaxed); // relaxed: shares out hashes
  while (hash != all_taken) {
    const level_segment& x = *leaf_of(t, hash);
    const std::uint64_t end = end_of(x);
    // relaxed: as above; another thread's take gives the next hash to try
    if (!w.next.compare_exchange(hash, end == 0 ? all_taken : end, sync::relaxed, sync::relaxed)) continue;
    show_leaf(t, x, hash, f);
    hash = w.next.load(sync::relaxed); // relaxed: as above
  }
}

} // namespace cubby::inline v0::detail::engines::seph
