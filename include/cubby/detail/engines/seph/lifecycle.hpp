// SPDX-License-Identifier: Apache-2.0
// How a table is made, and how it ends.
#pragma once

#include <cubby/detail/core/moved_table.hpp>
#include <cubby/detail/engines/seph/durable.hpp>
#include <cubby/detail/engines/seph/grow.hpp>
#include <cubby/detail/engines/seph/recover.hpp>
#include <cubby/detail/engines/seph/refresh.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// Puts the options within their limits. False: the capacity is too large.
inline options limited(options o) noexcept {
  if (o.segment_bits == 0) o.segment_bits = 1;
  if (o.segment_bits > most_segment_bits) o.segment_bits = most_segment_bits;
  return o;
}

/// A leaf of the base. Null: no memory.
template <class Policy> level_segment* make_base_leaf(table<Policy>& t, std::uint64_t number) noexcept {
  auto* const made = new (std::nothrow) level_segment;
  slot* halves[3];
  if (made == nullptr || !t.halves.take(halves, 3)) {
    delete made;
    return nullptr;
  }
  set_level(t, *made, t.base_level);
  made->prefix = t.base_level == 0 ? 0 : number << (hash_bits - t.base_level);
  made->lower = halves[0];
  for (unsigned i = 0; i < 2; ++i) made->higher[i] = halves[1 + i];
  return made;
}
template <class Policy> bool make_base(table<Policy>& t) noexcept {
  t.base_level = level_for(t, t.settings.capacity);
  if (t.base_level > most_base_level) return false;
  const std::uint64_t count = std::uint64_t{1} << t.base_level;
  if (!memory::can_hold(count * (3 * t.halves.half_bytes() + sizeof(level_segment)))) return false;
  if (!t.halves.prepare(3 * count)) return false;
  t.base = new (std::nothrow) directory::entry[count];
  directory* const d = make_directory(t.base_level == 0 ? 1 : t.base_level);
  t.root.store(d, sync::relaxed); // relaxed, all: the table is not shared yet
  if (t.base == nullptr || d == nullptr) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    level_segment* const leaf = make_base_leaf(t, i);
    if (leaf == nullptr) return false;
    t.base[i].store(leaf, sync::relaxed); // relaxed: as above
    for (std::uint64_t k = i * (std::uint64_t{1} << d->bits) / count;
         k < (i + 1) * (std::uint64_t{1} << d->bits) / count; ++k)
      d->entries[k].store(leaf, sync::relaxed); // relaxed: as above
  }
  t.leaves.store(count, sync::relaxed); // relaxed: as above
  return true;
}

/// Space for the entries that the file had when it was closed. False: no memory.
template <durable Policy> bool reserve_for_file(table<Policy>& t) noexcept {
  thread_record* const mine = registry::local(*t.home);
  if (mine == nullptr) return false;
  const pool& file = t.policy.home();
  // no more than the file has space for: it may say anything
  std::uint64_t entries = file.state().entries;
  if (entries > file.bytes() / sizeof(pool_layout::record_header))
    entries = file.bytes() / sizeof(pool_layout::record_header);
  const thread_pin stay(*mine);
  return t.settings.growth == growth_policy::fixed || reserve(t, entries);
}

/// Initializes a new table, or opens a durable one. False: no memory, no thread that is needed, or the file could not be written.
template <class Policy> bool open(table<Policy>& t) noexcept {
  if (!t.home || !make_base(t)) return false;
  const options& o = t.settings;
  if constexpr (durable<Policy>) {
    if (!reserve_for_file(t) || !recover(t) || !start_syncs(t)) return false;
  }
  const std::uint64_t used = live_entries(t);
  if (o.growth == growth_policy::fixed && !t.places.open(o.capacity, used)) return false;
  return o.growth != growth_policy::background || t.worker.start(background_work<Policy>, &t, t.home->forks);
}

/// Disposes of all entries below a node.
template <class Policy> void dispose_below(table<Policy>& t, level_segment* x) {
  // relaxed, all: no other thread is here
  while (next_word::is_done(x->next.load(sync::relaxed))) {
    level_segment* const low = x->child[0].load(sync::relaxed);  // relaxed: as above
    level_segment* const high = x->child[1].load(sync::relaxed); // relaxed: as above
    if (low != high) dispose_below(t, low);
    x = high;
  }
  for_each_slot(t, *x, [&](slot& at) {
    const std::uint64_t word = at.load(sync::relaxed); // relaxed: as above
    if (!shows_item<Policy>(word)) return;
    at.store(slot_word::tombstone, sync::relaxed); // relaxed: as above; the destructor may call the table
    t.policy.dispose(value_at(t.policy, slot_word::pointer(word)));
  });
}
/// Frees the nodes from one down. Halves go with the table.
inline void free_below(level_segment* x) noexcept {
  while (x != nullptr) {
    level_segment* const low = x->child[0].load(sync::relaxed);        // relaxed, both: no other thread is here
    level_segment* const high = x->child[1].load(sync::relaxed);       // relaxed: as above
    const bool done = next_word::is_done(x->next.load(sync::relaxed)); // relaxed: as above
    delete x;
    if (!done) return;
    if (low != high) free_below(low);
    x = high;
  }
}

/// Disposes of all entries and frees all memory. No other thread may use the table any more. In the child of a fork that lacks the holder of
/// the lock it leaves the table's memory as it is.
template <class Policy> void close(table<Policy>& t) {
  t.closing.store(1, sync::relaxed); // relaxed: only a request to stop early
  t.worker.stop();
  if constexpr (durable<Policy>) {
    t.in_file.syncs.stop();
    if (!t.policy.home().is_owner()) t.bag.forget_all();
  }
  directory* const d = t.root.load(sync::relaxed); // relaxed, all: no other thread is here
  if (t.base != nullptr && d != nullptr) {
    if (!t.structure_lock.try_lock()) return;
    t.structure_lock.unlock(); // destructors of entries may call the table
    const std::uint64_t count = std::uint64_t{1} << t.base_level;
    for (std::uint64_t i = 0; !durable<Policy> && i < count; ++i)
      if (auto* const x = t.base[i].load(sync::relaxed)) dispose_below(t, x); // relaxed: as above
    unlink_ended(t);
    for (std::uint64_t i = 0; i < count; ++i) free_below(t.base[i].load(sync::relaxed)); // relaxed: as above
    while (reorganisation* const one = t.retired) {
      t.retired = one->next;
      free_reorganisation(t, one);
    }
  }
  if (d != nullptr) free_array(d);
  if (t.growing != nullptr) free_array(t.growing);
  t.old_directories.free_all();
  delete[] t.base;
}

/// Before a table moves: ends its worker, and frees all that waits to be freed but what a split has given up.
template <class Policy> table<Policy>&& at_rest(table<Policy>& t) noexcept {
  end_worker(t);
  (void)t.bag.dispose_all();
  t.old_directories.free_all();
  return std::move(t);
}
} // namespace cubby::inline v0::detail::engines::seph
