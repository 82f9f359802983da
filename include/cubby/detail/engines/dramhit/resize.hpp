// SPDX-License-Identifier: Apache-2.0
// Growing, shrinking and rebuilding, which the paper leaves to "GrowT-like" schemes. Nobody is stopped: slots move one by
// one to the next array, each in two steps, moving and moved; the empty ones are sealed. Here: how large an array is, and
// how a slot moves. arrays.hpp has when the next one comes; core/generations.hpp, how the old one goes.
#pragma once

#include <cubby/detail/engines/dramhit/side.hpp>

namespace cubby::inline v0::engines::dramhit {

/// No array is smaller, so that a few threads that overlook each other's inserts do not fill one up.
inline constexpr std::uint64_t fewest_lines = 16;
/// Side lines for keys with reserved words in record mode: one in so many; more when more such keys are there.
inline constexpr std::uint64_t lines_a_side_line = 64;

/// With half of its slots kept for what is due (J5).
template <class Policy> constexpr std::uint64_t side_lines_for(std::uint64_t lines, std::uint64_t due) noexcept {
  if (!Policy::unique_words) return 1;
  const std::uint64_t share = lines / lines_a_side_line;
  return 1 + (share < due / 2 ? due / 2 : share);
}

/// An array with every slot empty, or null when there is no memory.
template <class Policy, class Threads>
array<Threads>* make_array(std::uint64_t lines, std::uint64_t side_due = 0) noexcept {
  using cell = sync::word<std::uint64_t, Threads>;
  if (lines > arrays::most_lines) return nullptr;
  auto* const made = new (std::nothrow) array<Threads>;
  if (made == nullptr) return nullptr;
  made->lines = lines;
  made->side_lines = side_lines_for<Policy>(lines, side_due);
  made->side_due = side_due;
  const std::uint64_t slot_bytes = made->all_slots() * sizeof(slot<Threads>);
  made->pages = memory::allocate(slot_bytes + made->units() * sizeof(cell));
  if (made->pages.address == nullptr) {
    delete made;
    return nullptr;
  }
  // Zero bytes are empty slots, so the mapping is used as it comes.
  made->slots = reinterpret_cast<slot<Threads>*>(made->pages.address);
  made->cells = reinterpret_cast<cell*>(made->pages.address + slot_bytes);
  return made;
}

/// Lines in which `entries` take three slots of four: the paper's larger load, 1.1 lines a find.
inline std::uint64_t lines_for(std::uint64_t entries) noexcept {
  const std::uint64_t lines = entries / 3 + (entries % 3 != 0 ? 1 : 0);
  return lines < fewest_lines ? fewest_lines : lines;
}

template <class Policy, class Threads>
std::uint64_t lines_for(const table<Policy, Threads>&, std::uint64_t entries) noexcept {
  return lines_for(entries);
}

/// An array to follow `a`, which sends it no more side keys from now on than it has space for; null: no memory.
template <class Policy, class Threads>
array<Threads>* make_successor(table<Policy, Threads>& t, array<Threads>& a, std::uint64_t lines) noexcept {
  array<Threads>* const made = make_array<Policy, Threads>(lines, close_side(t, a));
  if (made == nullptr) open_side<Policy>(a);
  return made;
}

/// How many slots of a chain's region the dead take.
template <class Policy, class Threads>
std::uint64_t dead_in(const table<Policy, Threads>& t, const array<Threads>& a, const chain<Threads>& c) noexcept {
  if (c.first == a.slots) return dead_slots(t, a);
  std::uint64_t gone = 0;
  for (std::uint64_t i = 0; i < c.count; ++i)
    gone += c.first[i].first.load(sync::relaxed) == dead ? 1U : 0U; // relaxed: a recent figure
  return gone;
}

/// Lines of the array after `a`: more when the live ones crowd it, as many when the dead ones do, or when it is the side
/// region that has too little space: that one grows by what is due there. 0: a `fixed` table is full.
template <class Policy, class Threads>
std::uint64_t lines_after(const table<Policy, Threads>& t, const array<Threads>& a, const chain<Threads>& c) noexcept {
  if (t.settings.growth == growth_policy::fixed) return dead_in(t, a, c) >= c.count / 16 + 1 ? a.lines : 0;
  return lines_by_load(t, a);
}

/// A live word into the first free slot of its chain, in `a` or further on. Nobody else can insert its key meanwhile:
/// everybody finds it where it comes from.
template <class Policy, class Threads>
void place(table<Policy, Threads>& t, array<Threads>* a, const word_probe& p, std::uint64_t value) noexcept {
  sync::backoff wait;
  const std::uint64_t word = stored_word(p.word);
  const bool in_side = is_in_shared_side<Policy>(p);
  while (true) {
    const auto seen = search(*a, chain_of<Policy>(*a, p), word, [](std::uint64_t) { return false; });
    if (seen.how == stop::end) {
      if (in_side) join_side(*a);
      // [entry] acq_rel: pairs with [look], [look-value]
      if (seen.where->compare_exchange({seen.key, seen.value}, {word, value})) return;
      if (in_side) leave_side(*a);
      continue;
    }
    array<Threads>* further = next_array(*a);
    if (further == nullptr) further = make_next(t, *a, a->lines * growth_factor(a->lines, t.settings));
    // Without memory: a slot has been kept for this word in the side region (J5), and in the main region by
    // is_reserved_for_moves, unless more inserts than its margin have overlooked each other. Then there is nothing but
    // to wait until memory comes.
    if (further == nullptr) wait.pause();
    else a = further;
  }
}

/// Moves the live word of `s`, or seals the slot if it is free.
template <class Policy, class Threads>
void move_slot(table<Policy, Threads>& t, array<Threads>& a, slot<Threads>& s, std::uint64_t unit) noexcept {
  const bool in_main = &s < a.slots + a.slot_count();
  for (;;) {
    // [look] acquire: pairs with [entry]
    const std::uint64_t seen = s.first.load(sync::acquire);
    const auto [key, value] = words_of(s, seen);
    if (key == dead && (in_main || Policy::unique_words)) return;
    if (key == moved || (key == empty && value == sealed_mark)) return;
    if (is_reserved(key)) { // empty, or dead in a slot of its own
      // [entry] acq_rel: pairs with [look], [look-value]
      if (s.compare_exchange({key, value}, closed(key, value))) return;
      continue;
    }
    // [carry] release: pairs with [carried]; what stood here told of a slot that is moved by now
    a.cells[unit].store(key, sync::release);
    // [entry] acq_rel: pairs with [look], [look-value]
    if (!s.compare_exchange({key, value}, {moving, value})) continue;
    const std::uint64_t asked = in_main ? key : key - reserved_words;
    place(t, next_array(a), word_probe{t.policy.hash_of(asked, value), asked}, value);
    // [moved-on] release: pairs with [look]
    s.first.store(moved, sync::release);
    return;
  }
}

/// Asks memory for the lines that a unit's words will move to.
template <class Policy, class Threads>
void prefetch_unit(const table<Policy, Threads>& t, const array<Threads>& a, std::uint64_t from,
                   std::uint64_t to) noexcept {
  const array<Threads>& next = *next_array(a);
  for (std::uint64_t i = from; i < to; ++i) {
    // relaxed: a hint, for entries that are their own words; a record may be gone by the time it is hashed
    const std::uint64_t key = a.slots[i].first.load(sync::relaxed);
    if constexpr (!Policy::unique_words) {
      if (!is_reserved(key)) prefetch_line(home_line<Policy>(next, t.policy.hash_of(key, 0)));
    }
  }
}

/// Moves the slots of these units, which nobody else moves.
template <class Policy, class Threads>
generations::moved_parts move_range(table<Policy, Threads>& t, array<Threads>& a,
                                    generations::unit_range units) noexcept {
  for (std::uint64_t unit = units.first; unit < units.last; ++unit) {
    const std::uint64_t from = unit * unit_slots;
    const std::uint64_t to = from + unit_slots < a.all_slots() ? from + unit_slots : a.all_slots();
    prefetch_unit(t, a, from, to);
    for (std::uint64_t i = from; i < to; ++i) move_slot(t, a, a.slots[i], unit);
  }
  return {.count = units.last - units.first};
}

} // namespace cubby::inline v0::engines::dramhit
