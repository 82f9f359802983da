// SPDX-License-Identifier: Apache-2.0
// How pairs of buckets split and merge (section 4). In a growth each bucket gives the entries whose next hash bit is set to the bucket
// beside it in the new segment; the others stay where they are. A shrink does the reverse. An entry is copied before the bucket that has
// it changes, and lookups look again if that happens. Fronts move under their locks, backs under theirs.
#pragma once

#include <cubby/detail/engines/iceberg/change.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

/// Two buckets that split or merge: the same residue, and copies that differ in the highest bit.
struct pair_position {
  std::uint64_t residue = 0;
  std::uint64_t copy = 0; // of the lower one
  unsigned level = 0;     // at which the upper one exists
  [[nodiscard]] constexpr std::uint64_t upper() const noexcept { return copy | top_of(level); }
};

/// The slots of a bucket that have entries. Under its lock.
template <class Slot> std::uint64_t used_slots(const front_line& line) noexcept {
  return ~empty_slots<Slot>(line) & tags::all<typename Slot::tag>;
}
template <class Slot> std::uint16_t tag_in(const front_line& line, unsigned slot) noexcept {
  using tag_type = typename Slot::tag;
  // relaxed: under the lock
  return tags::tag_at<tag_type>(line.tag_words[tags::word_of<tag_type>(slot)].load(sync::relaxed), slot);
}

/// Whether an entry can be put into the bucket, and how many. Under its lock.
template <class Policy> bool has_free_slot(const table<Policy>& t, const front<slot_of<Policy>>& at) noexcept {
  return usable(t, at.slots, empty_slots<slot_of<Policy>>(*at.line)) != 0;
}
template <class Policy> unsigned free_slots(const table<Policy>& t, slot_of<Policy>* slots,
                                            std::uint64_t empty) noexcept {
  unsigned count = 0;
  for (empty = usable(t, slots, empty); empty != 0; empty = usable(t, slots, empty & (empty - 1))) ++count;
  return count;
}
template <class Policy> unsigned free_slots(const table<Policy>& t, const front<slot_of<Policy>>& at) noexcept {
  return free_slots<Policy>(t, at.slots, empty_slots<slot_of<Policy>>(*at.line));
}
template <class Policy>
unsigned free_slots(const table<Policy>& t, const back_bucket<slot_of<Policy>>& at, std::uint64_t word) noexcept {
  return free_slots<Policy>(t, at.slots, back::match(word, 0));
}

/// In a durable table the copy is on the medium after the next drain.
template <class Policy> void copy_slot(table<Policy>& t, slot_of<Policy>& to, const slot_of<Policy>& from) noexcept {
  put_entry<Policy>(to, key_in<Policy>(from), value_in<Policy>(from));
  write_slot_back(t, to);
}

/// Splits a pair of front buckets. False: it is split already, or the growth of `r` has ended.
template <class Policy> bool split_front(table<Policy>& t, root_word r, const pair_position& p) noexcept {
  const auto lower = front_at(t, p.residue, p.copy);
  const auto upper = front_at(t, p.residue, p.upper());
  std::uint64_t word = lock_line(*lower.line);
  // Under this lock the growth cannot end before the pair is split; and in a later shrink the pair must not be split again.
  if (!is_same_root(t, r) || is_ready(*upper.line)) {
    unlock_unchanged(*lower.line, word);
    return false;
  }
  // A thread with an older root may lock a bucket that is not ready, and unlock it again with the state that it has read.
  (void)lock_line(*upper.line);
  // Of an earlier growth, which has ended: nothing is behind the bucket (I7).
  if ((word & state::inherited) != 0) word &= ~state::behind_words;
  std::uint64_t gone = 0;
  for (std::uint64_t mask = used_slots<slot_of<Policy>>(*lower.line); mask != 0; mask &= mask - 1) {
    const unsigned slot = cpu::lowest_bit(mask);
    const hashed h = hashed_in(t, hash_of_slot(t.policy, lower.slots[slot]));
    if ((h.copies & top_of(p.level)) == 0) continue;
    copy_slot(t, upper.slots[slot], lower.slots[slot]);
    show_tag<slot_of<Policy>>(*upper.line, slot, tag_in<slot_of<Policy>>(*lower.line, slot));
    gone |= std::uint64_t{1} << slot;
  }
  const std::uint64_t below = (word & state::behind_mask) != 0 ? word | state::inherited : word;
  drain(t);
  const std::uint64_t above = state::ready | (below & (state::behind_words | state::held));
  // [show-bucket] release: pairs with [ready], and with [lock-front]; lookups that see it look there, and nowhere else
  upper.line->state.store(durable<Policy> ? above | state::locked : above, sync::release);
  if constexpr (durable<Policy>) {
    // Nobody changes the copies before the old slots are empty: a crash would bring those back.
    for (std::uint64_t left = gone; left != 0; left &= left - 1) leave_slot(t, lower.slots[cpu::lowest_bit(left)]);
    drain(t);
    unlock_unchanged(*upper.line, above);
  }
  for (; gone != 0; gone &= gone - 1) hide_tag<slot_of<Policy>>(*lower.line, cpu::lowest_bit(gone));
  unlock_changed(*lower.line, below + state::version_step);
  return true;
}

/// Splits the bucket of a write or of an entry that moves to the front, so that it finds the space.
template <class Policy> void count_moved(table<Policy>& t, root_word r, std::uint64_t pairs) noexcept;
template <class Policy> void split_for_writer(table<Policy>& t, const hashed& h, root_word r) noexcept {
  const pair_position p{h.residue, copy_of(h.copies, r.level() - 1), r.level()};
  if (is_ready(*front_at(t, p.residue, p.upper()).line)) return;
  if (split_front(t, r, p)) count_moved(t, r, 1);
}

/// Nodes that a merge may need, so that it cannot fail half-way.
template <class Policy> class spare_nodes {
public:
  spare_nodes(table<Policy>& t, unsigned wanted) noexcept : table_(t) {
    while (count_ < wanted) {
      nodes_[count_] = make_node(t);
      if (nodes_[count_] == nullptr) return;
      ++count_;
    }
    complete_ = true;
  }
  ~spare_nodes() {
    while (count_ != 0) give_node(table_, nodes_[--count_]);
  }
  spare_nodes(const spare_nodes&) = delete;
  spare_nodes& operator=(const spare_nodes&) = delete;
  [[nodiscard]] bool complete() const noexcept { return complete_; }
  node<Policy>& take() noexcept { return *nodes_[--count_]; }

private:
  table<Policy>& table_;
  node<Policy>* nodes_[front_slots<slot_of<Policy>>];
  unsigned count_ = 0;
  bool complete_ = false;
};

/// Whether a back bucket of the key has yet to be merged. Where old slots wait for a sync, an entry must not move there: it would move
/// twice, and recovery does not know which of two old copies is the older one.
template <class Policy> bool moves_again(const table<Policy>& t, const home<Policy>& at) noexcept {
  const unsigned level = at.root.level();
  for (unsigned which = 0; which < 2 && waits_for_sync(t); ++which) {
    const std::uint64_t hash = back_hash(at.h.hash, which);
    if ((hash & top_of(level)) != 0 && level_of_back(t, hash, at.root) == level) return true;
  }
  return false;
}
/// Moves an entry of the upper bucket to the lower one, or behind it.
template <class Policy>
void merge_entry(table<Policy>& t, home<Policy>& lower, const slot_of<Policy>& from,
                 spare_nodes<Policy>& spare) noexcept {
  lower.h = hashed_in(t, hash_of_slot(t.policy, from));
  const auto key = key_in<Policy>(from);
  const auto value = value_in<Policy>(from);
  if (has_free_slot(t, lower.at)) {
    (void)put_new(t, lower, key, value);
    return;
  }
  changed how = moves_again(t, lower) ? changed::full : changed::again;
  while (how == changed::again) how = put_back(t, lower, key, value); // again: its back buckets are moving, too
  if (how == changed::full)
    (void)put_in_chain(t, lower, key, value, spare.take()); // this move has not ended, so it succeeds
}

enum class moved : std::uint8_t { now, earlier, no_memory };

/// Merges a pair of front buckets.
template <class Policy> moved merge_front(table<Policy>& t, root_word r, const pair_position& p) noexcept {
  const auto upper = front_at(t, p.residue, p.upper());
  home<Policy> lower{{}, r, front_at(t, p.residue, p.copy), 0, {}};
  lower.state = lock_line(*lower.at.line);
  // A shrink without memory takes its units once more, so it may have ended meanwhile, and the pair may be one of a later growth. Under
  // this lock it cannot end before the pair is merged.
  if (!is_same_root(t, r)) {
    unlock_unchanged(*lower.at.line, lower.state);
    return moved::earlier;
  }
  const std::uint64_t word = lock_line(*upper.line);
  const std::uint64_t mask = used_slots<slot_of<Policy>>(*upper.line);
  const unsigned free = free_slots(t, lower.at);
  const auto needed = static_cast<unsigned>(std::popcount(mask));
  const bool ready = (word & state::ready) != 0;
  spare_nodes<Policy> spare(t, ready && needed > free ? needed - free : 0);
  if (!ready || !spare.complete()) {
    unlock_unchanged(*upper.line, word);
    unlock_unchanged(*lower.at.line, lower.state);
    return ready ? moved::no_memory : moved::earlier;
  }
  t.merges.fetch_add(
      1, sync::relaxed); // relaxed: a scan that misses an entry has taken a lock that is released after this
  for (std::uint64_t left = mask; left != 0; left &= left - 1)
    merge_entry(t, lower, upper.slots[cpu::lowest_bit(left)], spare);
  join_behind(t, lower, *upper.line, word);
  raise_version(lower);
  // [end-bucket] seq_cst: pairs with [ready], and with [lock-front]; lookups that see it look in the lower bucket
  upper.line->state.store((word & ~state::ready) + state::version_step, sync::seq_cst);
  if constexpr (durable<Policy>) { // before the lower bucket is unlocked, as in split_front
    for (std::uint64_t left = mask; left != 0; left &= left - 1) leave_slot(t, upper.slots[cpu::lowest_bit(left)]);
    drain(t);
  }
  unlock_changed(*lower.at.line, lower.state);
  return moved::now;
}

/// Moves one entry of a back bucket to its front bucket. If that is full, a merge takes a chain instead (`by_merge`), and a growth
/// leaves the entry where it is. `full`: the entry was left, or has gone meanwhile.
template <class Policy>
changed evict(table<Policy>& t, back_bucket<slot_of<Policy>> from, unsigned slot, std::uint64_t hash,
              bool by_merge) noexcept {
  home<Policy> at = lock_home(t, hashed_in(t, hash), unsplit::splits);
  spare_nodes<Policy> spare(t, by_merge ? 1 : 0);
  const std::uint64_t word = lock_back(*from.line);
  const bool there = (word >> (8 * slot) & 0x7f) != 0 && hash_of_slot(t.policy, from.slots[slot]) == hash;
  const bool fits = has_free_slot(t, at.at);
  changed how = changed::full;
  if (there && !spare.complete()) how = changed::no_memory;
  else if (there && (fits || by_merge)) how = changed::done;
  if (how == changed::done) {
    const auto key = key_in<Policy>(from.slots[slot]);
    const auto value = value_in<Policy>(from.slots[slot]);
    if (by_merge) t.merges.fetch_add(1, sync::relaxed); // relaxed: as in merge_front
    if (fits) (void)put_new(t, at, key, value);
    else (void)put_in_chain(t, at, key, value, spare.take()); // as in merge_entry
    raise_version(at); // before the tag is hidden: a lookup that misses the entry looks again
    leave_slot(t, from.slots[slot]);
    drain(t);
    (void)hide_in_back(from, back::with_tag(word, slot, 0));
    note_left_behind(t, at);
    raise_version(at); // and after it, as in `remove`
  } else if (there) {
    at.state = state::kept_behind(at.state);
  }
  unlock_back(*from.line, how == changed::done ? back::with_tag(word, slot, 0) : word);
  unlock_changed(*at.at.line, at.state);
  return how;
}

/// A growth moves the entries of a back bucket to their front buckets, which have space again (I7).
template <class Policy> void empty_back(table<Policy>& t, const back_bucket<slot_of<Policy>>& b) noexcept {
  for (unsigned slot = 0; slot < back_slots; ++slot) {
    const std::uint64_t word = lock_back(*b.line);
    const bool used = (word >> (8 * slot) & 0x7f) != 0;
    const std::uint64_t hash = used ? hash_of_slot(t.policy, b.slots[slot]) : 0;
    unlock_back(*b.line, word);
    if (used) (void)evict(t, b, slot, hash, false);
  }
}

/// A node whose entry was copied, and that no lookup finds any more.
template <class Policy> void retire_node(table<Policy>& t, const thread_record& who, node<Policy>& n) noexcept {
  if constexpr (durable<Policy>) {
    if (waits_for_sync(t)) { // until the old slot is emptied (settle.hpp)
      const lock_scope alone(t.unsettled.lock);
      const chain_array& in = newest_chains(t);
      std::uint64_t& first = in.left[chain_number<Policy>(in, hash_of_slot(t.policy, n.entry()))];
      n.retired = first;
      first = std::bit_cast<std::uint64_t>(&n);
      return;
    }
  }
  t.node_bag.add(who, std::bit_cast<std::uint64_t>(&n));
}

/// The same for an entry of a chain.
template <class Policy>
void empty_node(table<Policy>& t, const thread_record& who, chain& c, node<Policy>& n) noexcept {
  const auto key = key_in<Policy>(n.entry());
  const auto value = value_in<Policy>(n.entry());
  if (is_being_erased<Policy>(key)) return; // its hash would be another one
  home<Policy> at = lock_home(t, hashed_in(t, hash_of_words(t.policy, key, value)), unsplit::splits);
  const bool there = is_linked(c, n);
  const bool fits = has_free_slot(t, at.at) && !is_zero_key<Policy>(key);
  if (there && fits) {
    (void)put_new(t, at, key, value_in<Policy>(n.entry()));
    raise_version(at);
    leave_slot(t, n.entry());
    drain(t);
    unlink(t, at.h.hash, n.entry());
    note_left_behind(t, at);
    at.state += state::version_step; // (I6)
  } else if (there) {
    at.state = state::kept_behind(at.state);
  }
  // Where a sync is to empty the old slot, before an erase of the new one can look for it.
  if (there && fits && waits_for_sync(t)) retire_node(t, who, n);
  unlock_changed(*at.at.line, at.state);
  if (there && fits && !waits_for_sync(t)) retire_node(t, who, n);
}
template <class Policy> void empty_chain(table<Policy>& t, const thread_record& who, chain& c) noexcept {
  const std::uint64_t filter = lock_chain(c);       // an insert that takes the lock later sees that the table grows
  std::uint64_t link = c.first.load(sync::relaxed); // relaxed: under the lock
  unlock_chain(c, filter);
  while (link != 0) {
    auto& n = *node_at<Policy>(link);
    link = n.next.load(sync::acquire); // [link] acquire: pairs with [put-link]
    empty_node(t, who, c, n);
  }
}

/// Whether an entry of a back bucket moves to the bucket beside it: if its hash, the first or the second, leads there.
template <class Policy>
bool goes_up(const table<Policy>& t, const pair_position& p, const slot_of<Policy>& s) noexcept {
  const std::uint64_t hash = hash_of_slot(t.policy, s);
  for (unsigned which = 0; which < 2; ++which) {
    const std::uint64_t one = back_hash(hash, which);
    if (cpu::multiply(one, t.backs).high == p.residue && copy_of(one, p.level - 1) == p.copy)
      return (one & top_of(p.level)) != 0;
  }
  return false; // never: the entry is here because of one of them
}
/// The same for a pair of back buckets.
template <class Policy> bool split_back(table<Policy>& t, const pair_position& p) noexcept {
  const auto lower = back_at(t, p.residue, p.copy);
  const auto upper = back_at(t, p.residue, p.upper());
  if (!is_ready(*upper.line)) empty_back(t, lower);
  std::uint64_t word = lock_back(*lower.line);
  if (is_ready(*upper.line)) {
    unlock_back(*lower.line, word);
    return false;
  }
  (void)lock_back(*upper.line); // as in split_front
  std::uint64_t above = back::ready;
  std::uint32_t gone = 0;
  for (unsigned slot = 0; slot < back_slots; ++slot) {
    const std::uint64_t tag = word >> (8 * slot) & 0x7f;
    if (tag == 0 || !goes_up(t, p, lower.slots[slot])) continue;
    copy_slot(t, upper.slots[slot], lower.slots[slot]);
    above = back::with_tag(above, slot, tag);
    word = back::with_tag(word, slot, 0);
    gone |= 1U << slot;
  }
  drain(t);
  // [show-bucket] release: pairs with [ready], with [lock-back], and with [back-tags]
  upper.line->store(durable<Policy> ? above | back::locked : above, sync::release);
  if constexpr (durable<Policy>) { // as in split_front
    for (; gone != 0; gone &= gone - 1) leave_slot(t, lower.slots[cpu::lowest_bit(gone)]);
    drain(t);
    unlock_back(*upper.line, above);
  }
  unlock_back(*lower.line, hide_in_back(lower, word));
  return true;
}

/// Merges two locked back buckets whose entries fit into the lower one, and unlocks them.
template <class Policy>
void join_backs(table<Policy>& t, const back_bucket<slot_of<Policy>>& lower, std::uint64_t below,
                const back_bucket<slot_of<Policy>>& upper, std::uint64_t above) noexcept {
  t.merges.fetch_add(1, sync::relaxed); // relaxed: as in merge_front
  for (unsigned slot = 0; slot < back_slots; ++slot) {
    const std::uint64_t tag = above >> (8 * slot) & 0x7f;
    if (tag == 0) continue;
    const unsigned to = cpu::lowest_bit(usable(t, lower.slots, back::match(below, 0)));
    copy_slot(t, lower.slots[to], upper.slots[slot]);
    below = back::with_tag(below, to, tag);
  }
  drain(t);
  // [show-back] release: pairs with [back-tags]; a lookup that misses the entry in the upper bucket is told by its level
  if constexpr (durable<Policy>) lower.line->store(below | back::locked, sync::release);
  else unlock_back(*lower.line, below);
  // [end-bucket] release: pairs with [ready], with [lock-back], and with [back-tags]
  upper.line->store(0, sync::release);
  if constexpr (durable<Policy>) { // before the lower bucket is unlocked, as in split_front
    for (unsigned slot = 0; slot < back_slots; ++slot) leave_slot(t, upper.slots[slot]);
    drain(t);
    unlock_back(*lower.line, below);
  }
}

/// Merges a pair of back buckets. Entries for which the lower one has no slot are moved elsewhere first.
template <class Policy> moved merge_back(table<Policy>& t, root_word r, const pair_position& p) noexcept {
  const auto lower = back_at(t, p.residue, p.copy);
  const auto upper = back_at(t, p.residue, p.upper());
  for (;;) {
    const std::uint64_t below = lock_back(*lower.line);
    if (!is_same_root(t, r)) { // as in merge_front
      unlock_back(*lower.line, below);
      return moved::earlier;
    }
    const std::uint64_t above = lock_back(*upper.line);
    const bool ready = (above & back::ready) != 0;
    if (ready && free_slots(t, lower, below) >= back::used(above)) {
      join_backs(t, lower, below, upper, above);
      return moved::now;
    }
    const unsigned slot = ready ? cpu::lowest_bit(~std::uint64_t{back::match(above, 0)} & 0xff) : 0;
    const std::uint64_t hash = ready ? hash_of_slot(t.policy, upper.slots[slot]) : 0;
    unlock_back(*upper.line, above);
    unlock_back(*lower.line, below);
    if (!ready) return moved::earlier;
    if (evict(t, upper, slot, hash, true) == changed::no_memory) return moved::no_memory;
  }
}

} // namespace cubby::inline v0::detail::engines::iceberg
