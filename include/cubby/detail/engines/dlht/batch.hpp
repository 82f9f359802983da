// SPDX-License-Identifier: Apache-2.0
// Many finds with their memory latencies overlapped (section 3.3), in three steps a request. The first step asks memory
// for the bin. The second looks at the bin's first bucket, and asks for a chained bucket or a record that it leads to.
// The third answers the request. Requests go by groups: a group's bins are asked for before the last group is looked
// at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cubby/detail/core/prefetch_group.hpp>
#include <cubby/detail/engines/dlht/record.hpp>

namespace cubby::inline v0::detail::engines::dlht {

/// Asks for the record that a request will want, or for the chained bucket when the bin's first one does not show its
/// key. Only a hint: nothing is verified.
template <class Policy, class Threads, class Probe>
CUBBY_ALWAYS_INLINE void prefetch_behind(const Policy& policy, const index<Threads>& at, const bin<Threads>& b,
                                         [[maybe_unused]] const Probe& probe, std::uint64_t word) noexcept {
  for (const auto& s : b.slots) {
    // relaxed: a stale word costs a useless prefetch
    if (s.first.load(sync::relaxed) != word) continue;
    if constexpr (Policy::unique_words) {
      prefetch_group::lines_of_record(policy, probe, s.second.load(sync::relaxed)); // relaxed: as above
    }
    return;
  }
  prefetch_link(at, b);
}

/// Asks for the first link bucket of a bin whose primary slots are in use. Only a hint. An insert into a table without growth, at 2.9
/// entries a bin, two threads: 69 ns in batches without it, 60 with it (`bench_populations`).
template <class Threads>
CUBBY_ALWAYS_INLINE void prefetch_link_of_full(const index<Threads>& at, const bin<Threads>& b) noexcept {
  if (header::unused_primary(b.head.load(sync::relaxed)) == 0) prefetch_link(at, b); // relaxed: a hint
}

/// The second step: true when the first bucket has the answer.
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE bool answer_early(const Policy& policy, const bin<Threads>& b, std::uint64_t word,
                                      found_word& out) noexcept {
  // [probe] acquire: pairs with [commit]
  const std::uint64_t h = b.head.load(sync::acquire);
  out = look_at_primary(policy, b, h, word_probe{}, word);
  if ((h & header::state_mask) != 0) [[unlikely]]
    return false;
  if (!out.found && (header::present(h) & header::beyond_primary) != 0) return false;
  // Linearization point as in find.hpp, `look_into`. relaxed: the acquire loads above keep it behind them.
  return b.head.load(sync::relaxed) == h;
}

/// A request between its steps. The probe is made again where more than the word is needed.
template <class Threads> struct in_flight {
  bin<Threads>* b;
  std::uint64_t word;
};
template <class Threads> using flight = prefetch_group::ring<in_flight<Threads>>;

/// The first step of the requests in [first, last).
template <class Policy, class Threads, class Make>
CUBBY_ALWAYS_INLINE void ask_for_bins(const index<Threads>& at, flight<Threads>& requests, std::size_t first,
                                      std::size_t last, Make& make) {
  for (std::size_t i = first; i < last; ++i) {
    const auto& probe = make(i);
    bin<Threads>* const b = &bin_of<Policy>(at, probe);
    prefetch_line(b);
    requests[i] = {b, stored_word(probe.word)};
  }
}

/// The second step of the requests in [first, last), one group, and the third of those that it did not answer. Requests of
/// one bin are answered in their order: behind one that was put off, all others are put off, too.
template <class Policy, class Threads, class Make, class Take>
CUBBY_ALWAYS_INLINE void answer_group(const Policy& policy, index<Threads>& at, flight<Threads>& requests,
                                      std::size_t first, std::size_t last, Make& make, Take& take) {
  prefetch_group::put_off later;
  std::uint64_t waiting_lines = 0;
  const index<Threads>* const next = next_index(at); // for prefetches alone
  for (std::size_t i = first; i < last; ++i) {
    const in_flight<Threads> r = requests[i];
    found_word out;
    const bool may_look = waiting_lines == 0 || (waiting_lines & prefetch_group::bit_of_line(r.b)) == 0;
    if (may_look && answer_early(policy, *r.b, r.word, out)) [[likely]] {
      take(i, out);
      continue;
    }
    waiting_lines |= prefetch_group::bit_of_line(r.b);
    prefetch_behind(policy, at, *r.b, make(i), r.word);
    if (next != nullptr) [[unlikely]] // where it goes on if its bin has moved
      prefetch_line(&bin_of<Policy>(*next, make(i)));
    later.add(i);
  }
  for (std::size_t k = 0; k < later.count(); ++k) {
    const std::size_t i = later[k];
    take(i, find_at(policy, located<Threads>{&at, requests[i].b}, make(i)));
  }
}

/// A request about a record between its steps, with what the second one saw: `value` under the header `h`.
template <class Threads, class Probe> struct record_in_flight {
  bin<Threads>* b;
  const Probe* asked;
  std::uint64_t h;
  std::uint64_t value; // 0: nothing to go by
};
template <class Threads, class Probe> using record_flight = prefetch_group::ring<record_in_flight<Threads, Probe>>;

template <class Policy, class Threads, class Probe, class Make>
CUBBY_ALWAYS_INLINE void ask_for_record_bins(const index<Threads>& at, record_flight<Threads, Probe>& requests,
                                             std::size_t first, std::size_t last, Make& make) {
  auto* r = &requests[first];
  for (std::size_t i = first; i < last; ++i, ++r) {
    r->asked = &make(i);
    r->b = &bin_of<Policy>(at, *r->asked);
    prefetch_line(r->b);
  }
}

/// The second step in tables of records: true when the first bucket shows that the key is not there. Otherwise asks for the record
/// that shows the key's word, and notes it, or for the link bucket.
template <class Policy, class Threads, class Probe>
CUBBY_ALWAYS_INLINE bool miss_early(const Policy& policy, const index<Threads>& at, record_in_flight<Threads, Probe>& r,
                                    bool may_answer) noexcept {
  bin<Threads>& b = *r.b;
  const Probe& probe = *r.asked;
  // [probe] acquire: pairs with [commit]
  const std::uint64_t h = b.head.load(sync::acquire);
  const std::uint64_t word = stored_word(probe.word);
  r.value = 0;
  if (const unsigned shown = slots_that_show(b, word); shown != 0) {
    const unsigned bit = cpu::lowest_bit(shown);
    if ((h & header::state_mask) == 0 && ((h >> bit) & 3) == slot_state::valid) [[likely]] {
      // [value] acquire: pairs with [fill-value]
      const std::uint64_t value = slot_of_bit(b, bit)->second.load(sync::acquire);
      r.h = h;
      r.value = value;
      prefetch_group::lines_of_record(policy, probe, value);
    }
    return false;
  }
  // Linearization point as in find.hpp, `look_into`. relaxed: the acquire loads above keep it behind them.
  const bool is_absent = (h & header::state_mask) == 0 && !header::uses_links(h) && b.head.load(sync::relaxed) == h;
  if (is_absent && may_answer) return true;
  prefetch_behind(policy, at, b, probe, word);
  return false;
}

template <class Policy, class Threads, class Probe>
CUBBY_OUTLINED found_word find_record_at(const Policy& policy, index<Threads>& at, bin<Threads>& b,
                                         const Probe& probe) noexcept {
  return find_at(policy, located<Threads>{&at, &b}, probe);
}

/// `answer_group` of tables of records. Requests of one line are answered in their order: behind one that was put off, misses are
/// put off, too; and behind one that had to look again, all others look again.
template <class Policy, class Threads, class Probe, class Take>
CUBBY_ALWAYS_INLINE void answer_records(const Policy& policy, index<Threads>& at,
                                        record_flight<Threads, Probe>& requests, std::size_t first, std::size_t last,
                                        Take& take) {
  prefetch_group::put_off later;
  std::uint64_t waiting_lines = 0;
  const index<Threads>* const next = next_index(at); // for prefetches alone
  auto* const group = &requests[first];
  for (std::size_t i = 0; i < last - first; ++i) {
    const std::uint64_t line = prefetch_group::bit_of_line(group[i].b);
    if (miss_early(policy, at, group[i], (waiting_lines & line) == 0)) {
      take(first + i, found_word{});
      continue;
    }
    waiting_lines |= line;
    if (next != nullptr) [[unlikely]] // where it goes on if its bin has moved
      prefetch_line(&bin_of<Policy>(*next, *group[i].asked));
    later.add(i);
  }
  std::uint64_t lines_of_late = 0;
  for (std::size_t k = 0; k < later.count(); ++k) {
    const std::size_t i = later[k];
    const auto& r = group[i];
    const std::uint64_t line = prefetch_group::bit_of_line(r.b);
    // Linearization point of a hit: its value was read, and this read shows the same header. relaxed: the acquire loads of the
    // second step come before it.
    if (r.value != 0 && (lines_of_late & line) == 0 && policy.matches(*r.asked, r.value) &&
        r.b->head.load(sync::relaxed) == r.h) [[likely]] {
      take(first + i, found_word{true, r.value});
      continue;
    }
    lines_of_late |= line;
    take(first + i, find_record_at(policy, at, *r.b, *r.asked));
  }
}

/// `take(i, found_word)` once for each i in [0, count), of the probe that `make(i)` gives. Equal probes are answered in
/// their order, others in any. `make` is pure and may be called three times; of records it gives a reference that lives for two groups.
template <class Policy, class Threads, class Make, class Take>
CUBBY_ALWAYS_INLINE void find_many(const table<Policy, Threads>& t, std::size_t count, Make& make, Take& take) {
  index<Threads>& at = *first_index(t);
  const std::size_t group = prefetch_group::size_in(count);
  if constexpr (Policy::unique_words) {
    using probe = std::remove_cvref_t<decltype(make(count))>;
    record_flight<Threads, probe> requests;
    prefetch_group::for_each(
        count,
        [&](std::size_t first, std::size_t last)
            CUBBY_INLINED { ask_for_record_bins<Policy>(at, requests, first, last, make); },
        [&](std::size_t first, std::size_t last) CUBBY_INLINED {
          answer_records(t.policy, at, requests, first, last, take);
          return true;
        },
        group);
  } else {
    flight<Threads> requests;
    prefetch_group::for_each(
        count,
        [&](std::size_t first, std::size_t last)
            CUBBY_INLINED { ask_for_bins<Policy>(at, requests, first, last, make); },
        [&](std::size_t first, std::size_t last) CUBBY_INLINED {
          answer_group(t.policy, at, requests, first, last, make, take);
          return true;
        },
        group);
  }
}

} // namespace cubby::inline v0::detail::engines::dlht
