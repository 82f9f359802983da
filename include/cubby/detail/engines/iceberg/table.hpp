// SPDX-License-Identifier: Apache-2.0
// The state of an iceberg table, and where the buckets of a hash are. It is a plain struct; the operations are free functions in the
// files beside this one.
#pragma once

#include <type_traits>
#include <utility>

#include <cubby/detail/core/counter.hpp>
#include <cubby/detail/core/epoch.hpp>
#include <cubby/detail/core/places.hpp>
#include <cubby/detail/core/raw_memory.hpp>
#include <cubby/detail/core/retired.hpp>
#include <cubby/detail/engines/iceberg/layout.hpp>
#include <cubby/detail/engines/iceberg/options.hpp>
#include <cubby/detail/engines/iceberg/overflow.hpp>
#include <cubby/detail/platform/prefetch.hpp>
#include <cubby/detail/platform/thread.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

/// An entry of a chain. Its key does not change while the node is linked. In a durable table its slot lies in the pool.
template <class Policy> struct node {
  sync::word<std::uint64_t> next; // address of a node
  std::uint64_t retired = 0;      // while linked: its marks in the filter of the chain; then the link of the retire bag
  slot_of<Policy> own;
  [[nodiscard]] slot_of<Policy>& entry() noexcept { return own; }
  [[nodiscard]] const slot_of<Policy>& entry() const noexcept { return own; }
};
template <durable Policy> struct node<Policy> {
  sync::word<std::uint64_t> next;
  std::uint64_t retired = 0; // as above
  slot_of<Policy>* where = nullptr;
  [[nodiscard]] slot_of<Policy>& entry() noexcept { return *where; }
  [[nodiscard]] const slot_of<Policy>& entry() const noexcept { return *where; }
};
template <class Policy> node<Policy>* node_at(std::uint64_t word) noexcept {
  return std::bit_cast<node<Policy>*>(word);
}
template <class Policy> struct node_policy {
  overflow_slots<Policy>& slots;
  static constexpr bool unique_words = true;
  static constexpr bool disposes_plainly = true;
  [[nodiscard]] static std::uint64_t& retire_link(std::uint64_t word) noexcept {
    return node_at<Policy>(word)->retired;
  }
  void dispose(std::uint64_t word) const noexcept {
    if constexpr (durable<Policy>) slots.give(node_at<Policy>(word)->where);
    give_raw(node_at<Policy>(word));
  }
};

/// Key records of a codec that has them (core/text_codec.hpp), when their entries have left.
template <class Policy> struct key_policy {
  const Policy& codec;
  static constexpr bool unique_words = true;
  static constexpr bool disposes_plainly = true;
  [[nodiscard]] static std::uint64_t& retire_link(std::uint64_t word) noexcept { return Policy::key_link(word); }
  void dispose(std::uint64_t word) const noexcept { codec.dispose_key(word); }
};
/// The retire bag of keys, for codecs that need one.
template <class Policy> struct key_bag {
  key_bag(const Policy&, const domain_ref&) noexcept {}
};
template <class Policy>
  requires key_owning_policy<Policy>
struct key_bag<Policy> {
  key_bag(const Policy& codec, const domain_ref& home) noexcept : keys{codec}, bag(keys, home) {}
  key_policy<Policy> keys;
  retire_bag<key_policy<Policy>, sync::shared> bag;
};

/// An entry that a `modify` holds. The record of an entry is its own; otherwise its key is.
template <class Policy>
using entry_identity =
    std::conditional_t<Policy::in_records, typename Policy::stored_value, typename Policy::stored_key>;
template <class Policy> struct held_entry {
  std::uint64_t hash = 0;
  entry_identity<Policy> entry{};
  held_entry* next = nullptr;
};

/// Sets the lock bit of a word, and returns what the word had before: of a front bucket, a back bucket or a chain. Spins while another thread has it.
inline std::uint64_t lock_word(sync::word<std::uint64_t>& word, std::uint64_t locked) noexcept {
  sync::backoff wait;
  for (;;) {
    std::uint64_t seen = word.load(sync::relaxed); // relaxed: the exchange decides
    // [lock-front] acquire: pairs with [unlock-front]; of [lock-back] and [lock-chain] the callers say more
    // relaxed: a failed attempt reads nothing that the lock protects
    if ((seen & locked) == 0 && word.compare_exchange(seen, seen | locked, sync::acquire, sync::relaxed)) return seen;
    wait.pause();
  }
}

/// A chain. Entries of several front buckets share it.
struct chain {
  sync::word<std::uint64_t> first;
  sync::word<std::uint64_t>
      filter; // [63 marks of its nodes 1 | locked 0]; the lock is for changes, and taken after that of a front bucket
};
/// Chains that were added at the same time (chains.hpp). The hash chooses one chain in each array. The entry is in one of these chains.
struct chain_array {
  chain* heads = nullptr;
  std::uint64_t count = 0;
  // In a durable table: for each chain the nodes whose entries were copied, by `retired`; under `unsettled.lock`.
  std::uint64_t* left = nullptr;
  sync::word<std::uint64_t> nodes; // in all of its chains, or about to be
  void take_over(chain_array& from) noexcept {
    heads = std::exchange(from.heads, nullptr);
    count = std::exchange(from.count, 0);
    left = std::exchange(from.left, nullptr);
    sync::hand_over(nodes, from.nodes);
  }
};
inline constexpr std::size_t most_chain_arrays = 20;

/// A move of all buckets to twice or half their number. A unit of a shrink is a pair of front buckets and its share of the
/// pairs of back buckets. A growth has these as two units, the second one with a share of the chains.
struct move_work {
  alignas(cpu::cache_line) sync::word<std::uint64_t> cursor; // the next unit that nobody has taken
  sync::word<std::uint64_t> done;   // pairs, of both yards, that have split or merged, and second units
  sync::word<std::uint64_t> missed; // 1: a pair was left for want of memory
};

/// The segment of the next growth while inserts touch its pages (prepare.hpp).
template <class Segment> struct next_segment {
  sync::word<Segment*> made;        // changes under `resize_lock`
  sync::word<std::uint64_t> cursor; // the next page that no thread has taken
};

/// A move whose old slots are not emptied before a sync (settle.hpp): only in a durable table.
template <bool Durable> struct unsettled_move {};
template <> struct unsettled_move<true> {
  small_lock<> lock;
  /// 0: slots without a tag are empty. Else one more than the level from which the entries came, or `opening`. Where no sync settles a move, it
  /// empties its old slots while it has the lock of their bucket. Where one does, this is set before the first bucket is locked for the move,
  /// and cleared after each one was locked to empty its slots. So who has the lock of a bucket that is in use reads 0 only where its
  /// slots without a tag are empty. A back bucket that a merge has left is not in use, as `are_backs_same` says under its lock.
  sync::word<std::uint64_t> since{opening};
  static constexpr std::uint64_t opening = ~std::uint64_t{0};
  background_worker worker;    // syncs, where only a sync settles a move
  background_worker committer; // syncs the log alone, where there is one
};

template <class Policy> struct table {
  using slot_type = slot_of<Policy>;
  using segment_type = segment<slot_type>;
  table(const options& chosen, Policy slots) : policy(std::move(slots)), settings(chosen) {}
  /// Moves an idle table in memory.
  table(table&& from) noexcept
      : fronts(from.fronts), backs(from.backs), home(from.home), policy(from.policy), settings(from.settings) {
    sync::hand_over(root, from.root);
    sync::hand_over(duty, from.duty);
    for (unsigned i = 0; i <= most_levels; ++i) sync::hand_over(segments[i], from.segments[i]);
    places.take_over(from.places);
    sync::hand_over(work.cursor, from.work.cursor);
    sync::hand_over(work.done, from.work.done);
    sync::hand_over(work.missed, from.work.missed);
    sync::hand_over(next.made, from.next.made);
    sync::hand_over(next.cursor, from.next.cursor);
    sync::hand_over(merges, from.merges);
    sync::hand_over(growths, from.growths);
    sync::hand_over(shrinks, from.shrinks);
    sync::hand_over(refused, from.refused);
    entries.take_over(from.entries);
    sync::hand_over(chain_arrays, from.chain_arrays);
    for (std::size_t i = 0; i < most_chain_arrays; ++i) chains[i].take_over(from.chains[i]);
  }

  // Each operation reads these lines. They are written only when a move begins or ends.
  alignas(cpu::cache_line) sync::word<std::uint64_t> root; // root_word
  sync::word<std::uint64_t> duty;                          // 1: buckets move, or a segment waits to be freed
  tags::unit unit = tags::widest();                        // reads front lines
  std::uint64_t fronts = 1;                                // of the first segment
  std::uint64_t backs = 1;
  const domain_ref home = domain_of_table<sync::shared>(); // its thread records keep alive what the table shows
  Policy policy;
  sync::word<segment_type*> segments[most_levels + 1];
  place_stock<sync::shared> places; // `settings.capacity` places, of a `fixed` table
  options settings;

  alignas(cpu::cache_line) small_lock<> resize_lock; // a move begins and ends under it
  move_work work;
  next_segment<segment_type> next;
  sync::word<std::uint64_t> looks;  // limits how often all thread records are read
  sync::word<std::uint64_t> merges; // pairs that were merged so far
  sync::word<std::uint64_t> growths;
  sync::word<std::uint64_t> shrinks;
  sync::word<std::uint32_t> closing;
  sync::word<std::uint32_t> refused; // 1: there was no memory for the growth that was wanted last
  retired_arrays<segment_type, sync::shared> retired{home};
  striped_counter<sync::shared> entries;
  sync::word<std::uint64_t> chain_arrays; // grows under `resize_lock`
  chain_array chains[most_chain_arrays];
  small_lock<> holds_lock; // taken after the lock of a front bucket
  held_entry<Policy>* holds = nullptr;
  [[no_unique_address]] overflow_slots<Policy> overflow{policy};
  [[no_unique_address]] unsettled_move<durable<Policy>> unsettled;
  node_policy<Policy> nodes{overflow};
  retire_bag<node_policy<Policy>, sync::shared> node_bag{nodes, home};
  [[no_unique_address]] bag_for<Policy, sync::shared> bag{policy, home};
  key_bag<Policy> key_records{policy, home};
  background_worker worker; // idle unless growth is `background`
};

template <class Policy> CUBBY_ALWAYS_INLINE root_word first_root(const table<Policy>& t) noexcept {
  // [iceberg-root] seq_cst: pairs with [show-level]; the first load of an operation stays behind what its thread did before (A.1)
  return {t.root.load(sync::seq_cst)};
}
/// The root again, after a lookup or a lock. An older value cannot be read where a bucket shows that it has moved.
template <class Policy> CUBBY_ALWAYS_INLINE bool is_same_root(const table<Policy>& t, root_word r) noexcept {
  // relaxed: behind an acquire of what the mover has released after it loaded the newer root
  return t.root.load(sync::relaxed) == r.bits;
}
template <class Policy>
CUBBY_ALWAYS_INLINE typename table<Policy>::segment_type& segment_at(const table<Policy>& t, unsigned number) noexcept {
  // [segment] acquire: pairs with [hang-segment]
  return *t.segments[number].load(sync::acquire);
}

/// The low bits of a hash that choose among the doublings.
constexpr std::uint64_t copy_of(std::uint64_t hash, unsigned level) noexcept {
  return hash & ((std::uint64_t{1} << level) - 1);
}

template <class Policy> CUBBY_ALWAYS_INLINE hashed hashed_in(const table<Policy>& t, std::uint64_t hash) noexcept {
  return hashed_for<slot_of<Policy>>(hash, t.fronts);
}

template <class Slot> struct front {
  front_line* line = nullptr;
  Slot* slots = nullptr;
};
template <class Policy>
CUBBY_ALWAYS_INLINE front<slot_of<Policy>> front_at(const table<Policy>& t, std::uint64_t residue,
                                                    std::uint64_t copy) noexcept {
  position p = position_at(residue, copy, t.fronts);
  auto& s = segment_at(t, p.segment);
  return {&s.lines[p.number], &s.slots[p.number * front_slots<slot_of<Policy>>]};
}
template <class Policy>
CUBBY_ALWAYS_INLINE front<slot_of<Policy>> front_of(const table<Policy>& t, const hashed& h, unsigned level) noexcept {
  // A table that has not grown does not look at `copies`, so that the compiler computes them behind this branch.
  return front_at(t, h.residue, level == 0 ? 0 : copy_of(h.copies, level));
}

/// The front bucket of a hash, while no bucket moves. False: some do.
template <class Policy>
CUBBY_ALWAYS_INLINE bool front_at_rest(const table<Policy>& t, const hashed& h, root_word r,
                                       front<slot_of<Policy>>& at) noexcept {
  unsigned level = 0;
  if (!r.first()) {
    if (r.moving()) [[unlikely]]
      return false;
    level = r.level();
  }
  at = front_of(t, h, level);
  return true;
}

/// Prefetches the line where an insert of the hash prefers to put its entry, together with the line of tags. Without it a find waits for
/// the one and then for the other, and an insert waits at its end: docs/performance/iceberg.md, "One slot line ahead".
template <class Policy>
CUBBY_ALWAYS_INLINE void prefetch_preferred(const front<slot_of<Policy>>& at, const hashed& h) noexcept {
  prefetch_line(reinterpret_cast<const std::byte*>(at.slots) + preferred_line<slot_of<Policy>>(h));
}

/// While buckets move: asks for the lines of tags of both buckets in which the entry of a hash may be, and for the slots that it prefers in each.
/// The state of the one says whether the other one has the entry, so without this a caller waits for one after the other.
template <class Policy>
CUBBY_OUTLINED void prefetch_both_fronts(const table<Policy>& t, const hashed& h, root_word r) noexcept {
  for (unsigned less = 0; less < 2; ++less) {
    const auto at = front_of(t, h, r.level() - less);
    prefetch_line(at.line);
    prefetch_preferred<Policy>(at, h);
  }
}

template <class Slot> struct back_bucket {
  back_line* line = nullptr;
  Slot* slots = nullptr;
  sync::word<std::uint64_t>* version = nullptr; // only for keys of several words
};
template <class Policy>
CUBBY_ALWAYS_INLINE back_bucket<slot_of<Policy>> back_at(const table<Policy>& t, std::uint64_t residue,
                                                         std::uint64_t copy) noexcept {
  position p = position_at(residue, copy, t.backs);
  auto& s = segment_at(t, p.segment);
  if constexpr (slot_of<Policy>::wide_key)
    return {&s.back_lines[p.number], &s.behind[p.number * back_slots], &s.back_versions[p.number]};
  else return {&s.back_lines[p.number], &s.behind[p.number * back_slots]};
}
template <class Policy>
CUBBY_ALWAYS_INLINE back_bucket<slot_of<Policy>> back_of(const table<Policy>& t, std::uint64_t hash,
                                                         unsigned level) noexcept {
  return back_at(t, cpu::multiply(hash, t.backs).high, copy_of(hash, level));
}

/// The cursor of a move before its first unit: which move it is, above the number of a unit.
inline constexpr unsigned unit_bits = 42;
constexpr std::uint64_t first_unit(root_word r) noexcept { return r.bits / root_word::change << unit_bits; }
/// Pairs of front buckets, or of back buckets, of the move to or from `level`.
template <class Policy> std::uint64_t front_pairs(const table<Policy>& t, unsigned level) noexcept {
  return t.fronts << (level - 1);
}
template <class Policy> std::uint64_t back_pairs(const table<Policy>& t, unsigned level) noexcept {
  return t.backs << (level - 1);
}
/// Whether no thread has begun to empty back buckets and chains in the growth of `r`. Under the lock of a back bucket it is true of that one.
template <class Policy> bool backs_wait(const table<Policy>& t, root_word r) noexcept {
  // relaxed: a thread takes a unit before it locks the back bucket, so who locks that one later sees it
  return t.work.cursor.load(sync::relaxed) - first_unit(r) <= front_pairs(t, r.level());
}

/// The highest bit of a copy: set in the buckets of the last doubling.
constexpr std::uint64_t top_of(unsigned level) noexcept { return (std::uint64_t{1} << level) >> 1; }

inline bool is_ready(const front_line& line) noexcept {
  // [ready] acquire: pairs with [show-bucket], and with [end-bucket]
  return (line.state.load(sync::acquire) & state::ready) != 0;
}
inline bool is_ready(const back_line& line) noexcept {
  // [ready] acquire: pairs with [show-bucket], and with [end-bucket]
  return (line.load(sync::acquire) & back::ready) != 0;
}

/// Whether the front bucket of a hash has yet to split in the growth of `r`.
template <class Policy> bool is_unsplit(const table<Policy>& t, const hashed& h, root_word r) noexcept {
  const std::uint64_t copy = copy_of(h.copies, r.level() - 1);
  return !is_ready(*front_at(t, h.residue, copy | top_of(r.level())).line);
}

/// The level at which a hash finds its bucket while buckets move: one less while the bucket of the last doubling is not ready.
template <class Policy>
unsigned level_of_front(const table<Policy>& t, const hashed& h, root_word r) noexcept {
  const unsigned level = r.level();
  if (!r.moving() || (h.copies & top_of(level)) == 0) return level;
  return is_ready(*front_of(t, h, level).line) ? level : level - 1;
}
template <class Policy> unsigned level_of_back(const table<Policy>& t, std::uint64_t hash, root_word r) noexcept {
  const unsigned level = r.level();
  if (!r.moving() || (hash & top_of(level)) == 0) return level;
  return is_ready(*back_of(t, hash, level).line) ? level : level - 1;
}

/// The hash of the entry in a slot.
template <class Policy> std::uint64_t hash_of_slot(const Policy& policy, const slot_of<Policy>& s) noexcept;

/// The places of a `fixed` table with so many entries. False: no memory.
template <class Policy> bool open_places(table<Policy>& t, std::uint64_t entries) noexcept {
  return t.settings.growth != growth_policy::fixed || t.places.open(t.settings.capacity, entries);
}

/// The number of entries. Exact while no thread writes.
template <class Policy> std::uint64_t live_entries(const table<Policy>& t) noexcept {
  const std::int64_t sum = t.entries.total();
  return sum < 0 ? 0 : static_cast<std::uint64_t>(sum);
}
/// Slots of a table of so many doublings.
template <class Policy> std::uint64_t slots_at(const table<Policy>& t, unsigned level) noexcept {
  return (t.fronts * front_slots<slot_of<Policy>> + t.backs * back_slots) << level;
}

} // namespace cubby::inline v0::detail::engines::iceberg
