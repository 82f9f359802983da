// SPDX-License-Identifier: Apache-2.0
// Get in tuples (section 3, Atomicity): it reads the value between two looks at its version.
#pragma once

#include <cubby/detail/engines/dramhit/search_tuple.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

template <class Layout> CUBBY_ALWAYS_INLINE bool is_found(const seen_slot<Layout>& seen) noexcept {
  return seen.how == stop::hit || seen.how == stop::carried;
}
/// Goes on behind the first line of the chain in `a`, which has not decided. While the table moves, most keys are in their first line of one
/// of two arrays. So that of the next array is read before the rest of the chain in `a`, which may be long. A hit there needs no look at
/// `a`, which shows no other value (T6).
template <tuple_policy Policy, class Probe>
CUBBY_NEVER_INLINE found_as<typename Policy::stored_value>
find_further(const tuple_array<Policy>* a, seen_slot<tuple_layout<Policy>> seen, Probe p) noexcept {
  found_as<typename Policy::stored_value> out;
  if (const auto* const next = next_array(*a)) [[unlikely]]
    out.found = is_found(search_line(*next, p, &out.word));
  if (out.found) return out;
  if (seen.how == stop::spent)
    seen =
        search_part(*a, p, &out.word, seen.where, tuple_array<Policy>::in_line + 1, a->slot_count(), seen.passed_moved);
  for (;;) {
    // Linearization point of a hit: see look_at. Of a miss: the look at the empty tuple that ended the chain, or at the tuple that
    // an insert of this key was filling.
    out.found = is_found(seen);
    if (out.found || (a = beyond(*a, seen)) == nullptr) return out;
    seen = search(*a, p, &out.word);
  }
}
/// The value of the probe's key. No shared write. It waits only while that value is being written.
template <tuple_policy Policy, class Probe>
CUBBY_ALWAYS_INLINE found_as<typename Policy::stored_value> find(const table<Policy>& t, const Probe& p) noexcept {
  found_as<typename Policy::stored_value> out;
  const auto* const a = first_array(t);
  const auto seen = search_line(*a, p, &out.word);
  // Linearization points: as in find_further.
  out.found = is_found(seen);
  if (out.found || (seen.how == stop::end && !seen.passed_moved)) [[likely]]
    return out;
  return find_further<Policy>(a, seen, p);
}

/// The result of a look at one line: a tuple with the key's tag that has not moved (near), the end of the chain, or neither (further).
enum class line_hint : std::uint8_t { near, end, further };

/// Looks at one line. A hint: the verb searches again.
template <class Policy>
CUBBY_ALWAYS_INLINE line_hint look_at_tags(const tuple<Policy>* line, std::uint64_t tag) noexcept {
  for (std::size_t i = 0; i < tuple_array<Policy>::in_line; ++i) {
    const std::uint64_t h = line[i].header.load(sync::relaxed); // relaxed: a hint
    const state now = state_of(h);
    if (h == empty_header || now == state::sealed) return line_hint::end;
    if (tag_of(h) == tag && now != state::moved && now != state::dead) return line_hint::near;
  }
  return line_hint::further;
}

} // namespace cubby::inline v0::detail::engines::dramhit
