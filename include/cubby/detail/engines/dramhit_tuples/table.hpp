// SPDX-License-Identifier: Apache-2.0
// A table of tuples, and the search that every verb begins with.
#pragma once

#include <cubby/detail/engines/dramhit_tuples/layout.hpp>
#include <cubby/detail/engines/dramhit_tuples/options.hpp>
#include <cubby/detail/platform/prefetch.hpp>

namespace cubby::inline v0::engines::dramhit_tuples {

using arrays::growth_factor, arrays::next_array, generations::is_complete;

template <class Policy, class Threads>
struct table : arrays::table_state<array<Policy, Threads>, Policy, options, Threads> {
  using arrays::table_state<array<Policy, Threads>, Policy, options, Threads>::table_state;
};

/// The first tuple of the line in which a search begins.
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE tuple<Policy, Threads>* home_of(const array<Policy, Threads>& a, std::uint64_t hash) noexcept {
  std::uint64_t line = 0;
  if constexpr (Policy::mapping == bin_mapping::fastrange) line = cpu::multiply(hash, a.lines).high;
  else line = hash % a.lines;
  return a.tuples + line * a.in_line;
}
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE tuple<Policy, Threads>* behind(const array<Policy, Threads>& a,
                                                   tuple<Policy, Threads>* s) noexcept {
  return s + 1 == a.tuples + a.slot_count() ? a.tuples : s + 1;
}

/// Asks memory for the lines where a search for `p` begins: while the table moves, of two arrays.
template <class Policy, class Threads, class Probe>
CUBBY_ALWAYS_INLINE void prefetch_home(const table<Policy, Threads>& t, const Probe& p) noexcept {
  const auto& a = *first_array(t);
  prefetch_line(home_of(a, p.hash));
  if (const auto* const next = next_array(a)) [[unlikely]]
    prefetch_line(home_of(*next, p.hash));
}

/// Whether a tuple that has left `filling` is about this key (T1).
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE bool is_about(const tuple<Policy, Threads>& s, const typename Policy::stored_key& key) noexcept {
  std::uint64_t other = 0;
  // relaxed: the key came before the header that the caller has seen, by [show-tuple], and stays
  for (std::size_t i = 0; i < key.count; ++i) other |= s.words[i].load(sync::relaxed) ^ key.at[i];
  return other == 0;
}
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE void read_key(const tuple<Policy, Threads>& s, typename Policy::stored_key& out) noexcept {
  // relaxed: as above
  for (std::size_t i = 0; i < out.count; ++i) out.at[i] = s.words[i].load(sync::relaxed);
}
/// The words of the value; a thread that needs them to be of one value looks at the header before and afterwards (T3).
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE void read_value(const tuple<Policy, Threads>& s, typename Policy::stored_value& out) noexcept {
  // [tuple-word] acquire: pairs with [write-tuple]
  for (std::size_t i = 0; i < out.count; ++i) out.at[i] = s.words[Policy::stored_key::count + i].load(sync::acquire);
}

/// What one tuple is to a search.
enum class sight : std::uint8_t { other, passed, hit, carried, filling, end, sealed };

/// Looks at one tuple until what is seen of it belongs together; waits while the value is being written, if it is asked
/// for. Leaves the header that it has seen in `h`. Linearization point of a hit: the second look at the header, or,
/// without a value, the look. `value` null: whether the key is there is all that is asked.
template <class Policy, class Threads, class Probe>
CUBBY_ALWAYS_INLINE sight look_at(const tuple<Policy, Threads>& s, const Probe& p, std::uint64_t tag, std::uint64_t& h,
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

/// How a search of one array ended.
enum class stop : std::uint8_t {
  hit,     ///< the key is live in `where`
  carried, ///< it is being moved out of `where`; it cannot change until that is done
  filling, ///< an insert of this key, or of one with its tag, is under way in `where`
  end,     ///< `where` is the first tuple that an insert could take
  sealed,  ///< not here, and nobody can insert it here any more
  spent    ///< the same, because no tuple is free
};

template <class Tuple> struct seen_slot {
  stop how;
  Tuple* where = nullptr;
  std::uint64_t header = 0;  ///< as it was seen
  std::uint64_t looked = 0;  ///< tuples that were looked at
  bool passed_moved = false; ///< a tuple on the way has moved or is moving: the key may be further on
};

/// Searches the chain of a key. With `value`, which it fills in: for a thread that reads or changes. An insert under way is passed
/// by: when it was seen the key was absent, or the insert is another key's. Without: for a thread that inserts.
template <class Policy, class Threads, class Probe>
seen_slot<tuple<Policy, Threads>> search(const array<Policy, Threads>& a, const Probe& p,
                                         typename Policy::stored_value* value) noexcept {
  const std::uint64_t tag = tag_of_hash(p.hash);
  const std::uint64_t count = a.slot_count();
  bool passed = false;
  auto* s = home_of(a, p.hash);
  for (std::uint64_t looked = 1; looked <= count; ++looked, s = behind(a, s)) {
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
  return {stop::spent, nullptr, 0, count, passed};
}

/// Where a search that did not meet the key goes on; null: the key is not in the table.
template <class Policy, class Threads>
array<Policy, Threads>* beyond(const array<Policy, Threads>& a,
                               const seen_slot<tuple<Policy, Threads>>& seen) noexcept {
  return seen.how == stop::end && !seen.passed_moved ? nullptr : next_array(a);
}

/// Waits until the tuple is no longer in this state.
template <class Policy, class Threads>
CUBBY_NEVER_INLINE void wait_while(const tuple<Policy, Threads>& s, state what) noexcept {
  sync::backoff wait;
  // [look-at-tuple] acquire: pairs with [tuple-moved]
  while (state_of(s.header.load(sync::acquire)) == what) wait.pause();
}

} // namespace cubby::inline v0::engines::dramhit_tuples
