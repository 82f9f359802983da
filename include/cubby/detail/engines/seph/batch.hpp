// SPDX-License-Identifier: Apache-2.0
// Many finds with overlapping memory latencies. The level segments of a group are looked up, and of both candidate buckets the part with which the
// key begins is prefetched, one group ahead. Then these parts are read, and the item whose foreseer agrees is prefetched, or if none agrees
// what is left of the buckets. Then each request is answered, as if it were alone. The paper has no batches.
#pragma once

#include <cubby/detail/core/prefetch_group.hpp>
#include <cubby/detail/engines/seph/find.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// Prefetches the item whose foreseer agrees in the first part of a bucket, or else the other parts that the lookup will read. Returns the slot of
/// the item, or null.
template <class Policy>
CUBBY_ALWAYS_INLINE slot* prefetch_next(const table<Policy>& t, const level_segment& x, std::uint64_t hash) noexcept {
  const candidate<Policy> both[2] = {lower_candidate(t, x, hash), higher_candidate(t, x, hash)};
  const slots::seen seen[2] = {read_part(t, both[0].order.part(0), both[0].tags),
                               read_part(t, both[1].order.part(0), both[1].tags)};
  const unsigned first = seen[0].agree() != 0 ? 0 : 1;
  if (seen[first].agree() != 0) [[likely]] {
    slot* const at = both[first].order.part(0) + cpu::lowest_bit(seen[first].agree());
    const std::uint64_t word = at->load(sync::relaxed); // relaxed: a hint
    if (shows_item<Policy>(word)) prefetch_line(address_of(t.policy, slot_word::pointer(word)));
    return at;
  }
  for (unsigned i = 0; i < 2; ++i)
    for (unsigned n = 1; seen[i].empty() == 0 && n < both[i].order.parts; ++n) prefetch_line(both[i].order.part(n));
  return nullptr;
}
/// For a lookup that comes soon.
template <class Policy>
CUBBY_ALWAYS_INLINE void prefetch_item(const table<Policy>& t, const typename Policy::probe& p) noexcept {
  const std::uint64_t hash = spread<Policy>(p.hash);
  (void)prefetch_next(t, *leaf_of(t, hash), hash);
}

/// A request of a batch. Without initial values: each call would store those of two groups.
template <class Policy> struct pending {
  typename Policy::probe probe;
  std::uint64_t hash;
  level_segment* in;
  slot* at; // what `prefetch_next` has returned
};
/// Answers a request. Most keys are in the slot that was met; the others are looked up.
template <class Policy>
CUBBY_ALWAYS_INLINE found_word answer_one(const table<Policy>& t, pending<Policy>& one) noexcept {
  if (one.at != nullptr) [[likely]] {
    // Linearization point of a hit.
    // [slot] acquire: pairs with [put-slot], and with [put-mark]
    const std::uint64_t word = one.at->load(sync::acquire);
    if (shows_item<Policy>(word) && !slot_word::is_marked(word) &&
        has_key(t.policy, slot_word::pointer(word), one.probe))
      return found_in(t, seen_slot{one.at, word});
  }
  return found_in(t, search_from(t, one.probe, one.hash, one.in));
}

/// Calls `take(i, found)` once for each i in [0, count) with the answer to the probe `make(i)`, in their order.
template <class Policy, class Make, class Take>
CUBBY_ALWAYS_INLINE void find_many(const table<Policy>& t, std::size_t count, Make& make, Take& take) {
  prefetch_group::ring<pending<Policy>> ring;
  const auto ask = [&](std::size_t first, std::size_t last) CUBBY_INLINED {
    for (std::size_t i = first; i < last; ++i) {
      pending<Policy>& one = ring[i];
      one.probe = make(i);
      one.hash = spread<Policy>(one.probe.hash);
      one.in = leaf_of(t, one.hash);
      prefetch_buckets(t, *one.in, one.hash);
    }
  };
  const auto answer = [&](std::size_t first, std::size_t last) CUBBY_INLINED {
    for (std::size_t i = first; i < last; ++i) ring[i].at = prefetch_next(t, *ring[i].in, ring[i].hash);
    for (std::size_t i = first; i < last; ++i) take(i, answer_one(t, ring[i]));
    return true;
  };
  prefetch_group::for_each(count, ask, answer);
}

} // namespace cubby::inline v0::detail::engines::seph
