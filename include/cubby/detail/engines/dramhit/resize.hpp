// SPDX-License-Identifier: Apache-2.0
// Growing, shrinking and rebuilding, which the paper leaves to "GrowT-like" schemes. Here: how large an array is. arrays.hpp has
// when the next one comes; move.hpp and write_tuple.hpp, how a slot moves; core/generations.hpp, how the old array goes.
#pragma once

#include <cubby/detail/engines/dramhit/search.hpp>
#include <cubby/detail/engines/dramhit/side.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

/// Side lines for keys with reserved words in record mode: one in so many; more when more such keys are there.
inline constexpr std::uint64_t lines_a_side_line = 64;

/// With half of its slots kept for what is due (J5).
template <class Policy> constexpr std::uint64_t side_lines_for(std::uint64_t lines, std::uint64_t due) noexcept {
  if (tuple_policy<Policy>) return 0;
  if (in_words_alone<Policy>) return 1;
  const std::uint64_t share = lines / lines_a_side_line;
  return 1 + (share < due / 2 ? due / 2 : share);
}

/// An array with every slot empty; null without memory.
template <class Policy>
array<layout_of<Policy>>* make_array(std::uint64_t lines, std::uint64_t side_due = 0) noexcept {
  using made_type = array<layout_of<Policy>>;
  using cell = sync::word<std::uint64_t, sync::shared>;
  if (lines > arrays::most_lines) return nullptr;
  auto* const made = new (std::nothrow) made_type;
  if (made == nullptr) return nullptr;
  made->lines = lines;
  made->side_lines = side_lines_for<Policy>(lines, side_due);
  made->side_due = side_due;
  const std::uint64_t slot_bytes = made->all_slots() * sizeof(typename made_type::slot_type);
  const std::uint64_t cell_bytes = tuple_policy<Policy> ? 0 : made->units() * sizeof(cell);
  made->pages = memory::allocate(slot_bytes + cell_bytes);
  if (made->pages.address == nullptr) {
    delete made;
    return nullptr;
  }
  // Zero bytes are empty slots, so the mapping is used as it comes. The pages of a large array are mapped at their
  // first use.
  made->slots = reinterpret_cast<typename made_type::slot_type*>(made->pages.address);
  if constexpr (!tuple_policy<Policy>) made->cells = reinterpret_cast<cell*>(made->pages.address + slot_bytes);
  return made;
}

/// Lines in which `entries` take three slots of four: the paper's larger load, 1.1 lines a find. No array is smaller than
/// `fewest_slots`, so that a few concurrent inserts, which do not count each other, cannot fill it.
template <class Layout> constexpr std::uint64_t lines_for(std::uint64_t entries) noexcept {
  constexpr std::uint64_t in_line = array<Layout>::in_line;
  const std::uint64_t groups = entries / 3 + (entries % 3 != 0 ? 1 : 0);
  if (groups > arrays::most_lines) return arrays::most_lines + 1;
  const std::uint64_t slots = groups * 4;
  return (slots < Layout::fewest_slots ? Layout::fewest_slots : slots) / in_line;
}
template <class Policy>
std::uint64_t lines_for(const table<Policy>&, std::uint64_t entries) noexcept {
  return lines_for<layout_of<Policy>>(entries);
}

/// An array to follow `a`; null: no memory. Of words, `a` sends it no more side keys from now on than it has space for.
template <slot_policy Policy>
word_array* make_successor(table<Policy>& t, word_array& a, std::uint64_t lines) noexcept {
  word_array* const made = make_array<Policy>(lines, close_side(t, a));
  if (made == nullptr) open_side<Policy>(a);
  return made;
}
template <tuple_policy Policy>
tuple_array<Policy>* make_successor(table<Policy>&, tuple_array<Policy>&, std::uint64_t lines) noexcept {
  return make_array<Policy>(lines);
}

/// The region of `a` in which the key of `p` would live: its slots, and those that the dead take.
struct region_load {
  std::uint64_t slots;
  std::uint64_t dead;
};
template <class Policy, class Probe>
region_load load_of_region(const table<Policy>& t, const array<layout_of<Policy>>& a, const Probe& p) noexcept {
  if constexpr (!tuple_policy<Policy>) {
    if (!is_in_main_region(p)) {
      std::uint64_t gone = 0;
      const auto c = chain_of<Policy>(a, p);
      for (std::uint64_t i = 0; i < c.count; ++i)
        gone += c.first[i].first.load(sync::relaxed) == dead ? 1U : 0U; // relaxed: a recent figure
      return {c.count, gone};
    }
  }
  return {a.slot_count(), dead_slots(t, a)};
}

/// Lines of the array after `a`, for an insert of the key of `p`. There are more when the live entries crowd it, and as many
/// when the dead ones do. When the side region has too little space, that one grows by what is due there. 0: a `fixed` table is
/// full.
template <class Policy, class Probe>
std::uint64_t lines_after(const table<Policy>& t, const array<layout_of<Policy>>& a, const Probe& p) noexcept {
  if (t.settings.growth != growth_policy::fixed) return lines_by_load(t, a);
  const region_load load = load_of_region(t, a, p);
  return load.dead >= load.slots / 16 + 1 ? a.lines : 0;
}

} // namespace cubby::inline v0::detail::engines::dramhit
