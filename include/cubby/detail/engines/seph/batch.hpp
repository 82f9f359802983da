// SPDX-License-Identifier: Apache-2.0
// Many finds with overlapping memory latencies. The level segments of a group are looked up, and both candidate buckets are prefetched one group
// ahead. Then the slots are read, and the item whose foreseer agrees is prefetched. Then each request is answered. The paper has no batches.
#pragma once

#include <cubby/detail/core/prefetch_group.hpp>
#include <cubby/detail/engines/seph/find.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// A request of a batch. Without initial values: each call would store those of two groups.
template <class Policy> struct pending {
  typename Policy::probe probe;
  std::uint64_t hash;
  level_segment* in;
  std::uint32_t agree[2]; // slots of the lower and of the higher bucket whose foreseers agree
  bool marked;
};

/// Reads both buckets of a request, and prefetches the first item whose foreseer agrees.
template <class Policy> CUBBY_ALWAYS_INLINE void read_buckets(const table<Policy>& t, pending<Policy>& one) noexcept {
  constexpr unsigned count = table<Policy>::slots_a_bucket;
  const level_segment& x = *one.in;
  const unsigned known = known_bits(t, x.level);
  const slot* const buckets[2] = {lower_bucket(t, x, one.hash), higher_bucket(t, x, one.hash)};
  one.marked = false;
  for (unsigned i = 0; i < 2; ++i) {
    const tags_of_key tags = tags_for(one.hash, known + i);
    const auto seen = slots::read<count>(buckets[i], {tags.fresh, tags.stale}, t.unit);
    one.agree[i] = seen.agree & ~seen.empty;
    one.marked |= seen.marked;
  }
  const unsigned first = one.agree[0] != 0 ? 0 : 1;
  if (one.agree[first] == 0) return;
  // relaxed: a hint
  const std::uint64_t word = buckets[first][cpu::lowest_bit(one.agree[first])].load(sync::relaxed);
  if (shows_item<Policy>(word)) prefetch_line(address_of(t.policy, slot_word::place(word)));
}
/// Answers a request whose buckets were read. A mark sends it to the lookup for one key.
template <class Policy>
CUBBY_ALWAYS_INLINE found_word answer_one(const table<Policy>& t, const pending<Policy>& one) noexcept {
  if (one.marked) [[unlikely]]
    return find(t, one.probe);
  const level_segment& x = *one.in;
  const unsigned known = known_bits(t, x.level);
  seen_slot seen;
  if (!search_agreeing(t, lower_bucket(t, x, one.hash), tags_for(one.hash, known), one.probe, one.agree[0], seen) &&
      !search_agreeing(t, higher_bucket(t, x, one.hash), tags_for(one.hash, known + 1), one.probe, one.agree[1],
                       seen)) {
    return {};
  }
  if (seen.marked) [[unlikely]]
    return find(t, one.probe);
  make_durable(t, *seen.where, seen.word);
  return {true, value_at(t.policy, slot_word::place(seen.word))};
}
/// For a lookup that comes soon: prefetches its item.
template <class Policy>
CUBBY_ALWAYS_INLINE void prefetch_item(const table<Policy>& t, const typename Policy::probe& p) noexcept {
  pending<Policy> one;
  one.hash = spread<Policy>(p.hash);
  one.in = leaf_of(t, one.hash);
  read_buckets(t, one);
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
    for (std::size_t i = first; i < last; ++i) read_buckets(t, ring[i]);
    for (std::size_t i = first; i < last; ++i) take(i, answer_one(t, ring[i]));
    return true;
  };
  prefetch_group::for_each(count, ask, answer);
}

} // namespace cubby::inline v0::detail::engines::seph
