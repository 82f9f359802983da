// SPDX-License-Identifier: Apache-2.0
// How a level segment splits (sections 3.2 and 3.3.3), or is rewritten without tombstones. The paper locks a level segment for a
// split, and others wait. Here a split is installed in the segment, and each thread that meets it helps. Slots are marked and copied by
// compare-and-swaps that any thread may repeat (S4), and one store makes the children visible. So no thread waits for another one.
#pragma once

#include <cubby/detail/engines/seph/structure.hpp>

namespace cubby::inline v0::detail::engines::seph {

CUBBY_ALWAYS_INLINE reorganisation* work_of(std::uint64_t next) noexcept {
  return std::bit_cast<reorganisation*>(next & ~std::uint64_t{7});
}

/// Marks a slot, and returns its word.
inline std::uint64_t freeze(slot& at) noexcept {
  // [slot] acquire: pairs with [put-slot], and with [put-mark]
  std::uint64_t word = at.load(sync::acquire);
  while (!slot_word::is_marked(word)) {
    // [put-mark] acq_rel: pairs with [slot]
    // [slot] acquire: pairs with [put-slot], and with [put-mark]
    if (at.compare_exchange(word, word | slot_word::mark, sync::acq_rel, sync::acquire)) word |= slot_word::mark;
  }
  return word;
}
/// The same for what is copied, or shown at one point in time (S6).
template <class Policy> std::uint64_t freeze_whole(const table<Policy>& t, slot& at) noexcept {
  std::uint64_t word = freeze(at);
  if constexpr (durable<Policy>) {
    while ((word & slot_word::dirty) != 0) {
      complete(t, at, word);
      word = at.load(sync::relaxed); // relaxed: this thread has completed it, or has seen that another one has
    }
  }
  return word;
}
/// Writes the copy of a marked slot, unless another thread has done so. What is there then is this copy, or what came after it (S4).
inline void put_copy(slot& at, std::uint64_t word) noexcept {
  std::uint64_t empty = 0;
  // [put-slot] release: pairs with [slot]
  // relaxed: a failed attempt reads nothing
  (void)at.compare_exchange(empty, word, sync::release, sync::relaxed);
}

/// A bucket that a reorganisation fills from marked slots alone, so that each thread that does so puts the same item in the same slot (S4).
template <class Policy> struct new_bucket {
  slot* bucket = nullptr;
  std::uint32_t used = 0;
  /// `bits`: as in slot_order. The first slot in the order of the key that is not used yet.
  void put(std::uint64_t word, unsigned bits) noexcept {
    const slot_order<Policy> order(bucket, bits);
    unsigned i = 0;
    while ((used >> order.number(i) & 1) != 0) ++i;
    used |= std::uint32_t{1} << order.number(i);
    put_copy(order[i], word);
  }
};

/// Where the entries of a lower bucket go: four buckets, by the two bits of the hash behind those that it knows.
template <class Policy> struct split_targets {
  new_bucket<Policy> at[4];
  split_targets(const table<Policy>& t, const reorganisation& r, std::uint64_t bucket) noexcept {
    for (std::uint64_t i = 0; i < 4; ++i) {
      const std::uint64_t path = bucket << 2 | i; // bits + 2 bits: the half, and then the bucket in it
      at[i].bucket = r.target[path >> t.bits] + (path & (buckets_of_half(t) - 1)) * table<Policy>::slots_a_bucket;
    }
  }
};

/// Copies a marked item of a lower bucket to its new bucket, with the foreseer (section 3.2.2). It reads the item only where the
/// foreseer has too few bits: two for the bucket, two for the part with which the key begins there.
template <class Policy>
void split_slot(table<Policy>& t, reorganisation& r, std::uint64_t word, split_targets<Policy>& to) noexcept {
  const unsigned known = known_bits(t, r.from[0]->level);
  const unsigned from = window(known) - ((word & slot_word::stale) != 0 ? window_step : 0);
  const unsigned after = window(known + 2);
  const std::uint64_t pointer = slot_word::pointer(word);
  std::uint64_t foreseer = word >> slot_word::foreseer_shift;
  unsigned which = 0;
  unsigned part = 0;
  bool stale = after != from;
  if (foresees(from, known + 2) && after - from <= window_step) [[likely]] {
    which = next_two_bits(foreseer, from, known);
    part = next_two_bits(foreseer, from, known + 2);
  } else {
    const std::uint64_t hash = hash_at(t.policy, pointer);
    which = two_bits(hash, known);
    part = two_bits(hash, known + 2);
    foreseer = foreseer_of(hash, after);
    stale = false;
    t.dereferenced.fetch_add(1, sync::relaxed); // relaxed: statistics
  }
  // relaxed: a hint, and `publish` releases it
  if (stale) r.stale.store(1, sync::relaxed);
  to.at[which].put(slot_word::make(pointer, foreseer) | (stale ? slot_word::stale : 0), part);
}
/// The two bits of the hash of a marked item behind those that the position in its half tells.
template <class Policy>
unsigned next_bits_of(const table<Policy>& t, std::uint64_t word, unsigned known) noexcept {
  const unsigned from = window(known) - ((word & slot_word::stale) != 0 ? window_step : 0);
  if (foresees(from, known)) return next_two_bits(word >> slot_word::foreseer_shift, from, known);
  return two_bits(hash_at(t.policy, slot_word::pointer(word)), known);
}

/// Prefetches the lines of a bucket that compare-and-swaps will change. One of these on a line that no cache has waits for memory, and so do those
/// behind it.
template <class Policy> void prefetch_to_write(const slot* bucket) noexcept {
  for (unsigned i = 0; i < table<Policy>::slots_a_bucket; i += slots::most_a_part) prefetch_line_to_write(bucket + i);
}
/// Marks all slots of a bucket, and copies its items. Returns their number.
template <class Policy> std::uint64_t move_bucket(table<Policy>& t, reorganisation& r, std::uint64_t number) noexcept {
  constexpr unsigned slots = table<Policy>::slots_a_bucket;
  const std::uint64_t half = number >> t.bits;
  const std::uint64_t bucket = number & (buckets_of_half(t) - 1);
  slot* const from = r.source[half] + bucket * slots;
  std::uint64_t words[slots];
  std::uint64_t count = 0;
  if (bucket + 1 < buckets_of_half(t)) prefetch_to_write<Policy>(from + slots);
  if (r.kind == kind_of_work::split) {
    split_targets<Policy> to(t, r, bucket);
    for (const auto& one : to.at) prefetch_to_write<Policy>(one.bucket);
    for (unsigned i = 0; i < slots; ++i) words[i] = freeze_whole(t, from[i]);
    for (const std::uint64_t word : words) {
      if (!shows_item<Policy>(word)) continue;
      split_slot(t, r, word, to);
      ++count;
    }
    return count;
  }
  const unsigned known = known_bits(t, r.level + (half == 0 ? 0 : 1));
  new_bucket<Policy> to{r.target[half] + bucket * slots};
  prefetch_to_write<Policy>(to.bucket);
  for (unsigned i = 0; i < slots; ++i) words[i] = freeze_whole(t, from[i]);
  for (const std::uint64_t word : words) {
    if (!shows_item<Policy>(word)) continue;
    to.put(word & ~(slot_word::mark | slot_word::dirty), next_bits_of(t, word, known));
    ++count;
  }
  return count;
}

/// Makes the children visible. Any thread, when all buckets are moved. True for the one that has done it.
inline bool publish(reorganisation& r, std::uint64_t installed) noexcept {
  level_segment& x = *r.from[0];
  for (unsigned i = 0; i < 2; ++i) {
    level_segment* none = nullptr;
    // [put-child] release: pairs with [child]
    // relaxed: a failed attempt reads nothing
    (void)x.child[i].compare_exchange(none, r.to[r.kind == kind_of_work::split ? i : 0], sync::release, sync::relaxed);
  }
  // No entry changes here, so this is no linearization point. From here on the children take changes.
  // [publish-children] acq_rel: pairs with [next]
  // relaxed: a failed attempt reads nothing
  return x.next.compare_exchange(installed, installed | next_word::done, sync::acq_rel, sync::relaxed);
}

/// Does what is left of a reorganisation, beside other threads that do the same. Afterwards the segment is done.
template <class Policy> void help(table<Policy>& t, reorganisation& r) noexcept {
  const std::uint64_t installed = std::bit_cast<std::uint64_t>(&r);
  const auto move = [&](std::uint64_t number) {
    const std::uint64_t count = move_bucket(t, r, number);
    // [bucket-moved] release: pairs with [read-moved]
    if (r.moved[number].exchange(1, sync::release) == 0 && r.kind == kind_of_work::split)
      t.moved.fetch_add(count, sync::relaxed); // relaxed: statistics
  };
  // relaxed: shares out numbers
  for (std::uint64_t n = 0; (n = r.cursor.fetch_add(1, sync::relaxed)) < r.buckets;) move(n);
  // what others have taken and not ended
  for (std::uint64_t n = 0; n < r.buckets; ++n) {
    // [read-moved] acquire: pairs with [bucket-moved]
    if (r.moved[n].load(sync::acquire) == 0) move(n);
  }
  if (publish(r, installed)) after_reorganisation(t, r);
}

/// How many used slots of a level segment are dead.
struct dead_slots {
  std::uint64_t used = 0;
  std::uint64_t dead = 0;
  std::uint64_t here = 0; ///< dead ones of the two candidate buckets: without them writing it anew would make no space
  std::uint64_t live_elsewhere = 0; ///< in the other buckets
};
template <class Policy>
dead_slots count_dead(const table<Policy>& t, const level_segment& x, std::uint64_t hash) noexcept {
  dead_slots out;
  const auto count = [&](const slot* from, std::uint64_t slots) {
    for (std::uint64_t i = 0; i < slots; ++i) {
      const std::uint64_t word = from[i].load(sync::relaxed); // relaxed: an estimate
      if (slot_word::is_empty(word)) continue;
      ++out.used;
      if (!shows_item<Policy>(word)) ++out.dead;
    }
  };
  constexpr std::uint64_t slots = table<Policy>::slots_a_bucket;
  count(lower_bucket(t, x, hash).bucket, slots);
  count(higher_bucket(t, x, hash).bucket, slots);
  const dead_slots both = out;
  out.here = out.dead;
  out.used = out.dead = 0;
  for (const slot* const half : {x.lower, x.higher[0], x.higher[1]}) count(half, slots << t.bits);
  const std::uint64_t live = out.used - out.dead;
  const std::uint64_t live_here = both.used - both.dead;
  out.live_elsewhere = live < live_here ? 0 : live - live_here; // others change it between the two counts
  return out;
}

template <class Policy> void take_over_level(const table<Policy>& t, level_segment& out, const level_segment& x,
                                             unsigned more, std::uint64_t bit) noexcept {
  set_level(t, out, x.level + more);
  out.prefix = x.prefix;
  if (more != 0) out.prefix |= bit << (hash_bits - 1 - x.level);
}
/// A reorganisation of `x`, with its space, that nobody sees yet. Null: no memory.
template <class Policy>
reorganisation* make_reorganisation(table<Policy>& t, level_segment& x, kind_of_work kind) noexcept {
  auto* const r = new (std::nothrow) reorganisation;
  if (r == nullptr) return nullptr;
  const bool splits = kind == kind_of_work::split;
  r->kind = kind;
  r->prefix = x.prefix;
  r->level = x.level;
  r->from[0] = &x;
  r->targets = splits ? 4 : 3;
  for (unsigned i = 0; i < (splits ? 2U : 1U); ++i) r->to[i] = new (std::nothrow) level_segment;
  if (r->to[0] == nullptr || (splits && r->to[1] == nullptr) || !t.halves.take(r->target, r->targets)) {
    delete r->to[0];
    delete r->to[1];
    delete r;
    return nullptr;
  }
  r->source[0] = x.lower;
  r->sources = 1;
  if (splits) {
    for (unsigned i = 0; i < 2; ++i) {
      level_segment& to = *r->to[i];
      take_over_level(t, to, x, 1, i);
      to.lower = x.higher[i];
      for (unsigned k = 0; k < 2; ++k) to.higher[k] = r->target[2 * i + k];
    }
  } else {
    for (unsigned i = 0; i < 2; ++i) r->source[r->sources++] = x.higher[i];
    take_over_level(t, *r->to[0], x, 0, 0);
    r->to[0]->lower = r->target[0];
    for (unsigned i = 0; i < 2; ++i) r->to[0]->higher[i] = r->target[1 + i];
    r->to[0]->stale.store(x.stale.load(sync::relaxed), sync::relaxed); // relaxed: a hint
  }
  r->buckets = r->sources * buckets_of_half(t);
  return r;
}
template <class Policy> void drop_reorganisation(table<Policy>& t, reorganisation* r) noexcept {
  for (unsigned i = 0; i < r->targets; ++i) t.halves.give(r->target[i]);
  delete r->to[0];
  delete r->to[1];
  delete r;
}

enum class progress : std::uint8_t { done, crowded, no_memory };

/// Ends what happens to a level segment, so that the caller can look for the hash again. It waits only where a snapshot or a merge
/// holds the segment.
template <class Policy> void resolve(table<Policy>& t, level_segment& x, sync::backoff& wait) noexcept {
  // [next] acquire: pairs with [install], with [publish-children], and with [end-hold]
  const std::uint64_t next = x.next.load(sync::acquire);
  if (next_word::is_done(next)) return;
  if (next == next_word::held) wait.pause();
  else if (next != next_word::leaf) help(t, *work_of(next));
}

/// A leaf may be at most this many levels deeper than in a balanced tree. With a hash that spreads keys it never is. Keys that agree in their
/// first bits are refused there (SECURITY.md), because each level costs three halves. A dense leaf is exempt: its entries are worth the memory,
/// and it may be deep because the rest of the table was erased and merged.
inline constexpr unsigned most_levels_deeper = 5;
template <class Policy> bool is_too_deep(const table<Policy>& t, const level_segment& x, bool dense) noexcept {
  // relaxed: a recent number
  const auto usual = static_cast<unsigned>(std::bit_width(t.leaves.load(sync::relaxed)));
  return (x.level >= usual + most_levels_deeper && !dense && !is_recovering(t)) ||
         known_bits(t, x.level + 2) > most_known;
}
/// Whether entries have three eighths of the slots, those of the two full buckets aside. Segments of a growing table split above that.
template <class Policy> bool is_dense(const table<Policy>& t, const dead_slots& d) noexcept {
  constexpr std::uint64_t here = 2 * table<Policy>::slots_a_bucket;
  return d.live_elsewhere * 8 >= (slots_of_segment(t) - here) * 3;
}

/// Reorganises a leaf, together with others that do the same. `crowded`: a split would not tell its entries apart.
template <class Policy>
progress reorganise(table<Policy>& t, level_segment& x, kind_of_work kind, bool dense = false) noexcept {
  if (kind == kind_of_work::split && is_too_deep(t, x, dense)) return progress::crowded;
  // [next] acquire: pairs with [install], with [publish-children], and with [end-hold]
  std::uint64_t next = x.next.load(sync::acquire);
  if (next == next_word::leaf) {
    reorganisation* const made = make_reorganisation(t, x, kind);
    if (made == nullptr) return progress::no_memory;
    const auto word = std::bit_cast<std::uint64_t>(made);
    t.under_way.fetch_add(1, sync::relaxed); // relaxed: statistics
    // [install] acq_rel: pairs with [next]
    // [next] acquire: pairs with [install], with [publish-children], and with [end-hold]
    if (x.next.compare_exchange(next, word, sync::acq_rel, sync::acquire)) {
      help(t, *made);
      return progress::done;
    }
    t.under_way.fetch_add(~std::uint64_t{0}, sync::relaxed); // relaxed: as above
    drop_reorganisation(t, made);
  }
  sync::backoff wait;
  resolve(t, x, wait);
  return progress::done;
}

/// Makes space for an insert that found both candidate buckets full. It writes the segment anew where that makes more space than a split
/// needs: at least half of it is dead, and a quarter of a bucket here. A `fixed` table keeps its size while there is a dead slot.
template <class Policy> progress make_space(table<Policy>& t, level_segment& x, std::uint64_t hash) noexcept {
  const dead_slots d = count_dead(t, x, hash);
  const bool much = d.here > table<Policy>::slots_a_bucket / 4 && d.dead * 2 >= d.used;
  if (much || (d.here != 0 && t.settings.growth == growth_policy::fixed))
    return reorganise(t, x, kind_of_work::rewrite);
  const progress made = reorganise(t, x, kind_of_work::split, is_dense(t, d));
  if (made != progress::crowded || d.here == 0) return made;
  return reorganise(t, x, kind_of_work::rewrite);
}

} // namespace cubby::inline v0::detail::engines::seph
