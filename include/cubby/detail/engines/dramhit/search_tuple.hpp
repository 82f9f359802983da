// SPDX-License-Identifier: Apache-2.0
// The search through tuples (section 3, Atomicity), with which each verb begins.
#pragma once

#include <cubby/detail/engines/dramhit/table.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

template <class Policy>
CUBBY_ALWAYS_INLINE tuple<Policy>* behind(const tuple_array<Policy>& a, tuple<Policy>* s) noexcept {
  return s + 1 == a.slots + a.slot_count() ? a.slots : s + 1;
}

/// Whether a tuple that has left `filling` has this key (T1).
template <class Policy>
CUBBY_ALWAYS_INLINE bool is_about(const tuple<Policy>& s, const typename Policy::stored_key& key) noexcept {
  std::uint64_t other = 0;
  // relaxed: the key was stored before the header that the caller has seen, by [show-tuple], and does not change
  for (std::size_t i = 0; i < key.count; ++i) other |= s.words[i].load(sync::relaxed) ^ key.at[i];
  return other == 0;
}
template <class Policy>
CUBBY_ALWAYS_INLINE void read_key(const tuple<Policy>& s, typename Policy::stored_key& out) noexcept {
  // relaxed: as above
  for (std::size_t i = 0; i < out.count; ++i) out.at[i] = s.words[i].load(sync::relaxed);
}
/// The words of the value. A thread that needs them to be of one value looks at the header before and after (T3).
template <class Policy>
CUBBY_ALWAYS_INLINE void read_value(const tuple<Policy>& s, typename Policy::stored_value& out) noexcept {
  // [tuple-word] acquire: pairs with [write-tuple]
  for (std::size_t i = 0; i < out.count; ++i) out.at[i] = s.words[Policy::stored_key::count + i].load(sync::acquire);
}

/// The result of a look at one tuple.
enum class sight : std::uint8_t { other, passed, hit, carried, filling, end, sealed };

/// Looks at one tuple until header and words belong together, and stores the header in `h`. With `value` it reads the value, too, and
/// waits while it is being written; with null it only tells whether the key is there. Linearization point of a hit: the second
/// look at the header, or, without a value, the first.
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE sight look_at(const tuple<Policy>& s, const Probe& p, std::uint64_t tag, std::uint64_t& h,
                                  typename Policy::stored_value* value) noexcept {
  for (sync::backoff wait;; wait.pause()) {
    // [look-at-tuple] acquire: pairs with [show-tuple], [seal-tuple], [show-value], [give-tuple], [carry-tuple],
    // [tuple-moved], [mark-dead-tuple]
    h = s.header.load(sync::acquire);
    const state now = state_of(h);
    if (now == state::empty) return sight::end;
    if (now == state::sealed) return sight::sealed;
    if (now == state::moved) return sight::passed;
    if (tag_of(h) != tag || now == state::dead) return now == state::moving ? sight::passed : sight::other;
    if (now == state::filling) return sight::filling;
    if (!is_about(s, p.key)) return now == state::moving ? sight::passed : sight::other;
    const sight met = now == state::moving ? sight::carried : sight::hit;
    if (value == nullptr) return met;
    if (is_written(h)) continue;
    read_value(s, *value);
    // relaxed: behind acquire loads of the words; one of a later value implies a later header, by [write-tuple]
    if (s.header.load(sync::relaxed) == h) return met;
  }
}

/// Searches the first `last` tuples of the chain of a key. With `value`, for a thread that reads or changes: it reads the value, and skips tuples
/// that an insert is filling. The key was absent at that moment, or the insert is of another key. Without `value`, for a thread that
/// inserts.
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE seen_slot<tuple_layout<Policy>> search_part(const tuple_array<Policy>& a, const Probe& p,
                                                                typename Policy::stored_value* value,
                                                                std::uint64_t last) noexcept {
  const std::uint64_t tag = tag_of_hash(p.hash);
  bool passed = false;
  auto* s = home_line<Policy>(a, p.hash);
  for (std::uint64_t looked = 1; looked <= last; ++looked, s = behind(a, s)) {
    std::uint64_t h = 0;
    switch (look_at(*s, p, tag, h, value)) {
    case sight::other: break;
    case sight::passed: passed = true; break;
    case sight::hit: return {stop::hit, s, h, looked, passed};
    case sight::carried: return {stop::carried, s, h, looked, true};
    case sight::end: return {stop::end, s, h, looked, passed};
    case sight::sealed: return {stop::sealed, s, h, looked, passed};
    case sight::filling:
      if (value == nullptr) return {stop::filling, s, h, looked, passed};
    }
  }
  return {stop::spent, nullptr, 0, last, passed};
}
/// Searches the chain of a key.
template <class Policy, class Probe>
seen_slot<tuple_layout<Policy>> search(const tuple_array<Policy>& a, const Probe& p,
                                       typename Policy::stored_value* value) noexcept {
  return search_part(a, p, value, a.slot_count());
}
/// Searches its first line.
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE seen_slot<tuple_layout<Policy>> search_line(const tuple_array<Policy>& a, const Probe& p,
                                                                typename Policy::stored_value* value) noexcept {
  return search_part(a, p, value, tuple_array<Policy>::in_line);
}

/// Blocks until the tuple is in another state.
template <class Policy>
CUBBY_NEVER_INLINE void wait_while(const tuple<Policy>& s, state what) noexcept {
  sync::backoff wait;
  // [look-at-tuple] acquire: pairs with [tuple-moved]
  while (state_of(s.header.load(sync::acquire)) == what) wait.pause();
}

/// Blocks until the key that moves out of `where` is in the next array.
template <class Policy> CUBBY_ALWAYS_INLINE void wait_for_move(const tuple<Policy>& where) noexcept {
  wait_while(where, state::moving);
}

} // namespace cubby::inline v0::detail::engines::dramhit
