// SPDX-License-Identifier: Apache-2.0
// Many finds with overlapping memory latencies: the directory entries and level segments of a group are read, both candidate buckets are
// prefetched one group ahead; then the slots are read, and the item whose foreseer agrees is prefetched; then each request is answered. The
// paper has no batches.
#pragma once

#include <cubby/detail/core/prefetch_group.hpp>
#include <cubby/detail/engines/seph/find.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// A request of a batch. Without initial values: each call would store those of two groups.
template <class Policy> struct pending {
  typename Policy::probe probe;
  std::uint64_t hash;
  level_segment* in;
};

/// Prefetches the first item of the two buckets whose foreseer agrees.
template <class Policy>
CUBBY_ALWAYS_INLINE void prefetch_item(const table<Policy>& t, const level_segment& x, std::uint64_t hash) noexcept {
  constexpr unsigned slots = table<Policy>::slots_a_bucket;
  const unsigned known = known_bits(t, x.level);
  const auto look = [&](const slot* bucket, const tags_of_key& tags) CUBBY_INLINED {
    for (unsigned i = 0; i < slots; ++i) {
      const std::uint64_t word = bucket[i].load(sync::relaxed); // relaxed: a hint
      if (slot_word::is_empty(word)) return false;
      if (!agrees(word, tags) || !slot_word::is_item(word)) continue;
      prefetch_line(address_of(t.policy, slot_word::place(word)));
      return true;
    }
    return false;
  };
  if (!look(lower_bucket(t, x, hash), tags_for(hash, known)))
    (void)look(higher_bucket(t, x, hash), tags_for(hash, known + 1));
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
    for (std::size_t i = first; i < last; ++i) prefetch_item(t, *ring[i].in, ring[i].hash);
    for (std::size_t i = first; i < last; ++i) {
      const pending<Policy>& one = ring[i];
      take(i, find(t, one.probe));
    }
    return true;
  };
  prefetch_group::for_each(count, ask, answer);
}

} // namespace cubby::inline v0::detail::engines::seph
