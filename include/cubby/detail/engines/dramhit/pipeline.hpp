// SPDX-License-Identifier: Apache-2.0
// The engine's part of a pipeline (section 3.1): a pending request is taken from line to line, each asked for one turn
// before it is read, until the line that decides it is here. Then its verb runs as any other and meets no line that was
// not asked for (tests/counting/prefetches.cpp counts them), but behind the sixteenth and for reserved words; while the table
// moves, that holds for lines where chains begin, and for finds of records in one array.
// Entries that are their own words are found and changed on the way, where the line shows them.
#pragma once

#include <cubby/detail/engines/dramhit/find_tuple.hpp>
#include <cubby/detail/engines/dramhit/mutate.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

/// Where a pending request stands. Good inside the pin in which it was made.
template <class Layout> struct course {
  const array<Layout>* in = nullptr;
  typename Layout::slot* line = nullptr;
  std::uint32_t lines_left = 0; ///< before the search gives up overlapping: chains that long are rare
  bool record_asked = false;
  bool in_next = false; ///< a find: `line` is of the array behind `in`; a change: `in` is not where it began
};
inline constexpr std::uint32_t longest_course = 16;

/// What a turn came to: the request may be carried out now, or has asked for something and wants another turn.
enum class turn : std::uint8_t { ready, again };

template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE course<layout_of<Policy>> aim(const table<Policy>& t, const Probe& p) noexcept {
  const auto& a = *first_array(t);
  return {&a, home_line<Policy>(a, p.hash), longest_course, false, false};
}
/// Asks memory for the line where it begins.
template <class Layout> CUBBY_ALWAYS_INLINE void ask(const course<Layout>& c) noexcept { prefetch_line(c.line); }

template <class Layout> CUBBY_ALWAYS_INLINE turn go_to_next_line(course<Layout>& c) noexcept {
  auto* const further = c.line + c.in->in_line;
  c.line = further == c.in->slots + c.in->slot_count() ? c.in->slots : further;
  prefetch_line(c.line);
  return turn::again;
}
/// The chain has ended in this array.
template <class Policy, class Layout, class Probe>
CUBBY_ALWAYS_INLINE turn go_to_next_array(course<Layout>& c, const Probe& p) noexcept {
  const auto* const next = next_array(*c.in);
  if (next == nullptr) [[likely]]
    return turn::ready;
  c.in = next;
  c.line = home_line<Policy>(*next, p.hash);
  prefetch_line(c.line);
  return turn::again;
}

/// What the request needs next is on its way, or here: then its verb runs as any other and finds it in the cache.
template <slot_policy Policy, class Probe>
CUBBY_ALWAYS_INLINE turn advance(const Policy& policy, course<word_layout>& c, const Probe& p) noexcept {
  if (c.record_asked || --c.lines_left == 0 || is_reserved(p.word)) return turn::ready;
  if constexpr (!Policy::unique_words) {
    std::uint64_t value = 0;
    const lookup_step saw = look_at_words(c.line, p.word, value); // a hint; the verb looks for itself
    if (saw == lookup_step::hit) [[likely]]
      return turn::ready;
    return saw == lookup_step::further ? go_to_next_line(c) : go_to_next_array<Policy>(c, p);
  }
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < slots_in_line; ++i) {
    last = c.line[i].first.load(sync::relaxed); // relaxed: a hint; the verb looks for itself
    if (last != p.word) continue;
    prefetch_line(policy.record_of(c.line[i].second.load(sync::relaxed))); // relaxed: as above
    c.record_asked = true;
    return turn::again;
  }
  return last != empty ? go_to_next_line(c) : go_to_next_array<Policy>(c, p);
}

/// The same for tuples: what the tags say. Behind a tuple of another key with the same tag the verb meets lines that were not asked
/// for.
template <tuple_policy Policy, class Probe>
CUBBY_ALWAYS_INLINE turn advance(const Policy&, course<tuple_layout<Policy>>& c, const Probe& p) noexcept {
  if (--c.lines_left == 0) return turn::ready;
  const line_hint saw = look_at_tags(c.line, tag_of_hash(p.hash));
  if (saw == line_hint::near) return turn::ready;
  return saw == line_hint::further ? go_to_next_line(c) : go_to_next_array<Policy>(c, p);
}

/// A find's next step while the table moves, as in find_while_moving: the line behind is for the search that follows
/// if the next array does not answer.
template <class Policy>
CUBBY_NEVER_INLINE turn look_in_next_array(course<word_layout>& c, const word_array& next, const word_probe& p,
                                           lookup_step saw) noexcept {
  if (saw == lookup_step::further) (void)go_to_next_line(c);
  c.in_next = true;
  c.line = home_line<Policy>(next, p.hash);
  prefetch_line(c.line);
  return turn::again;
}

/// A find among entries that are their own words: answered on the way, without a second search.
template <slot_policy Policy, class Probe>
CUBBY_ALWAYS_INLINE turn find_along(const table<Policy>& t, course<word_layout>& c, const Probe& p,
                                    found_word& out) noexcept {
  if (!is_reserved(p.word) && --c.lines_left != 0) [[likely]] {
    std::uint64_t value = 0;
    const lookup_step saw = look_at_words(c.line, p.word, value);
    if (saw == lookup_step::hit) [[likely]] {
      out = {true, value};
      return turn::ready;
    }
    if (!c.in_next) {
      if (const word_array* const next = next_array(*c.in)) [[unlikely]]
        return look_in_next_array<Policy>(c, *next, p, saw);
      if (saw == lookup_step::further) return go_to_next_line(c);
      out = {}; // linearization point of a miss: as in find_from
      return turn::ready;
    }
  }
  out = find_slowly(t.policy, c.in, p);
  return turn::ready;
}

/// A find among tuples, where the line that decides it has been asked for.
template <tuple_policy Policy, class Probe>
CUBBY_ALWAYS_INLINE turn find_along(const table<Policy>& t, course<tuple_layout<Policy>>& c, const Probe& p,
                                    found_as<typename Policy::stored_value>& out) noexcept {
  if (advance(t.policy, c, p) == turn::again) return turn::again;
  out = find(t, p);
  return turn::ready;
}

/// The slot of the line that shows the key is changed as mutate would, which is what is left for keys that no line of this
/// array has shown, or when somebody was faster. Only in the array that was the first when the request was aimed: an
/// entry of a later one may not change until its old slot is done with, for which mutate waits.
template <class Policy, class F>
CUBBY_ALWAYS_INLINE turn mutate_along(table<Policy>& t, const thread_record& who, course<word_layout>& c,
                                      const word_probe& p, F& f, mutated& out) {
  if (!is_reserved(p.word) && !c.in_next && --c.lines_left != 0) [[likely]] {
    const in_line how = mutate_in_line(t, who, c.line, p.word, f, out);
    if (how == in_line::done) [[likely]]
      return turn::ready;
    if (how == in_line::further) return go_to_next_line(c);
    if (how == in_line::end && go_to_next_array<Policy>(c, p) == turn::again) {
      c.in_next = true;
      return turn::again;
    }
  }
  out = mutate(t, who, p, f);
  return turn::ready;
}

} // namespace cubby::inline v0::detail::engines::dramhit
