// SPDX-License-Identifier: Apache-2.0
// Growth on request, and shrinking, which the paper does not have: the two level segments below a node merge into one. A merge holds both
// of them, so changes in them wait for it, while lookups go on. Splits go on everywhere else.
#pragma once

#include <cubby/detail/core/registry.hpp>
#include <cubby/detail/engines/seph/hold.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// Entries for each 100 slots, up to which a table made for them does not split (README.md, Load). In a `fixed` table entries come and go
/// for ever, so that crowded buckets come sooner or later.
inline constexpr std::uint64_t planned_load = 55;
inline constexpr std::uint64_t planned_load_fixed = 45;
inline constexpr unsigned most_base_level = 40;
/// The level at which so many entries fit without a split. Above `most_base_level`: no memory.
template <class Policy> unsigned level_for(const table<Policy>& t, std::uint64_t entries) noexcept {
  const std::uint64_t load = t.settings.growth == growth_policy::fixed ? planned_load_fixed : planned_load;
  const std::uint64_t each = slots_of_segment(t) * load / 100;
  unsigned level = 0;
  while (level <= most_base_level && entries > each << level) ++level;
  return level;
}

/// Splits all leaves above a level. False: no memory.
template <class Policy> bool split_down_to(table<Policy>& t, unsigned level) noexcept {
  for (std::uint64_t hash = 0;;) {
    level_segment& x = *leaf_of(t, hash);
    if (x.level < level) {
      if (reorganise(t, x, kind_of_work::split) != progress::done) return false;
      continue;
    }
    hash = x.prefix + (x.level == 0 ? 0 : std::uint64_t{1} << (hash_bits - x.level));
    if (hash == 0) return true;
  }
}
/// Splits level segments until so many entries fit: one level after the other, so that no leaf becomes too deep on the way. False: no memory.
/// Inside a guard.
template <class Policy> bool reserve(table<Policy>& t, std::uint64_t entries) noexcept {
  if (t.settings.growth == growth_policy::fixed && entries > t.settings.capacity) return false;
  const unsigned level = level_for(t, entries);
  if (level > most_base_level || !memory::can_hold((t.halves.half_bytes() * 3) << level)) return false;
  // relaxed: a recent number; down to that level no leaf is too deep
  const auto usual = static_cast<unsigned>(std::bit_width(t.leaves.load(sync::relaxed)));
  for (unsigned to = usual < level ? usual : level; to <= level; ++to)
    if (!split_down_to(t, to)) return false;
  return true;
}

/// The number of items in each bucket of a level segment that the caller holds; or an estimate, if it does not.
template <class Policy> std::uint64_t count_items(const slot* bucket) noexcept {
  std::uint64_t count = 0;
  for (unsigned i = 0; i < table<Policy>::slots_a_bucket; ++i)
    count += shows_item<Policy>(bucket[i].load(sync::relaxed)) ? 1U : 0U; // relaxed: held, or an estimate
  return count;
}
/// Whether the entries of two siblings fit in one level segment with as many slots left. A lower bucket of that takes the entries of four
/// higher buckets of one sibling; a higher one those of a lower one.
template <class Policy>
bool fit_in_one(const table<Policy>& t, const level_segment& left, const level_segment& right,
                unsigned spare) noexcept {
  constexpr std::uint64_t slots = table<Policy>::slots_a_bucket;
  const std::uint64_t most = slots / spare;
  const std::uint64_t buckets = buckets_of_half(t);
  for (std::uint64_t path = 0; path < buckets; ++path) { // a lower bucket of the merged segment
    std::uint64_t sum = 0;
    for (std::uint64_t below = 4 * path; below < 4 * path + 4; ++below) { // which sibling, which half, which bucket
      const level_segment& x = (below >> (t.bits + 1)) == 0 ? left : right;
      sum += count_items<Policy>(x.higher[(below >> t.bits) & 1] + (below & (buckets - 1)) * slots);
    }
    if (sum > most) return false;
  }
  for (const level_segment* const x : {&left, &right})
    for (std::uint64_t b = 0; b < buckets; ++b)
      if (count_items<Policy>(x->lower + b * slots) > most) return false;
  return true;
}

/// Puts an item in a half that nobody else sees: in the first empty slot in the order of its key.
template <class Policy>
void append(const table<Policy>& t, slot* half, unsigned depth, std::uint64_t hash, std::uint64_t pointer) noexcept {
  const slot_order<Policy> order = order_in(t, half, depth, hash);
  unsigned i = 0;
  // relaxed, both: not shared yet
  while (!slot_word::is_empty(order[i].load(sync::relaxed))) ++i;
  order[i].store(slot_word::make(pointer, foreseer_of(hash, window(known_bits(t, depth)))),
                 sync::relaxed); // relaxed: as above
}
/// Copies the items of a held sibling: its lower half becomes a half of the higher segment, and its higher segment goes to the lower half.
template <class Policy>
void copy_sibling(table<Policy>& t, const level_segment& x, const level_segment& to, unsigned which) noexcept {
  const auto copy = [&](const slot* from, slot* half, unsigned depth) {
    for (std::uint64_t i = 0; i < buckets_of_half(t) * table<Policy>::slots_a_bucket; ++i) {
      const std::uint64_t word = from[i].load(sync::relaxed); // relaxed: held
      if (!shows_item<Policy>(word)) continue;
      const std::uint64_t pointer = slot_word::pointer(word);
      append(t, half, depth, hash_at(t.policy, pointer), pointer);
    }
  };
  copy(x.lower, to.higher[which], to.level + 1);
  for (const slot* const half : x.higher) copy(half, to.lower, to.level);
}

/// Whether both children of a node are leaves that fit in one. `out` has them.
template <class Policy> bool can_merge(const table<Policy>& t, const level_segment& above, level_segment* (&out)[2],
                                       unsigned spare) noexcept {
  for (unsigned i = 0; i < 2; ++i) {
    // [child] acquire: pairs with [put-child]
    out[i] = above.child[i].load(sync::acquire);
    // [next] acquire: pairs with [publish-children]
    if (out[i]->next.load(sync::acquire) != next_word::leaf || out[i]->level != above.level + 1) return false;
  }
  return out[0] != out[1] && fit_in_one(t, *out[0], *out[1], spare);
}

/// A merge that nobody sees yet. Null: no memory.
template <class Policy>
reorganisation* make_merge(table<Policy>& t, level_segment& above, level_segment* const (&siblings)[2]) noexcept {
  auto* const r = new (std::nothrow) reorganisation;
  auto* const to = new (std::nothrow) level_segment;
  if (r == nullptr || to == nullptr || !t.halves.take(r->target, 3)) {
    delete r;
    delete to;
    return nullptr;
  }
  r->kind = kind_of_work::merge;
  r->prefix = above.prefix;
  r->level = above.level;
  r->above = &above;
  r->to[0] = to;
  r->targets = 3;
  take_over_level(t, *to, above, 0, 0);
  to->lower = r->target[0];
  for (unsigned i = 0; i < 2; ++i) {
    to->higher[i] = r->target[1 + i];
    r->from[i] = siblings[i];
    for (slot* const half : {siblings[i]->lower, siblings[i]->higher[0], siblings[i]->higher[1]})
      r->source[r->sources++] = half;
  }
  return r;
}

/// Merges the two leaves below a node, if they fit. Under the lock, with all paths shortened. False: they do not, or no memory.
template <class Policy> bool merge(table<Policy>& t, level_segment& above, unsigned spare) noexcept {
  level_segment* siblings[2] = {};
  if (!can_merge(t, above, siblings, spare)) return false;
  reorganisation* const r = make_merge(t, above, siblings);
  if (r == nullptr) return false;
  if (!hold(t, *siblings[0])) {
    drop_reorganisation(t, r);
    return false;
  }
  const bool both = hold(t, *siblings[1]);
  if (!both || !fit_in_one(t, *siblings[0], *siblings[1], 1)) {
    end_hold(t, *siblings[0]);
    if (both) end_hold(t, *siblings[1]);
    drop_reorganisation(t, r);
    return false;
  }
  for (unsigned i = 0; i < 2; ++i) copy_sibling(t, *siblings[i], *r->to[0], i);
  for (level_segment* const one : siblings) {
    // relaxed, both: `next` releases them
    for (auto& child : one->child) child.store(r->to[0], sync::relaxed);
    // [publish-children] release: pairs with [next]
    one->next.store(next_word::done, sync::release);
  }
  // The node is one that was replaced, from here on.
  // [put-child] release: pairs with [child]
  for (auto& child : above.child) child.store(r->to[0], sync::release);
  t.leaves.fetch_add(~std::uint64_t{0}, sync::relaxed); // relaxed, both: statistics
  t.shrinks.fetch_add(1, sync::relaxed);                // relaxed: as above
  unlink(t, *r);
  return true;
}

/// The node above the leaf of a hash, or null: the leaf is of the base. Under the lock.
template <class Policy> level_segment* node_above_leaf(const table<Policy>& t, std::uint64_t hash) noexcept {
  level_segment* above = nullptr;
  // relaxed: written under the lock
  level_segment* x = t.base[first_bits(hash, t.base_level)].load(sync::relaxed);
  // [next] acquire: pairs with [publish-children]
  while (next_word::is_done(x->next.load(sync::acquire))) {
    above = x;
    x = child_for(*x, hash);
  }
  return above;
}

/// Looks at the pair of leaves of a hash, and merges them if they fit. Returns the first hash behind what is there then. Under the lock.
template <class Policy>
std::uint64_t merge_at(table<Policy>& t, std::uint64_t hash, unsigned spare, bool& merged) noexcept {
  level_segment* const leaf = leaf_of(t, hash);
  unlink_ended(t);
  shorten_path(t, hash, leaf->level);
  level_segment* const above = node_above_leaf(t, hash);
  merged = above != nullptr && above->level >= t.base_level && merge(t, *above, spare);
  const level_segment& x = *leaf_of(t, hash);
  return x.prefix + (x.level == 0 ? 0 : std::uint64_t{1} << (hash_bits - x.level));
}

/// Merges each pair that fits with as many free slots as used ones. Inside a guard. True: it has merged one, so what has become of it may
/// merge again. What was given up can be used again when the guard has ended.
template <class Policy> bool shrink_once(table<Policy>& t) noexcept {
  t.structure_lock.lock();
  bool any = false;
  std::uint64_t hash = 0;
  do {
    bool merged = false;
    hash = merge_at(t, hash, 2, merged);
    any = any || merged;
  } while (hash != 0);
  unlock_structure(t);
  return any;
}

/// Automatic shrinking: every so many erases, one pair of a nearly empty table.
inline constexpr std::uint64_t erases_a_look = 16;
template <class Policy> CUBBY_OUTLINED void shrink_a_little(table<Policy>& t) noexcept {
  // relaxed: only how often
  if (t.erases.fetch_add(1, sync::relaxed) % erases_a_look != 0) return;
  // relaxed: a recent number
  if (live_entries(t) * 8 > t.leaves.load(sync::relaxed) * slots_of_segment(t) || !t.structure_lock.try_lock()) return;
  bool merged = false;
  t.merge_cursor = merge_at(t, t.merge_cursor, 4, merged);
  unlock_structure(t);
}

/// Merges while one helps. `collect()`, outside a guard, disposes of what the last one has retired.
template <class Policy, class Collect> void shrink_to_fit(table<Policy>& t, thread_record& who, Collect collect) {
  for (bool more = true; more; collect()) {
    const thread_pin stay(who);
    more = shrink_once(t);
  }
}

} // namespace cubby::inline v0::detail::engines::seph
