// SPDX-License-Identifier: Apache-2.0
// The paper's Put, Upsert and Delete as one read-modify-write (section 3, Operations and Atomicity), of either layout. A search
// comes first. Then comes one 16-byte compare-and-swap for words, or the two swaps between which the value of a tuple is written.
// Visitors of tuples run on a copy of the value; what they want is carried out if the version is still the copy's.
#pragma once

#include <cubby/detail/engines/dramhit/find.hpp>
#include <cubby/detail/engines/dramhit/side.hpp>
#include <cubby/detail/engines/dramhit/write_tuple.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

// The steps of a change in slots of words.

/// Carries out a decision about the live entry in `s`; false: another thread was faster.
template <slot_policy Policy>
CUBBY_ALWAYS_INLINE bool carry_out(table<Policy>& t, const thread_record& who, slot& s, std::uint64_t word,
                                   std::uint64_t value, const decision& wanted) noexcept {
  if (wanted.what == action::keep || (wanted.what == action::replace && wanted.word == value)) return true;
  // Linearization point of an assign and of an erase; an erased slot keeps its value for readers (J3).
  // [entry] acq_rel: pairs with [look], [look-value]
  const sync::two_words after =
      wanted.what == action::replace ? sync::two_words{word, wanted.word} : sync::two_words{dead, value};
  if (!s.compare_exchange({word, value}, after)) return false;
  if (wanted.what == action::erase) count_erase(t, who.id());
  maintenance(t);
  return true;
}

/// What became of a change that looked at one line of the chain.
enum class in_line : std::uint8_t { done, contended, further, end };

/// The entry is its own words, and the line is of its chain.
template <class Policy, class F>
CUBBY_ALWAYS_INLINE in_line mutate_in_line(table<Policy>& t, const thread_record& who, slot* line, std::uint64_t word,
                                           F& f, mutated& out) {
  // [look] acquire: pairs with [entry]
  const std::uint64_t last = line[slots_in_line - 1].first.load(sync::acquire);
  const unsigned number = number_in_line(line, word, last);
  if (number >= slots_in_line) return last == empty ? in_line::end : in_line::further;
  // [look-value] acquire: pairs with [entry]
  const std::uint64_t value = line[number].second.load(sync::acquire);
  const decision wanted = f(value);
  out = {true, wanted.what, value};
  return carry_out(t, who, line[number], word, value, wanted) ? in_line::done : in_line::contended;
}
/// It lies in its home line, as most entries do, so no search is needed.
template <class Policy, class F>
CUBBY_ALWAYS_INLINE bool mutate_at_home(table<Policy>& t, const thread_record& who, const word_probe& p, F& f,
                                        mutated& out) {
  return !is_reserved(p.word) &&
         mutate_in_line(t, who, home_line<Policy>(*first_array(t), p.hash), p.word, f, out) == in_line::done;
}

/// Searches one array for an entry that shall change, and copies its value.
template <slot_policy Policy, class Probe>
CUBBY_ALWAYS_INLINE auto search_to_change(const table<Policy>& t, const word_array& a, const Probe& p,
                                          std::uint64_t& value) noexcept {
  const auto seen = search(a, chain_of<Policy>(a, p), stored_word(p.word),
                           [&](std::uint64_t found) { return t.policy.matches(p, found); });
  value = seen.contents.second;
  return seen;
}

/// Carries out a decision about the entry that a search has met; false: another thread was faster.
template <slot_policy Policy, class Probe>
CUBBY_ALWAYS_INLINE bool change(table<Policy>& t, const thread_record& who, word_array& a,
                                const seen_slot<word_layout>& seen, const Probe& p, std::uint64_t value,
                                const decision& wanted) noexcept {
  if (!carry_out(t, who, *seen.where, seen.contents.first, value, wanted)) return false;
  if (is_in_shared_side<Policy>(p) && wanted.what == action::erase) leave_side(a);
  return true;
}

// The same steps for tuples.

/// Takes the entry out. Linearization point of an erase.
template <tuple_policy Policy>
bool make_tombstone(table<Policy>& t, const thread_record& who, tuple<Policy>& s, std::uint64_t header) noexcept {
  // [mark-dead-tuple] release: pairs with [look-at-tuple]; a thread that misses the key sees what came before its erase
  // relaxed: a thread that is late looks again
  if (!s.header.compare_exchange(header, in_state(header, state::dead), sync::release, sync::relaxed)) return false;
  count_erase(t, who.id());
  return true;
}

template <tuple_policy Policy, class Probe>
CUBBY_ALWAYS_INLINE auto search_to_change(const table<Policy>&, const tuple_array<Policy>& a, const Probe& p,
                                          typename Policy::stored_value& value) noexcept {
  return search(a, p, &value); // with a value, so that inserts under way are passed by
}
template <tuple_policy Policy, class Probe>
CUBBY_ALWAYS_INLINE bool change(table<Policy>& t, const thread_record& who, tuple_array<Policy>& a,
                                const seen_slot<tuple_layout<Policy>>& seen, const Probe& p,
                                const typename Policy::stored_value& value,
                                const decision_as<typename Policy::stored_value>& wanted) noexcept {
  if (wanted.what == action::keep) return true;
  if (wanted.what == action::erase) {
    if (!make_tombstone(t, who, *seen.where, seen.contents)) return false;
  } else if (wanted.word != value) {
    if (!overwrite(t, a, *seen.where, seen.contents, p, wanted.word)) return false;
  }
  maintenance(t);
  return true;
}

/// J6, T6: for a thread that is about to change an entry of `a`, and has not met it in the array where its search began. After its
/// look at an older array, an insert may still have taken a free slot there, and the entry may be moving from there. Entries move
/// only from the root. So a thread that has met the entry reads as the root the array from which the entry came, or a later one. It
/// is enough to look there; a pin may keep any number of older arrays.
template <class Policy, class Probe>
CUBBY_NEVER_INLINE void wait_for_older_slot(const table<Policy>& t, const array<layout_of<Policy>>& root,
                                            const array<layout_of<Policy>>& a, const Probe& p) noexcept {
  if (&root == &a) return;
  value_in<Policy> unused;
  const auto seen = search_to_change(t, root, p, unused);
  if (seen.how == stop::carried) wait_for_move(*seen.where);
}

/// Finds the entry, asks `f(value)`, and carries out its decision if the value is still that one; else asks again. Waits while its
/// own key is being moved, and, of tuples, while this entry is being written.
template <class Policy, class Probe, class F>
mutated_as<value_in<Policy>> mutate(table<Policy>& t, const thread_record& who, const Probe& p, F& f) {
  if constexpr (in_words_alone<Policy>) {
    if (mutated out; mutate_at_home(t, who, p, f, out)) return out;
  }
  value_in<Policy> value;
  auto* const first = first_array(t);
  for (auto* a = first; a != nullptr;) {
    const auto seen = search_to_change(t, *a, p, value);
    if (seen.how == stop::carried) {
      wait_for_move(*seen.where);
      a = next_array(*a);
      continue;
    }
    if (seen.how != stop::hit) {
      a = beyond(*a, seen); // linearization point of a miss: see find.hpp
      continue;
    }
    if (a != first) [[unlikely]]
      wait_for_older_slot(t, *first_array(t), *a, p);
    const decision_as<value_in<Policy>> wanted = f(value);
    if (!change(t, who, *a, seen, p, value, wanted)) continue;
    return {true, wanted.what, value};
  }
  return {};
}

} // namespace cubby::inline v0::detail::engines::dramhit
