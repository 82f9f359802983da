// SPDX-License-Identifier: Apache-2.0
// Batches of finds in slots of words, with prefetches ahead (section 3.1). Requests form groups: the lines of the next group are
// prefetched before this group is read. A request that its line does not answer prefetches the next line or a record, and is
// looked at again after the others of its group.
#pragma once

#include <cubby/detail/core/prefetch_group.hpp>
#include <cubby/detail/engines/dramhit/find.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

struct in_flight {
  const slot* line; // null: a key of the side region
  std::uint64_t word;
};
using flight = prefetch_group::ring<in_flight>;

template <class Policy, class Make>
CUBBY_ALWAYS_INLINE void ask_for_lines(const word_array& a, flight& requests, std::size_t first, std::size_t last,
                                       Make& make) {
  for (std::size_t i = first; i < last; ++i) {
    const word_probe p = make(i);
    const slot* const line = home_line<Policy>(a, p.hash);
    prefetch_line(line);
    requests[i] = {is_reserved(p.word) ? nullptr : line, p.word};
  }
}

/// Prefetches the record of the line's slot with this word. A hint: it does not compare keys.
template <class Policy>
CUBBY_ALWAYS_INLINE void prefetch_record(const Policy& policy, const slot* line, std::uint64_t word) noexcept {
  if constexpr (Policy::unique_words) {
    for (std::size_t i = 0; i < slots_in_line; ++i) {
      // relaxed: a stale word costs a useless prefetch
      if (line[i].first.load(sync::relaxed) != word) continue;
      prefetch_line(policy.record_of(line[i].second.load(sync::relaxed))); // relaxed: as above
    }
  }
}

/// Answers the requests that were put off. While the table moves, the line in the next array comes first: most have missed in `a`.
template <class Policy, class Make, class Take>
CUBBY_ALWAYS_INLINE void answer_later(const Policy& policy, const word_array& a, flight& requests,
                                      const prefetch_group::put_off& later, Make& make, Take& take) {
  const word_array* const next = next_array(a);
  for (std::size_t k = 0; k < later.count(); ++k) {
    const std::size_t i = later[k];
    const slot* const line = requests[i].line;
    const auto p = make(i);
    if (line == nullptr) take(i, find_slowly(policy, &a, p));
    else if (!Policy::unique_words && next != nullptr) take(i, find_while_moving(policy, a, p));
    else take(i, find_from(policy, a, line, p));
  }
}

/// Requests of one line are answered in their order: behind one that was put off, all others of the line are put off, too (D). Keys of
/// the side region are always put off.
template <class Policy, class Make, class Take>
CUBBY_ALWAYS_INLINE void answer_group(const Policy& policy, const word_array& a, flight& requests, std::size_t first,
                                      std::size_t last, Make& make, Take& take) {
  prefetch_group::put_off later;
  std::uint64_t waiting_lines = 0;
  const word_array* const next = next_array(a); // for prefetches only
  const slot* const end = a.slots + a.slot_count();
  for (std::size_t i = first; i < last; ++i) {
    in_flight& r = requests[i];
    if constexpr (!Policy::unique_words) {
      std::uint64_t value = 0;
      const std::uint64_t bit = prefetch_group::bit_of_line(r.line);
      const bool waits = r.line == nullptr || (waiting_lines & bit) != 0;
      const lookup_step saw = waits ? lookup_step::further : look_at_words(r.line, r.word, value);
      if (saw == lookup_step::hit) [[likely]] {
        take(i, found_word{true, value});
        continue;
      }
      if (saw == lookup_step::miss && next_array(a) == nullptr) { // as in find_from
        take(i, found_word{});
        continue;
      }
      waiting_lines |= bit;
      if (saw == lookup_step::further && r.line != nullptr && next == nullptr) {
        const slot* const second = r.line + slots_in_line == end ? a.slots : r.line + slots_in_line;
        prefetch_line(second);
        if (!waits) r.line = second;
      }
    } else if (r.line != nullptr) {
      prefetch_record(policy, r.line, r.word);
    }
    if (next != nullptr) [[unlikely]] // see find_while_moving
      prefetch_line(home_line<Policy>(*next, make(i).hash));
    later.add(i);
  }
  answer_later(policy, a, requests, later, make, take);
}

/// Calls `take(i, found_word)` once for each i in [0, count), with the answer to the probe `make(i)`. Equal probes come in their order,
/// others in any order. `make` must be pure and may be called three times.
template <slot_policy Policy, class Make, class Take>
CUBBY_ALWAYS_INLINE void find_many(const table<Policy>& t, std::size_t count, Make& make, Take& take) {
  flight requests;
  const word_array& a = *first_array(t);
  prefetch_group::for_each(
      count,
      [&](std::size_t first, std::size_t last) CUBBY_INLINED { ask_for_lines<Policy>(a, requests, first, last, make); },
      [&](std::size_t first, std::size_t last) CUBBY_INLINED {
        answer_group(t.policy, a, requests, first, last, make, take);
        return true;
      },
      prefetch_group::size_in(count));
}

} // namespace cubby::inline v0::detail::engines::dramhit
