// SPDX-License-Identifier: Apache-2.0
// Many finds with their memory latencies overlapped (section 3.3), in three steps a request: its bin is asked for; the
// bin's first bucket is looked at, and a chained bucket or a record that it leads to is asked for; the request is
// answered. Requests go by groups: a group's bins are asked for before the last group is looked at.
#pragma once

#include <type_traits>

#include <cubby/engine/dlht/find.hpp>

namespace cubby::inline v0::engines::dlht {

/// Requests in a group. docs/performance.md has the figures for other sizes.
inline constexpr std::size_t group = 32;

/// Asks for the record that a request will want, or for the chained bucket when the bin's first one does not show its
/// key. Only a hint: nothing is verified.
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE void prefetch_behind(const Policy& policy, const index<Threads>& at, const bin<Threads>& b,
                                         std::uint64_t word) noexcept {
  for (const auto& s : b.slots) {
    // relaxed: a stale word costs a useless prefetch
    if (s.first.load(sync::relaxed) != word) continue;
    if constexpr (Policy::unique_words) {
      prefetch_line(policy.record_of(s.second.load(sync::relaxed))); // relaxed: as above
    }
    return;
  }
  // relaxed: the link word only ever gains chained buckets, so a bucket that it names exists
  const std::uint64_t links = b.links.load(sync::relaxed);
  if ((links & low_half) != 0) prefetch_line(&at.links[(links & low_half) - 1]);
}

/// The second step in inline tables: true when the first bucket has the answer.
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE bool look_early(const Policy& policy, const bin<Threads>& b, std::uint64_t word,
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

/// A bit for a bin. A request whose bin's bit is set waits for one that was put off (D).
template <class Threads> CUBBY_ALWAYS_INLINE std::uint64_t bit_of(const bin<Threads>* b) noexcept {
  return std::uint64_t{1} << (reinterpret_cast<std::uintptr_t>(b) / sizeof *b % 64);
}

/// A request between its steps. The probe is made again where it is needed: that is rare, and this is short.
template <class Threads> struct in_flight {
  bin<Threads>* b;
  std::uint64_t word;
};

/// The requests of two neighbouring groups; request i lies at i modulo their number.
template <class Threads> struct flight {
  in_flight<Threads> ring[2 * group];
  CUBBY_ALWAYS_INLINE in_flight<Threads>& operator[](std::size_t i) noexcept { return ring[i % (2 * group)]; }
};

/// The first step of the requests in [first, last).
template <class Policy, class Threads, class Make>
CUBBY_ALWAYS_INLINE void ask_for_bins(const index<Threads>& at, flight<Threads>& requests, std::size_t first,
                                      std::size_t last, Make& make) {
  for (std::size_t i = first; i < last; ++i) {
    const word_probe probe = make(i);
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
  std::size_t later[group];
  std::size_t waiting = 0;
  std::uint64_t put_off = 0;
  const index<Threads>* const next = next_index(at); // for prefetches alone
  for (std::size_t i = first; i < last; ++i) {
    const in_flight<Threads> r = requests[i];
    if constexpr (!Policy::unique_words) {
      found_word out;
      const bool may_look = put_off == 0 || (put_off & bit_of(r.b)) == 0;
      if (may_look && look_early(policy, *r.b, r.word, out)) [[likely]] {
        take(i, out);
        continue;
      }
      put_off |= bit_of(r.b);
    }
    prefetch_behind(policy, at, *r.b, r.word);
    if (next != nullptr) [[unlikely]] // where it goes on if its bin has moved
      prefetch_line(&bin_of<Policy>(*next, make(i)));
    later[waiting++] = i;
  }
  for (std::size_t k = 0; k < waiting; ++k) {
    const std::size_t i = later[k];
    take(i, find_at(policy, located<Threads>{&at, requests[i].b}, make(i)));
  }
}

/// `take(i, found_word)` once for each i in [0, count), of the probe that `make(i)` gives; equal probes in their order,
/// others in none. `make` is pure and may be called three times.
template <class Policy, class Threads, class Make, class Take>
CUBBY_ALWAYS_INLINE void find_many(const table<Policy, Threads>& t, std::size_t count, Make& make, Take& take) {
  flight<Threads> requests;
  index<Threads>& at = *first_index(t);
  const auto at_most = [count](std::size_t i) { return i < count ? i : count; };
  ask_for_bins<Policy>(at, requests, 0, at_most(group), make);
  for (std::size_t first = 0; first < count; first += group) {
    const std::size_t next = at_most(first + group);
    ask_for_bins<Policy>(at, requests, next, at_most(next + group), make);
    answer_group(t.policy, at, requests, first, next, make, take);
  }
}

} // namespace cubby::inline v0::engines::dlht
