// SPDX-License-Identifier: Apache-2.0
// The paper's Put, Upsert and Delete as one read-modify-write (section 3, Operations and Atomicity): a search, then one 16-byte
// compare-and-swap.
#pragma once

#include <cubby/detail/engines/dramhit/find.hpp>
#include <cubby/detail/engines/dramhit/side.hpp>

namespace cubby::inline v0::engines::dramhit {

/// Carries out a decision about the live entry in `s`; false: somebody was faster.
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE bool carry_out(table<Policy, Threads>& t, const thread_record& who, slot<Threads>& s,
                                   std::uint64_t word, std::uint64_t value, const decision& wanted) noexcept {
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
template <class Policy, class Threads, class F>
CUBBY_ALWAYS_INLINE in_line mutate_in_line(table<Policy, Threads>& t, const thread_record& who, slot<Threads>* line,
                                           std::uint64_t word, F& f, mutated& out) {
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
/// It lies in its home line, as most do: no search.
template <class Policy, class Threads, class F>
CUBBY_ALWAYS_INLINE bool mutate_at_home(table<Policy, Threads>& t, const thread_record& who, const word_probe& p, F& f,
                                        mutated& out) {
  return !is_reserved(p.word) &&
         mutate_in_line(t, who, home_line<Policy>(*first_array(t), p.hash), p.word, f, out) == in_line::done;
}

/// J6: for a thread that is about to change an entry of `a` that it has not met where its search began. Behind its look at an
/// array an insert may still have taken the free slot that it had read before, and the entry may be on its way from there.
/// Only the root is moved from: who has met the entry reads as the root the array that it came from, or a later one when that
/// is done with. So it is enough to look there; of older arrays a pin may keep any number.
template <class Policy, class Threads, class Probe>
CUBBY_NEVER_INLINE void wait_for_older_place(const Policy& policy, const array<Threads>& root, const array<Threads>& a,
                                             const Probe& p, std::uint64_t word) noexcept {
  if (&root == &a) return;
  const auto seen =
      search(root, chain_of<Policy>(root, p), word, [&](std::uint64_t found) { return policy.matches(p, found); });
  if (seen.how == stop::carried) wait_for_move(*seen.where);
}

/// Finds the entry, asks `f(value_word)`, and carries out its decision if the word is still there; else asks again.
/// Waits only while its own key is being moved.
template <class Policy, class Threads, class Probe, class F>
mutated mutate(table<Policy, Threads>& t, const thread_record& who, const Probe& p, F& f) {
  if constexpr (!Policy::unique_words) {
    if (mutated out; mutate_at_home(t, who, p, f, out)) return out;
  }
  const std::uint64_t word = stored_word(p.word);
  array<Threads>* const first = first_array(t);
  for (array<Threads>* a = first; a != nullptr;) {
    const auto seen =
        search(*a, chain_of<Policy>(*a, p), word, [&](std::uint64_t found) { return t.policy.matches(p, found); });
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
      wait_for_older_place(t.policy, *first_array(t), *a, p, word);
    const decision wanted = f(seen.value);
    if (!carry_out(t, who, *seen.where, word, seen.value, wanted)) continue;
    if (is_in_shared_side<Policy>(p) && wanted.what == action::erase) leave_side(*a);
    return {true, wanted.what, seen.value};
  }
  return {};
}

} // namespace cubby::inline v0::engines::dramhit
