// SPDX-License-Identifier: Apache-2.0
// Many finds with overlapping memory latencies. The level segments of a group are looked up, and of both candidate buckets the part with which the
// key begins is prefetched, one group ahead. Then these parts are read, and the item of a slot whose foreseer agrees is prefetched. If none agrees,
// the parts that are left are prefetched, and read behind those of all other requests. Then each request is answered. The paper has no batches.
#pragma once

#include <cubby/detail/core/prefetch_group.hpp>
#include <cubby/detail/engines/seph/find.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// A request of a batch. Without initial values: each call would store those of two groups.
template <class Policy> struct pending {
  typename Policy::probe probe;
  level_segment* in;
  first_parts<Policy> first;
  // It agrees, or is empty and the foreseer is 0; null: there was none. The next two are set only if the first parts had none.
  slot* at;
  bool full[2]; // which first parts have no empty slot
  bool absent;  // no part that was read has a mark
  [[nodiscard]] CUBBY_ALWAYS_INLINE std::uint64_t hash() const noexcept { return spread<Policy>(probe.hash); }
};

/// Prefetches the item of a slot.
template <class Policy>
CUBBY_ALWAYS_INLINE void prefetch_item_in(const table<Policy>& t, const slot& at) noexcept {
  const std::uint64_t word = at.load(sync::relaxed); // relaxed: a hint
  if (shows_item<Policy>(word)) prefetch_line(address_of(t.policy, slot_word::pointer(word)));
}
/// The same, if its foreseer agrees with a key: also what readers need of the record.
template <class Policy>
CUBBY_ALWAYS_INLINE void prefetch_record_in(const table<Policy>& t, const slot& at,
                                            const typename Policy::probe& p) noexcept {
  const std::uint64_t word = at.load(sync::relaxed); // relaxed: a hint
  if (shows_item<Policy>(word))
    prefetch_group::lines_from(t.policy, p, address_of(t.policy, slot_word::pointer(word)),
                               durable<Policy> ? 0 : sizeof(item));
}
/// The lower candidate bucket of a request (0), or the higher one (1).
template <class Policy>
CUBBY_ALWAYS_INLINE candidate<Policy> bucket_of(const table<Policy>& t, const pending<Policy>& one,
                                                unsigned which) noexcept {
  return which == 0 ? lower_candidate(t, *one.in, one.hash()) : higher_candidate(t, *one.in, one.hash());
}
template <class Policy> CUBBY_ALWAYS_INLINE void prefetch_rest(const slot_order<Policy>& order) noexcept {
  for (unsigned n = 1; n < order.parts; ++n) prefetch_line(order.part(n));
}
/// Notes a request, and where its key begins. The hash does not come from the note. clang copies a probe by a load that is wider than the stores
/// before it. Such a load waits until these have left the core, so no two requests would overlap.
template <class Policy>
CUBBY_ALWAYS_INLINE void begin(const table<Policy>& t, pending<Policy>& one, typename Policy::probe p) noexcept {
  const std::uint64_t hash = spread<Policy>(p.hash);
  level_segment* const in = leaf_of(t, hash);
  one.in = in;
  one.first = first_parts<Policy>::of(t, *in, hash);
  one.probe = p;
}
/// Reads the parts of both buckets with which the key begins. Prefetches the item of a slot that agrees, or else the other parts that a lookup reads.
/// Returns whether there are other parts to read.
template <class Policy> CUBBY_ALWAYS_INLINE bool look_at_first(const table<Policy>& t, pending<Policy>& one) noexcept {
  const slots::seen_two seen = one.first.read(t);
  if (seen.agree != 0) [[likely]] {
    one.at = &one.first.of_bit(cpu::lowest_bit(seen.agree));
    prefetch_record_in(t, *one.at, one.probe);
    return false;
  }
  one.at = nullptr;
  one.absent = !seen.marked();
  one.full[0] = seen.empty(0) == 0;
  one.full[1] = seen.empty(1) == 0;
  for (unsigned which = 0; which < 2; ++which)
    if (one.full[which]) prefetch_rest(bucket_of(t, one, which).order);
  return one.full[0] || one.full[1];
}
/// Reads what is behind first parts without an empty slot. Prefetches the item of a slot that agrees.
template <class Policy> CUBBY_ALWAYS_INLINE void look_at_others(const table<Policy>& t, pending<Policy>& one) noexcept {
  for (unsigned which = 0; which < 2; ++which) {
    if (!one.full[which]) continue;
    const candidate<Policy> in = bucket_of(t, one, which);
    const slots::seen_rest seen = read_rest(t, in);
    one.absent &= !seen.marked();
    if (seen.agree() == 0) continue;
    one.at = &in.order[cpu::lowest_bit(seen.agree())];
    prefetch_record_in(t, *one.at, one.probe);
    return;
  }
}
/// For a lookup that comes soon.
template <class Policy>
CUBBY_ALWAYS_INLINE void prefetch_item(const table<Policy>& t, const typename Policy::probe& p) noexcept {
  pending<Policy> one;
  begin(t, one, p);
  (void)look_at_first(t, one);
}

/// Answers from the slot that was met, if it still shows the key, and has no mark.
template <class Policy>
CUBBY_ALWAYS_INLINE bool answer_from_slot(const table<Policy>& t, const pending<Policy>& one,
                                          found_word& out) noexcept {
  if (one.at == nullptr) return false;
  // Linearization point of a hit.
  // [slot] acquire: pairs with [put-slot], and with [put-mark]
  const std::uint64_t word = one.at->load(sync::acquire);
  if (!shows_item<Policy>(word) || slot_word::is_marked(word) ||
      !has_key(t.policy, slot_word::pointer(word), one.probe))
    return false;
  out = found_in(t, seen_slot{one.at, word});
  return true;
}

/// Answers a group. A key that no part has shown is absent: the parts were read inside the call, in an order that is free (S1).
/// Requests for equal keys are answered in their order (D). A slot that met request `i` and shows the key now has shown it since, or was empty
/// until then (an empty slot agrees with the foreseer 0). Either way it has met each later request, and so none of these is answered by a miss.
/// If the slot does not show the key, that is searched anew, which may find what came since. So the misses behind it are searched anew, too.
template <class Policy, class Take>
CUBBY_ALWAYS_INLINE void answer_all(const table<Policy>& t, prefetch_group::ring<pending<Policy>>& ring,
                                    std::size_t first, std::size_t last, Take& take) {
  bool searched = false;
  for (std::size_t i = first; i < last; ++i) {
    pending<Policy>& one = ring[i];
    found_word out{};
    if (!answer_from_slot(t, one, out) && (one.at != nullptr || !one.absent || searched)) [[unlikely]] {
      searched = true;
      out = found_in(t, search_from(t, one.probe, one.hash(), one.in, one.first).slot);
    }
    take(i, out);
  }
}

/// Calls `take(i, found)` once for each i in [0, count) with the answer to the probe `make(i)`, in their order.
template <class Policy, class Make, class Take>
CUBBY_ALWAYS_INLINE void find_many(const table<Policy>& t, std::size_t count, Make& make, Take& take) {
  prefetch_group::ring<pending<Policy>> ring;
  const auto ask = [&](std::size_t first, std::size_t last) CUBBY_INLINED {
    for (std::size_t i = first; i < last; ++i) {
      pending<Policy>& one = ring[i];
      begin(t, one, make(i));
      for (const slot* const part : one.first.part) prefetch_line(part);
    }
  };
  const auto answer = [&](std::size_t first, std::size_t last) CUBBY_INLINED {
    prefetch_group::put_off others;
    for (std::size_t i = first; i < last; ++i)
      if (look_at_first(t, ring[i])) others.add(i);
    for (std::size_t n = 0; n < others.count(); ++n) look_at_others(t, ring[others[n]]);
    answer_all(t, ring, first, last, take);
    return true;
  };
  prefetch_group::for_each(count, ask, answer);
}

} // namespace cubby::inline v0::detail::engines::seph
