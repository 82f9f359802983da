// SPDX-License-Identifier: Apache-2.0
// What follows a reorganisation: directory entries and links lead past nodes that are done, and what was given up is retired. Right answers do
// not need this, so a thread that does not get the lock leaves its part to the one that has it. The directory doubles in small steps.
#pragma once

#include <cubby/detail/engines/seph/persist.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// Frees a reorganisation, and what it has given up. No thread uses it any more.
template <class Policy> void free_reorganisation(table<Policy>& t, reorganisation* gone) noexcept {
  for (unsigned i = 0; i < gone->sources; ++i) t.halves.give(gone->source[i]);
  if (gone->kind != kind_of_work::split) { // the node of a split stays, above its children
    delete gone->from[0];
    delete gone->from[1];
    delete gone->above;
  }
  delete gone;
}
/// Frees what no pin protects any more. Under the lock.
template <class Policy> void reclaim(table<Policy>& t) noexcept {
  if (t.retired == nullptr) return;
  const std::uint64_t oldest = t.home->oldest();
  for (reorganisation** from = &t.retired; *from != nullptr;) {
    reorganisation* const one = *from;
    if (oldest < one->retired_at) {
      from = &one->next;
      continue;
    }
    *from = one->next;
    --t.retired_count;
    free_reorganisation(t, one);
  }
}
/// Reclamation begins when an eighth of the leaves are retired reorganisations, within these bounds: the halves that wait are then a 24th of all.
/// Reading all thread records costs up to 16 us, so those that a guard keeps raise the next threshold by twice their number.
inline constexpr std::uint64_t retired_at_once = 16;
inline constexpr std::uint64_t most_retired_at_once = 256;
template <class Policy> void retire_reorganisation(table<Policy>& t, reorganisation& r) noexcept {
  r.retired_at = t.home->advance();
  r.next = t.retired;
  t.retired = &r;
  if (++t.retired_count < t.reclaim_at) return;
  reclaim(t);
  std::uint64_t more = t.leaves.load(sync::relaxed) / 8; // relaxed: a recent number
  if (more < retired_at_once) more = retired_at_once;
  t.reclaim_at = 2 * t.retired_count + (more < most_retired_at_once ? more : most_retired_at_once);
}

/// The node below `x` to which an entry of `bits` bits should lead.
inline level_segment* past_done(level_segment* x, std::uint64_t hash, unsigned bits) noexcept {
  // [next] acquire: pairs with [publish-children]
  while (next_word::is_done(x->next.load(sync::acquire))) {
    // [child] acquire: pairs with [put-child]
    level_segment* const low = x->child[0].load(sync::acquire);
    // [child] acquire: pairs with [put-child]
    if (low == x->child[1].load(sync::acquire)) {
      x = low;
    } else {
      if (x->level >= bits) break; // the entry stands for both children
      x = child_for(*x, hash);
    }
  }
  return x;
}
/// Lets the entries for the hashes of a reorganisation lead past done nodes, in the first `filled` entries of a directory.
inline void follow(directory& d, std::uint64_t filled, const reorganisation& r) noexcept {
  const std::uint64_t first = first_bits(r.prefix, d.bits);
  const std::uint64_t count = r.level < d.bits ? std::uint64_t{1} << (d.bits - r.level) : 1;
  for (std::uint64_t i = first; i < first + count && i < filled; ++i) {
    directory::entry& at = d.entries[i];
    level_segment* const before = at.load(sync::relaxed); // relaxed: written under the lock
    level_segment* const now = past_done(before, i << (hash_bits - d.bits), d.bits);
    // [put-entry] release: pairs with [entry]
    if (now != before) at.store(now, sync::release);
  }
}
/// Lets the links above a node at `level` lead past nodes that were replaced, also past those whose own threads have not come so far. Under
/// the lock.
template <class Policy> void shorten_path(table<Policy>& t, std::uint64_t hash, unsigned level) noexcept {
  directory::entry* at = &t.base[first_bits(hash, t.base_level)];
  for (;;) {
    level_segment& node = *at->load(sync::relaxed); // relaxed: links change under the lock, or before a node is done
    // [next] acquire: pairs with [publish-children]
    if (!next_word::is_done(node.next.load(sync::acquire))) return;
    level_segment* const low = node.child[0].load(sync::relaxed); // relaxed: as above
    if (low == node.child[1].load(sync::relaxed)) {               // relaxed: as above
      // [put-child] release: pairs with [child]
      at->store(low, sync::release);
    } else if (node.level >= level) {
      return;
    } else {
      at = &node.child[bit_at(hash, node.level)];
    }
  }
}

/// Under the lock. Links and entries lead past what a reorganisation has given up; then it is retired.
template <class Policy> void unlink(table<Policy>& t, reorganisation& r) noexcept {
  if (r.kind != kind_of_work::split) shorten_path(t, r.prefix, r.level);
  directory& d = *t.root.load(sync::relaxed); // relaxed: written under the lock
  follow(d, std::uint64_t{1} << d.bits, r);
  if (t.growing != nullptr) follow(*t.growing, t.copied, r);
  retire_reorganisation(t, r);
}

/// Entries that one step of a growing directory copies. Each reads a node, so 2,048 of them took 60 us and more.
inline constexpr std::uint64_t directory_step = 256;
/// One step towards a directory of twice the size, if leaves are crowded in this one. True: there is more to do. Under the lock.
template <class Policy> bool grow_directory(table<Policy>& t) noexcept {
  directory* const d = t.root.load(sync::relaxed); // relaxed: written under the lock
  const std::uint64_t size = std::uint64_t{1} << d->bits;
  if (t.growing == nullptr) {
    // relaxed: a recent number
    if (t.leaves.load(sync::relaxed) <= size) return false;
    t.growing = make_directory(d->bits + 1); // without memory the old one goes on
    t.copied = 0;
    if (t.growing == nullptr) return false;
  }
  for (std::uint64_t i = 0; i < directory_step && t.copied < 2 * size; ++i, ++t.copied) {
    level_segment* const node = d->entries[t.copied / 2].load(sync::relaxed); // relaxed: as above
    const unsigned bits = d->bits + 1;
    // relaxed: `root` releases it
    t.growing->entries[t.copied].store(past_done(node, t.copied << (hash_bits - bits), bits), sync::relaxed);
  }
  if (t.copied < 2 * size) return true;
  // [show-directory] seq_cst: pairs with [directory]
  t.root.store(t.growing, sync::seq_cst);
  t.growing = nullptr;
  const lock_scope alone(t.old_directories.lock);
  t.old_directories.add(*d);
  t.old_directories.release(release_slice);
  return true;
}

/// Under the lock: follows all reorganisations that have ended.
template <class Policy> void unlink_ended(table<Policy>& t) noexcept {
  // [take-ended] acquire: pairs with [add-ended]
  for (reorganisation* one = t.ended.exchange(nullptr, sync::acquire); one != nullptr;) {
    reorganisation* const next = one->next;
    unlink(t, *one);
    one = next;
  }
}
/// Does so unless another thread has the lock. That one looks once more after its unlock.
template <class Policy> void tidy(table<Policy>& t) noexcept {
  // [see-ended] seq_cst: pairs with [add-ended]; behind the unlock, or behind what this thread has added
  while (t.ended.load(sync::seq_cst) != nullptr) {
    if (!t.structure_lock.try_lock()) return;
    unlink_ended(t);
    (void)grow_directory(t);
    t.structure_lock.unlock();
  }
}
template <class Policy> void unlock_structure(table<Policy>& t) noexcept {
  unlink_ended(t);
  t.structure_lock.unlock();
  tidy(t);
}

/// By the thread that has made the children visible.
template <class Policy> void after_reorganisation(table<Policy>& t, reorganisation& r) noexcept {
  const bool splits = r.kind == kind_of_work::split;
  if (splits) t.leaves.fetch_add(1, sync::relaxed);              // relaxed, these: statistics
  (splits ? t.growths : t.rebuilds).fetch_add(1, sync::relaxed); // relaxed: as above
  t.under_way.fetch_add(~std::uint64_t{0}, sync::relaxed);       // relaxed: as above
  const bool stale = r.stale.load(sync::relaxed) != 0;           // relaxed: a hint
  if (stale) {
    for (level_segment* const to : r.to)
      if (to != nullptr) to->stale.store(1, sync::relaxed); // relaxed: as above
    t.stale.store(1, sync::relaxed);                        // relaxed: as above
  }
  reorganisation* first = t.ended.load(sync::relaxed); // relaxed: the exchange checks it
  do {
    r.next = first;
    // [add-ended] seq_cst: pairs with [take-ended], and with [see-ended]; before this thread looks at the lock
    // relaxed: a failed attempt reads only the pointer
  } while (!t.ended.compare_exchange(first, &r, sync::seq_cst, sync::relaxed));
  if (t.settings.growth == growth_policy::background && t.worker.notify()) return;
  tidy(t);
}

} // namespace cubby::inline v0::detail::engines::seph
