// SPDX-License-Identifier: Apache-2.0
// Many finds with their memory latencies overlapped (section 3.3), in three steps a request: its bin is asked for; the
// bin's first bucket is looked at, and a chained bucket or a record that it leads to is asked for; the request is
// answered. The first step of one group overlaps the second of the last.
#pragma once

#include <type_traits>

#include <cubby/engine/dlht/find.hpp>

namespace cubby::inline v0::engines::dlht {

/// Requests in a group. docs/performance.md has the figures for other sizes.
inline constexpr std::size_t group = 16;

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

/// A request between its steps. The probe is made again where it is needed: that is rare, and this is short.
template <class Threads> struct in_flight {
  bin<Threads>* b;
  std::uint64_t word;
};

/// Requests that the second step could not answer, of one group.
struct deferred {
  std::size_t numbers[group];
  std::size_t count = 0;
};

/// `take(i, found_word)` once for each i in [0, count), in no promised order, of the probe that `make(i)` gives; `make`
/// is pure and may be called twice.
template <class Policy, class Threads, class Make, class Take>
CUBBY_ALWAYS_INLINE void find_many(const table<Policy, Threads>& t, std::size_t count, Make& make, Take& take) {
  in_flight<Threads> ring[2 * group];
  deferred later;
  index<Threads>* const at = first_index(t);
  const auto start = [&](std::size_t i) {
    const word_probe probe = make(i);
    bin<Threads>* const b = &bin_of<Policy>(*at, probe);
    prefetch_line(b);
    ring[i % (2 * group)] = {b, stored_word(probe.word)};
  };
  const auto step = [&](std::size_t i) {
    const in_flight<Threads> r = ring[i % (2 * group)];
    if constexpr (!Policy::unique_words) {
      found_word out;
      if (look_early(t.policy, *r.b, r.word, out)) [[likely]]
        return take(i, out);
    }
    prefetch_behind(t.policy, *at, *r.b, r.word);
    later.numbers[later.count++] = i;
  };
  for (std::size_t i = 0; i < count && i < group; ++i) start(i);
  for (std::size_t first = 0; first < count; first += group) {
    const std::size_t last = first + group < count ? first + group : count;
    for (std::size_t i = first; i < last; ++i) {
      step(i);
      if (i + group < count) start(i + group);
    }
    for (std::size_t k = 0; k < later.count; ++k) {
      const std::size_t i = later.numbers[k];
      take(i, find_at(t.policy, located<Threads>{at, ring[i % (2 * group)].b}, make(i)));
    }
    later.count = 0;
  }
}

} // namespace cubby::inline v0::engines::dlht
