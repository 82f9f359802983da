// SPDX-License-Identifier: Apache-2.0
// The engine's part of a pipeline (section 3.1). A pending request goes from line to line; each line is prefetched one turn before it
// is read. When the deciding line is in the cache, the verb runs as usual and reads only prefetched lines
// (tests/counting/prefetches.cpp counts them). Exceptions: lines behind the sixteenth, reserved words, and, while the table moves,
// lines that are neither the beginning of a chain nor read by a find of records in one array. Entries of words are found and
// changed in the pending request itself, without a second search.
// Two requests of one key are independent: an insert whose chain continues in a second line runs after an erase that was submitted
// later and ended in its first line. Where the order matters, the caller waits for the first answer (cubby/pipeline.hpp).
#pragma once

#include <cubby/detail/engines/dramhit/find_tuple.hpp>
#include <cubby/detail/engines/dramhit/mutate.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

/// The state of a pending request. Valid inside the pin in which it was made.
template <class Layout> struct course {
  const array<Layout>* in = nullptr;
  typename Layout::slot* line = nullptr;
  std::uint32_t lines_left = 0; ///< lines that the request still prefetches; longer chains are rare
  bool record_asked = false;
  bool in_next = false; ///< a find: `line` belongs to the array behind `in`; a change: `in` is not its first array
};
inline constexpr std::uint32_t longest_course = 16;

/// The result of a turn: the request may be carried out (ready), or it has prefetched something and needs another turn (again).
enum class turn : std::uint8_t { ready, again };

template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE course<layout_of<Policy>> aim(const table<Policy>& t, const Probe& p) noexcept {
  const auto& a = *first_array(t);
  return {&a, home_line<Policy>(a, p.hash), longest_course, false, false};
}
/// Prefetches the first line of the request.
template <class Layout> CUBBY_ALWAYS_INLINE void ask(const course<Layout>& c) noexcept { prefetch_line(c.line); }

template <class Layout> CUBBY_ALWAYS_INLINE turn go_to_next_line(course<Layout>& c) noexcept {
  auto* const further = c.line + c.in->in_line;
  c.line = further == c.in->slots + c.in->slot_count() ? c.in->slots : further;
  prefetch_line(c.line);
  return turn::again;
}
/// Goes on after the end of the chain in this array.
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

/// Prefetches what the request needs next. If all is in the cache, the request is ready and its verb runs as usual.
template <slot_policy Policy, class Probe>
CUBBY_ALWAYS_INLINE turn advance(const Policy& policy, course<word_layout>& c, const Probe& p) noexcept {
  if (c.record_asked || --c.lines_left == 0 || is_reserved(p.word)) return turn::ready;
  if constexpr (!Policy::unique_words) {
    std::uint64_t value = 0;
    const lookup_step saw = look_at_words(c.line, p.word, value); // a hint; the verb searches again
    if (saw == lookup_step::hit) [[likely]]
      return turn::ready;
    return saw == lookup_step::further ? go_to_next_line(c) : go_to_next_array<Policy>(c, p);
  }
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < slots_in_line; ++i) {
    last = c.line[i].first.load(sync::relaxed); // relaxed: a hint; the verb searches again
    if (last != p.word) continue;
    prefetch_line(policy.record_of(c.line[i].second.load(sync::relaxed))); // relaxed: as above
    c.record_asked = true;
    return turn::again;
  }
  return last != empty ? go_to_next_line(c) : go_to_next_array<Policy>(c, p);
}

/// The same for tuples, by their tags. Behind a tuple of another key with the same tag, the verb reads lines without a prefetch.
template <tuple_policy Policy, class Probe>
CUBBY_ALWAYS_INLINE turn advance(const Policy&, course<tuple_layout<Policy>>& c, const Probe& p) noexcept {
  if (--c.lines_left == 0) return turn::ready;
  const line_hint saw = look_at_tags(c.line, tag_of_hash(p.hash));
  if (saw == line_hint::near) return turn::ready;
  return saw == line_hint::further ? go_to_next_line(c) : go_to_next_array<Policy>(c, p);
}

/// The next step of a find while the table moves, as in find_while_moving. It also prefetches the line behind, for the search that
/// follows if the next array does not answer.
template <class Policy>
CUBBY_NEVER_INLINE turn look_in_next_array(course<word_layout>& c, const word_array& next, const word_probe& p,
                                           lookup_step saw) noexcept {
  if (saw == lookup_step::further) (void)go_to_next_line(c);
  c.in_next = true;
  c.line = home_line<Policy>(next, p.hash);
  prefetch_line(c.line);
  return turn::again;
}

/// A find among entries of words. It is answered here, without a second search.
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

/// The next step of a find among tuples while the table moves, as in find_while_moving.
template <tuple_policy Policy, class Probe>
CUBBY_NEVER_INLINE turn look_in_next_array(course<tuple_layout<Policy>>& c, const tuple_array<Policy>& next,
                                           const Probe& p) noexcept {
  if (c.in_next || look_at_tags(c.line, tag_of_hash(p.hash)) == line_hint::near) return turn::ready;
  c.in_next = true;
  c.line = home_line<Policy>(next, p.hash);
  prefetch_line(c.line);
  return turn::again;
}
/// A find among tuples, after the deciding line was prefetched.
template <tuple_policy Policy, class Probe>
CUBBY_ALWAYS_INLINE turn find_along(const table<Policy>& t, course<tuple_layout<Policy>>& c, const Probe& p,
                                    found_as<typename Policy::stored_value>& out) noexcept {
  if (const auto* const next = next_array(*c.in)) [[unlikely]] {
    if (look_in_next_array<Policy>(c, *next, p) == turn::again) return turn::again;
  } else if (advance(t.policy, c, p) == turn::again) {
    return turn::again;
  }
  out = find(t, p);
  return turn::ready;
}

/// Changes the slot of the line that shows the key, as mutate does. For a key that no line of this array has shown, and after a failed
/// swap, mutate itself runs. Only in the array that was the root when the request began: an entry of a later array may change only
/// after its old slot has moved, and mutate waits for that.
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
