// SPDX-License-Identifier: Apache-2.0
// Put and Delete (sections 3.2.3, 3.2.4) as one read-modify-write: find the entry, ask what to do, do it with one
// 16-byte compare-and-swap on the slot. By invariant I1 a swap that succeeds has changed the live entry, so no second
// look is needed. An erase clears the key, which frees the slot, and returns the very value that left.
#pragma once

#include <cubby/detail/engines/dlht/find.hpp>

namespace cubby::inline v0::detail::engines::dlht {

/// Turns a valid slot whose key is cleared into an invalid one, unless another thread already has.
template <class Threads>
void free_cleared(bin<Threads>& b, const slot<Threads>& s, unsigned number, std::uint64_t h) noexcept {
  for (;;) {
    if (header::state_of(h) != bin_state::no_transfer || header::slot_of(h, number) != slot_state::valid) return;
    // [key] acquire: pairs with [fill]; under this header a cleared key stays cleared (I3)
    if (s.first.load(sync::acquire) != cleared) return;
    // [free] release: pairs with [probe]
    // acquire on failure: the new header is looked at again; pairs with [commit]
    if (b.head.compare_exchange(h, header::with_slot(h, number, slot_state::invalid), sync::release, sync::acquire)) {
      return;
    }
  }
}

/// Which primary slot of an inline table shows `word`; `primary_slots` when none does. Without branches and
/// without a look at the slots' states, as in find.hpp.
template <class Threads>
CUBBY_ALWAYS_INLINE unsigned primary_slot_of(const bin<Threads>& b, std::uint64_t word) noexcept {
  // [key] acquire: pairs with [fill]
  const auto shows = [&](unsigned n) { return static_cast<unsigned>(b.slots[n].first.load(sync::acquire) == word); };
  return primary_slots - 3 * shows(0) - 2 * shows(1) -
         shows(2); // one, by I4; two (a number past the slots) only under a changed header
}

/// The valid slot that shows `word`.
template <bool Inline, class Threads, class Matches>
CUBBY_ALWAYS_INLINE seen_slot<Threads> search_valid(const index<Threads>& at, bin<Threads>& b, std::uint64_t h,
                                                    std::uint64_t word, Matches matches) noexcept {
  std::uint64_t mask = header::valid(h);
  if constexpr (Inline) {
    const unsigned number = primary_slot_of(b, word);
    // [value] acquire: pairs with [fill-value]
    if (number < primary_slots) return {&b.slots[number], b.slots[number].second.load(sync::acquire), number};
    mask &= header::beyond_primary;
  }
  return search(at, b, mask, word, matches);
}

/// `mutate` in one bin whose header `h` was read; true if it has ended.
template <bool Inline, class Threads, class Matches, class F>
bool mutate_here(const index<Threads>& at, bin<Threads>& b, std::uint64_t h, std::uint64_t word, Matches matches, F& f,
                 mutated& out) {
  const seen_slot<Threads> hit = search_valid<Inline>(at, b, h, word, matches);
  // The header must still be the one that called the slot valid when key and value were read. A value that is read
  // later may belong to an insert that is still filling the slot. relaxed: the acquire loads of both keep it behind
  // them.
  if (b.head.load(sync::relaxed) != h) return false;
  if (!hit) {
    out = {}; // linearization point of a miss: the read of the header just above
    return true;
  }
  const decision wanted = f(hit.value);
  out = {true, wanted.what, hit.value};
  if (wanted.what == action::keep || (wanted.what == action::replace && wanted.word == hit.value)) return true;
  if (wanted.what == action::replace) {
    // Linearization point of an assign, [fill-value] acq_rel: pairs with [value]
    return hit.where->compare_exchange({word, hit.value}, {word, wanted.word});
  }
  // Linearization point of an erase, [fill] acq_rel: pairs with [key]; the value stays for readers that have already
  // matched the key (I3).
  if (!hit.where->compare_exchange({word, hit.value}, {cleared, hit.value})) return false;
  // A cleared slot is free for the next insert as it is. In a link bucket the header must say so too, or misses would
  // go on looking there.
  if (hit.number >= primary_slots) free_cleared(b, *hit.where, hit.number, h);
  return true;
}

/// Finds the entry of `probe` for which `matches(value_word)`, asks `f(value_word)` and carries out its decision
/// atomically. `f` must be pure: it runs again when another thread was faster.
template <class Policy, class Threads, class Matches, class F>
mutated mutate_if(table<Policy, Threads>& t, const thread_record& who, const word_probe& probe, Matches matches, F& f) {
  const std::uint64_t word = stored_word(probe.word);
  mutated out;
  for (index<Threads>* at = first_index(t);;) {
    bin<Threads>& b = bin_of<Policy>(*at, probe);
    // [probe] acquire: pairs with [commit]
    const std::uint64_t h = b.head.load(sync::acquire);
    if (header::state_of(h) != bin_state::no_transfer) [[unlikely]] {
      pass_on(at, b, h);
      continue;
    }
    if (mutate_here<!Policy::unique_words>(*at, b, h, word, matches, f, out)) [[likely]]
      break;
  }
  if (out.found && out.done == action::erase) count_entries(t, who, -1);
  return out;
}

/// The rest of `mutate_word`.
template <class Policy, class Threads, class F>
CUBBY_OUTLINED mutated mutate_further(table<Policy, Threads>& t, const thread_record& who, std::uint64_t hash,
                                      std::uint64_t word, F f) noexcept(noexcept(f(word))) {
  return mutate_if(t, who, word_probe{hash, word}, [](std::uint64_t) { return true; }, f);
}

/// The mutate of inline tables, for a key in its bin's first line or in none.
template <class Policy, class Threads, class F>
CUBBY_ALWAYS_INLINE mutated mutate_word(table<Policy, Threads>& t, const thread_record& who, std::uint64_t hash,
                                        std::uint64_t word, const F& f) {
  if (!is_reserved(word)) [[likely]] {
    const index<Threads>& at = *first_index(t);
    bin<Threads>& b = at.bins[map_hash<Policy::mapping>(hash, at.bin_count)];
    // [probe] acquire: pairs with [commit]
    const std::uint64_t h = b.head.load(sync::acquire);
    if ((h & header::state_mask) == 0) [[likely]] {
      const std::size_t n = slot_to_compare(b, word);
      // [key] acquire: pairs with [fill]
      const std::uint64_t key = b.slots[n].first.load(sync::acquire);
      // [value] acquire: pairs with [fill-value]
      const std::uint64_t value = b.slots[n].second.load(sync::acquire);
      // Linearization point of a miss. relaxed: as in mutate_here
      const bool is_unchanged = b.head.load(sync::relaxed) == h;
      if (key == word && is_unchanged) [[likely]] {
        const decision wanted = f(value);
        if (wanted.what == action::keep || (wanted.what == action::replace && wanted.word == value))
          return {true, wanted.what, value};
        if (wanted.what == action::replace) {
          // Linearization point of an assign, [fill-value] acq_rel: pairs with [value]
          if (b.slots[n].compare_exchange({word, value}, {word, wanted.word})) [[likely]]
            return {true, action::replace, value};
        } else if (b.slots[n].compare_exchange({word, value}, {cleared, value})) [[likely]] {
          // Linearization point of an erase, [fill] acq_rel: pairs with [key], as in mutate_here
          count_entries(t, who, -1);
          return {true, action::erase, value};
        }
      } else if (is_unchanged && !header::uses_links(h)) {
        return {};
      }
    }
  }
  return mutate_further(t, who, hash, word, f);
}

template <class Policy, class Threads, class Probe, class F>
CUBBY_ALWAYS_INLINE mutated mutate(table<Policy, Threads>& t, const thread_record& who, const Probe& probe, F& f) {
  if constexpr (Policy::unique_words) {
    return mutate_if(t, who, probe, [&](std::uint64_t value) { return t.policy.matches(probe, value); }, f);
  } else {
    return mutate_word(t, who, probe.hash, probe.word, f);
  }
}

} // namespace cubby::inline v0::detail::engines::dlht
