// SPDX-License-Identifier: Apache-2.0
// Get in tuples (section 3, Atomicity): it reads the value between two looks at its version.
#pragma once

#include <cubby/detail/engines/dramhit/search_tuple.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

template <class Layout> CUBBY_ALWAYS_INLINE bool is_found(const seen_slot<Layout>& seen) noexcept {
  return seen.how == stop::hit || seen.how == stop::carried;
}
/// Searches from array `a` on.
template <tuple_policy Policy, class Probe>
CUBBY_ALWAYS_INLINE found_as<typename Policy::stored_value> find_from(const tuple_array<Policy>* a,
                                                                      const Probe& p) noexcept {
  found_as<typename Policy::stored_value> out;
  while (a != nullptr) {
    // Linearization point of a hit: see look_at. Of a miss: the look at the empty tuple that ended the chain, or at the tuple that
    // an insert of this key was filling.
    const auto seen = search(*a, p, &out.word);
    if (is_found(seen)) [[likely]] {
      out.found = true;
      return out;
    }
    a = beyond(*a, seen);
  }
  return out;
}
/// The same while the table moves. Most keys are in the first line of their chain in one of two arrays, so both are read before the rest of
/// the chain in `a`, which may be long. A hit in the next array needs no look at `a`, which shows no other value (T6).
template <tuple_policy Policy, class Probe>
CUBBY_NEVER_INLINE found_as<typename Policy::stored_value>
find_while_moving(const tuple_array<Policy>& a, const tuple_array<Policy>& next, const Probe& p) noexcept {
  prefetch_line(home_line<Policy>(next, p.hash));
  found_as<typename Policy::stored_value> out;
  const auto seen = search_line(a, p, &out.word);
  out.found = is_found(seen);
  if (out.found || beyond(a, seen) == nullptr) return out; // as in find_from
  out.found = is_found(search_line(next, p, &out.word));
  return out.found ? out : find_from<Policy>(&a, p);
}
/// The value of the probe's key. No shared write. It waits only while that value is being written.
template <tuple_policy Policy, class Probe>
CUBBY_ALWAYS_INLINE found_as<typename Policy::stored_value> find(const table<Policy>& t, const Probe& p) noexcept {
  const auto* const a = first_array(t);
  if (const auto* const next = next_array(*a)) [[unlikely]]
    return find_while_moving<Policy>(*a, *next, p);
  return find_from<Policy>(a, p);
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
