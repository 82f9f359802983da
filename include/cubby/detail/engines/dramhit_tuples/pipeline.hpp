// SPDX-License-Identifier: Apache-2.0
// The engine's part of a pipeline (section 3.1): a pending request is taken from line to line, each asked for one turn before
// it is read, until the line that decides it is here. Then its verb runs as any other.
#pragma once

#include <cubby/detail/engines/dramhit_tuples/find.hpp>

namespace cubby::inline v0::engines::dramhit_tuples {

/// Where a pending request stands. Good inside the pin in which it was made.
template <class Policy, class Threads> struct course {
  const array<Policy, Threads>* in = nullptr;
  const tuple<Policy, Threads>* line = nullptr;
  std::uint32_t lines_left = 0; ///< before the search gives up overlapping: chains that long are rare
};
inline constexpr std::uint32_t longest_course = 16;

template <class Policy, class Threads, class Probe>
CUBBY_ALWAYS_INLINE course<Policy, Threads> aim(const table<Policy, Threads>& t, const Probe& p) noexcept {
  const auto& a = *first_array(t);
  return {&a, home_of(a, p.hash), longest_course};
}
/// Asks memory for the line where it begins.
template <class Policy, class Threads> CUBBY_ALWAYS_INLINE void ask(const course<Policy, Threads>& c) noexcept {
  prefetch_line(c.line);
}

/// True: the verb may run, and meets no line that was not asked for; else the next line is on its way.
template <class Policy, class Threads, class Probe>
CUBBY_ALWAYS_INLINE bool advance(course<Policy, Threads>& c, const Probe& p) noexcept {
  if (c.lines_left <= 1) return true;
  --c.lines_left;
  const lookup_step saw = look_at(c.line, tag_of_hash(p.hash));
  if (saw == lookup_step::near) return true;
  if (saw == lookup_step::further) {
    c.line += c.in->in_line;
    if (c.line == c.in->tuples + c.in->slot_count()) c.line = c.in->tuples;
  } else {
    const auto* const next = next_array(*c.in);
    if (next == nullptr) [[likely]]
      return true;
    c.in = next;
    c.line = home_of(*next, p.hash);
  }
  prefetch_line(c.line);
  return false;
}

} // namespace cubby::inline v0::engines::dramhit_tuples
