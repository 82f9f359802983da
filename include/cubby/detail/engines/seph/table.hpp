// SPDX-License-Identifier: Apache-2.0
// The state of a seph table, and which level segment has a hash. It is a plain struct; the operations are free functions in the files
// beside this one.
// Level segments are the leaves of a tree that follows the bits of the hash. The base of the tree is an array of `2^base_level` nodes.
// The directory is a second way to them: an entry leads to a node on the path of its bits, near the leaf. So a directory that is
// late costs steps and no correctness, and it can grow while others use it.
#pragma once

#include <bit>
#include <type_traits>
#include <utility>

#include <cubby/detail/core/counter.hpp>
#include <cubby/detail/core/epoch.hpp>
#include <cubby/detail/core/places.hpp>
#include <cubby/detail/core/raw_memory.hpp>
#include <cubby/detail/core/retired.hpp>
#include <cubby/detail/engines/seph/halves.hpp>
#include <cubby/detail/engines/seph/items.hpp>
#include <cubby/detail/engines/seph/layout.hpp>
#include <cubby/detail/engines/seph/options.hpp>
#include <cubby/detail/platform/prefetch.hpp>
#include <cubby/detail/platform/slots.hpp>
#include <cubby/detail/platform/thread.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// 2^bits entries, at least two; the first bits of a hash choose one.
struct directory {
  using entry = sync::word<level_segment*>;
  unsigned bits = 0;
  entry* entries = nullptr;
  memory::region pages;
  std::uint64_t retired_at = 0; // these two for `retired_arrays`
  directory* next_retired = nullptr;
};
inline directory* make_directory(unsigned bits) noexcept {
  auto* const made = new (std::nothrow) directory;
  if (made == nullptr) return nullptr;
  made->bits = bits;
  made->pages = memory::allocate(sizeof(directory::entry) << bits);
  if (made->pages.address == nullptr) {
    delete made;
    return nullptr;
  }
  made->entries = reinterpret_cast<directory::entry*>(made->pages.address);
  return made;
}

enum class kind_of_work : std::uint8_t { split, rewrite, merge };

/// What happens to a level segment: it splits, it is rewritten without tombstones, or it merges with its sibling.
struct reorganisation {
  kind_of_work kind = kind_of_work::split;
  std::uint64_t prefix = 0; // the common first bits of the hashes that it concerns
  unsigned level = 0;       // how many bits that is; both are here because nodes may be freed before directories follow
  level_segment* from[2] = {};    // a merge has two
  level_segment* above = nullptr; // of a merge: the node above the two
  level_segment* to[2] = {};      // a split has two
  slot* source[6] = {};           // the halves that are given up
  slot* target[4] = {};           // those that take their entries
  unsigned sources = 0;
  unsigned targets = 0;
  std::uint64_t buckets = 0;                          // of all sources
  sync::word<std::uint64_t> cursor;                   // the next bucket that nobody has taken
  sync::word<std::uint32_t> stale;                    // 1: a slot was copied whose foreseer is stale now
  sync::word<std::uint8_t> moved[most_buckets_moved]; // 1: all slots of the bucket are marked and copied
  reorganisation* next = nullptr;                     // in a list: of ended ones, then of retired ones
  std::uint64_t retired_at = 0;                       // the epoch
};

/// What a durable table has beside the rest.
struct file_part {
  bool recovering = false; // only while it is opened
  background_worker syncs; // idle unless only syncs make changes durable
};
struct no_file {};

template <class Policy> struct table {
  using halves_type = memory_halves;
  static constexpr unsigned slots_a_bucket = bucket_slots<typename Policy::hasher>;
  table(const options& chosen, Policy slots)
      : policy(std::move(slots)), settings(chosen), bits(chosen.segment_bits - 1),
        halves((sizeof(slot) * slots_a_bucket) << (chosen.segment_bits - 1)) {}
  /// Moves an idle table in memory.
  table(table&& from) noexcept
      : home(from.home), policy(from.policy), settings(from.settings), bits(from.bits),
        base_level(std::exchange(from.base_level, 0)), base(std::exchange(from.base, nullptr)),
        halves(std::move(from.halves)), growing(std::exchange(from.growing, nullptr)),
        copied(std::exchange(from.copied, 0)), retired(std::exchange(from.retired, nullptr)),
        retired_count(std::exchange(from.retired_count, 0)), reclaim_at(std::exchange(from.reclaim_at, 0)),
        merge_cursor(std::exchange(from.merge_cursor, 0)) {
    sync::hand_over(root, from.root);
    places.take_over(from.places);
    sync::hand_over(ended, from.ended);
    sync::hand_over(leaves, from.leaves);
    sync::hand_over(growths, from.growths);
    sync::hand_over(shrinks, from.shrinks);
    sync::hand_over(rebuilds, from.rebuilds);
    sync::hand_over(moved, from.moved);
    sync::hand_over(dereferenced, from.dereferenced);
    sync::hand_over(under_way, from.under_way);
    sync::hand_over(stale, from.stale);
    sync::hand_over(erases, from.erases);
    entries.take_over(from.entries);
  }

  // Each operation reads this line. It is written only when the directory grows.
  alignas(cpu::cache_line) sync::word<directory*> root;
  const domain_ref home = domain_of_table<sync::shared>(); // its thread records keep alive what the table shows
  Policy policy;
  options settings;
  const unsigned bits;                      // a half has 2^bits buckets
  const slots::unit unit = slots::widest(); // reads buckets
  place_stock<sync::shared> places;         // `settings.capacity` places, of a `fixed` table
  unsigned base_level = 0;
  directory::entry* base = nullptr; // 2^base_level nodes

  halves_type halves;
  alignas(cpu::cache_line) mutable small_lock<
      sync::shared, unlocking::seen> structure_lock; // the members behind it, directories, and links to nodes
  directory* growing = nullptr;                      // the next directory, filled up to `copied`
  std::uint64_t copied = 0;
  reorganisation* retired = nullptr;
  std::uint64_t retired_count = 0;
  std::uint64_t reclaim_at = 0;      // when so many are retired, those without readers are freed
  std::uint64_t merge_cursor = 0;    // the hash at which the search for what can merge goes on
  sync::word<reorganisation*> ended; // a list of those that the structure does not follow yet; any thread adds to it
  alignas(cpu::cache_line) sync::word<std::uint64_t> leaves;
  sync::word<std::uint64_t> growths;
  sync::word<std::uint64_t> shrinks;
  sync::word<std::uint64_t> rebuilds;
  sync::word<std::uint64_t> moved;        // entries that splits have copied
  sync::word<std::uint64_t> dereferenced; // of these, by reading the item
  sync::word<std::uint64_t> under_way;    // reorganisations
  sync::word<std::uint32_t> stale;        // 1: some level segment has stale foreseers
  sync::word<std::uint32_t> closing;
  sync::word<std::uint64_t> erases; // limits how often erases look whether the table may shrink
  retired_arrays<directory, sync::shared> old_directories{home};
  striped_counter<sync::shared> entries;
  retire_bag<Policy, sync::shared> bag{policy, home};
  [[no_unique_address]] std::conditional_t<durable<Policy>, file_part, no_file> in_file;
  background_worker worker; // idle unless growth is `background`
};

template <class Policy> constexpr std::uint64_t buckets_of_half(const table<Policy>& t) noexcept {
  return std::uint64_t{1} << t.bits;
}
/// The slots of a level segment: a half, and two.
template <class Policy> constexpr std::uint64_t slots_of_segment(const table<Policy>& t) noexcept {
  return (3 * std::uint64_t{table<Policy>::slots_a_bucket}) << t.bits;
}
/// How many bits of the hash the position of a slot in a half at `depth` tells.
template <class Policy> CUBBY_ALWAYS_INLINE unsigned known_bits(const table<Policy>& t, unsigned depth) noexcept {
  return depth + t.bits;
}
/// The slots of a bucket in the order of a key.
template <class Policy> struct slot_order {
  static constexpr unsigned count = table<Policy>::slots_a_bucket;
  static constexpr unsigned parts = slots::parts<count>;
  static constexpr unsigned slots_a_part = slots::slots_a_part<count>;
  static_assert(std::has_single_bit(count));
  slot* bucket;
  unsigned first_part;
  /// `bits`: those of the hash behind the ones that the position in the half tells.
  slot_order(slot* slots, unsigned bits) noexcept : bucket(slots), first_part(bits % parts) {}
  /// The first slot of the i-th part.
  [[nodiscard]] CUBBY_ALWAYS_INLINE slot* part(unsigned i) const noexcept {
    return bucket + (first_part + i) % parts * slots_a_part;
  }
  /// The number in the bucket of the i-th slot.
  [[nodiscard]] CUBBY_ALWAYS_INLINE unsigned number(unsigned i) const noexcept {
    return (first_part * slots_a_part + i) % count;
  }
  [[nodiscard]] CUBBY_ALWAYS_INLINE slot& operator[](unsigned i) const noexcept { return bucket[number(i)]; }
};
/// The candidate bucket of a hash in a half at `depth`.
template <class Policy> CUBBY_ALWAYS_INLINE slot_order<Policy> order_in(const table<Policy>& t, slot* half,
                                                                        unsigned depth, std::uint64_t hash) noexcept {
  const std::uint64_t path = path_in(hash, depth, t.bits);
  return {half + (path >> 2) * table<Policy>::slots_a_bucket, static_cast<unsigned>(path % 4)};
}
/// The two candidate buckets of a hash.
template <class Policy> CUBBY_ALWAYS_INLINE slot_order<Policy>
lower_bucket(const table<Policy>& t, const level_segment& x, std::uint64_t hash) noexcept {
  return order_in(t, x.lower, x.level, hash);
}
template <class Policy> CUBBY_ALWAYS_INLINE slot_order<Policy>
higher_bucket(const table<Policy>& t, const level_segment& x, std::uint64_t hash) noexcept {
  return order_in(t, x.higher[bit_at(hash, x.level)], x.level + 1, hash);
}

/// For a level segment that no other thread sees yet.
template <class Policy> void set_level(const table<Policy>& t, level_segment& x, unsigned level) noexcept {
  x.level = level;
  for (unsigned i = 0; i < 2; ++i) x.turn[i] = turn_for(known_bits(t, level + i));
}

/// The node below a done one that has the hash.
CUBBY_ALWAYS_INLINE level_segment* child_for(const level_segment& x, std::uint64_t hash) noexcept {
  // [child] acquire: pairs with [put-child]
  return x.child[bit_at(hash, x.level)].load(sync::acquire);
}
/// The leaf of a hash below a node.
CUBBY_ALWAYS_INLINE level_segment* leaf_below(level_segment* x, std::uint64_t hash) noexcept {
  // [next] acquire: pairs with [publish-children]
  while (next_word::is_done(x->next.load(sync::acquire))) [[unlikely]]
    x = child_for(*x, hash);
  return x;
}
/// The level segment of a hash.
template <class Policy> CUBBY_ALWAYS_INLINE level_segment* leaf_of(const table<Policy>& t,
                                                                   std::uint64_t hash) noexcept {
  // [directory] seq_cst: pairs with [show-directory]; the first load of an operation stays behind what its thread did before (A.1)
  const directory* const d = t.root.load(sync::seq_cst);
  // [entry] acquire: pairs with [put-entry]
  return leaf_below(d->entries[hash >> (hash_bits - d->bits)].load(sync::acquire), hash);
}

template <class Policy> std::uint64_t live_entries(const table<Policy>& t) noexcept {
  const std::int64_t sum = t.entries.total();
  return sum > 0 ? static_cast<std::uint64_t>(sum) : 0;
}

} // namespace cubby::inline v0::detail::engines::seph
