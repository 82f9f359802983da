// SPDX-License-Identifier: Apache-2.0
// Get (section 3.2.1): it reads the header, the slots, and the header again. It is lock-free, writes nothing shared,
// and reads one line in most cases. A find waits only for the transfer of its own bin.
#pragma once

#include <cubby/detail/engines/dlht/table.hpp>
#include <cubby/detail/platform/prefetch.hpp>

namespace cubby::inline v0::detail::engines::dlht {

/// Asks for the first link bucket of a bin, if it has one. Only a hint.
template <class Threads> CUBBY_ALWAYS_INLINE void prefetch_link(const index<Threads>& at,
                                                                const bin<Threads>& b) noexcept {
  // relaxed: the link word only ever gains chained buckets, so a bucket that it names exists
  const std::uint64_t links = b.links.load(sync::relaxed);
  if ((links & low_half) != 0) prefetch_line(&at.links[(links & low_half) - 1]);
}

/// The result of a look at one bin: an answer, or a reason to look again. After `moved` the caller first goes on to the
/// next index.
enum class look : std::uint8_t { answered, again, moved };

/// The one primary slot of an inline table that may show `word`.
template <class Threads>
CUBBY_ALWAYS_INLINE std::size_t slot_to_compare(const bin<Threads>& b, std::uint64_t word) noexcept {
  // [key] acquire: pairs with [fill]
  const auto shows = [&](std::size_t n) {
    return static_cast<std::size_t>(b.slots[n].first.load(sync::acquire) == word);
  };
  return 1 + shows(2) - shows(0); // slot 1 when none does, or when two do: then the header has changed
}

/// Searches the three primary slots under header `h`. In inline tables it has no branch for each slot, because no
/// branch predictor could tell which slot it is. It does not look at the slots' states, because of I1.
/// One slot is read again: g++ 12 would keep three comparisons on the stack, as bytes that it reads as words. find_word has these lines of its
/// own, because a single find took an eighth longer with the answer of this one.
template <class Policy, class Threads, class Probe>
CUBBY_ALWAYS_INLINE found_word look_at_primary(const Policy& policy, const bin<Threads>& b, std::uint64_t h,
                                               const Probe& probe, std::uint64_t word) noexcept {
  if constexpr (Policy::unique_words) {
    for (unsigned n = 0; n < primary_slots; ++n) {
      // [key] acquire: pairs with [fill]
      if (b.slots[n].first.load(sync::acquire) != word || header::slot_of(h, n) != slot_state::valid) continue;
      // [value] acquire: pairs with [fill-value]
      const std::uint64_t value = b.slots[n].second.load(sync::acquire);
      if (policy.matches(probe, value)) return {true, value};
    }
    return {};
  } else {
    // [key] acquire: pairs with [fill]
    const auto& s = b.slots[slot_to_compare(b, word)];
    const bool found = s.first.load(sync::acquire) == word;
    // [value] acquire: pairs with [fill-value]
    return {found, s.second.load(sync::acquire)};
  }
}

template <class Policy, class Threads, class Probe>
CUBBY_ALWAYS_INLINE look look_into(const Policy& policy, const index<Threads>& at, bin<Threads>& b, const Probe& probe,
                                   std::uint64_t word, found_word& out) noexcept {
  // [probe] acquire: pairs with [commit]
  const std::uint64_t h = b.head.load(sync::acquire);
  if ((h & header::state_mask) != 0) [[unlikely]] {
    if (header::state_of(h) != bin_state::snapshot) return look::moved;
  }
  out = look_at_primary(policy, b, h, probe, word);
  if (!out.found && (header::present(h) & header::beyond_primary) != 0) [[unlikely]] {
    const auto hit = search(at, b, header::valid(h) & header::beyond_primary, word,
                            [&](std::uint64_t value) { return policy.matches(probe, value); });
    out = {static_cast<bool>(hit), hit.value};
  }
  // Linearization point of a find: this read of an unchanged header (or, for a miss of an entry cleared meanwhile,
  // the clearing). relaxed: the acquire loads above keep it behind them.
  return b.head.load(sync::relaxed) == h ? look::answered : look::again;
}

/// A request whose bin has been chosen and prefetched.
template <class Threads> struct located {
  index<Threads>* at;
  bin<Threads>* b;
};
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE located<Threads> locate(const table<Policy, Threads>& t, const word_probe& probe) noexcept {
  index<Threads>* const at = first_index(t);
  return {at, &bin_of<Policy>(*at, probe)};
}

template <class Policy, class Threads, class Probe>
CUBBY_NEVER_INLINE found_word find_moved(const Policy& policy, located<Threads> here, const Probe& probe,
                                         std::uint64_t word) noexcept {
  for (found_word out;;) {
    const look seen = look_into(policy, *here.at, *here.b, probe, word, out);
    if (seen == look::answered) return out;
    if (seen == look::again) continue;
    // [probe] acquire: pairs with [moved]
    const std::uint64_t state = header::state_of(here.b->head.load(sync::acquire));
    if (state == bin_state::in_transfer) wait_for_transfer(*here.b);
    if (state == bin_state::done_transfer) here.at = next_index(*here.at);
    here.b = &bin_of<Policy>(*here.at, probe);
  }
}

/// The find of a located request.
template <class Policy, class Threads, class Probe>
CUBBY_ALWAYS_INLINE found_word find_at(const Policy& policy, located<Threads> here, const Probe& probe) noexcept {
  const std::uint64_t word = stored_word(probe.word);
  found_word out;
  if (look_into(policy, *here.at, *here.b, probe, word, out) == look::answered) [[likely]]
    return out;
  return find_moved(policy, here, probe, word);
}

/// The rest of `find_word`: a key of the side bin, a bin with link buckets, one that has moved, or one that has changed meanwhile.
template <class Policy, class Threads>
CUBBY_OUTLINED found_word find_further(const table<Policy, Threads>& t, std::uint64_t hash,
                                       std::uint64_t word) noexcept {
  const word_probe probe{hash, word};
  return find_at(t.policy, locate(t, probe), probe);
}

/// The find of inline tables, for a key that is in its bin's first line or absent. It has as few instructions as may
/// be, and no branch for each slot.
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE found_word find_word(const table<Policy, Threads>& t, std::uint64_t hash,
                                         std::uint64_t word) noexcept {
  if (!is_reserved(word)) [[likely]] {
    const index<Threads>& at = *first_index(t);
    const bin<Threads>& b = at.bins[map_hash<Policy::mapping>(hash, at.bin_count)];
    // [probe] acquire: pairs with [commit]
    const std::uint64_t h = b.head.load(sync::acquire);
    if ((h & header::state_mask) == 0) [[likely]] {
      const std::size_t n = slot_to_compare(b, word);
      // [key] acquire: pairs with [fill]
      const std::uint64_t key = b.slots[n].first.load(sync::acquire);
      // [value] acquire: pairs with [fill-value]
      const std::uint64_t value = b.slots[n].second.load(sync::acquire);
      if (key == word) {
        // Linearization point of a hit. relaxed: the acquire loads above keep it behind them.
        if (b.head.load(sync::relaxed) == h) [[likely]]
          return {true, value};
      } else if (!header::uses_links(h)) [[likely]] {
        // Linearization point of a miss: this read, or the clearing as in look_into. relaxed: as above.
        if (b.head.load(sync::relaxed) == h) [[likely]]
          return {};
      }
    }
  }
  return find_further(t, hash, word);
}

/// The value word under the probe's key. Lock-free but for a bin in transfer; linearizable.
template <class Policy, class Threads, class Probe>
CUBBY_ALWAYS_INLINE found_word find(const table<Policy, Threads>& t, const Probe& probe) noexcept {
  if constexpr (Policy::unique_words) return find_at(t.policy, locate(t, probe), probe);
  else return find_word(t, probe.hash, probe.word);
}

} // namespace cubby::inline v0::detail::engines::dlht
