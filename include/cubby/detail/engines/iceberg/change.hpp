// SPDX-License-Identifier: Apache-2.0
// What each change of an entry does: it locks the front bucket of the key, searches again, and changes the slot that it has found. No
// function of the caller runs meanwhile, except the comparison of keys.
#pragma once

#include <cubby/detail/engines/iceberg/behind.hpp>
#include <cubby/detail/engines/iceberg/durable.hpp>
#include <cubby/detail/engines/iceberg/find.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

/// Locks a front bucket and returns its state. Spins while another thread holds it.
inline std::uint64_t lock_line(front_line& line) noexcept {
  // [lock-front] acquire: pairs with [unlock-front], with [show-bucket], and with [end-bucket]
  return lock_word(line.state, state::locked);
}
/// Unlocks a bucket whose entries have not changed.
inline void unlock_unchanged(front_line& line, std::uint64_t word) noexcept {
  // [unlock-front] release: pairs with [lock-front]
  line.state.store(word, sync::release);
}
/// The end of a change: all threads see it before its thread loads anything else (A.1).
inline void unlock_changed(front_line& line, std::uint64_t word) noexcept {
  // [unlock-front] seq_cst: pairs with [lock-front], and with [state]
  line.state.store(word, sync::seq_cst);
}

/// Shows the tag of a slot whose words are written. Under the lock of the bucket.
template <class Slot> void show_tag(front_line& line, unsigned slot, std::uint16_t tag) noexcept {
  using tag_type = typename Slot::tag;
  sync::word<std::uint64_t>& word = line.tag_words[tags::word_of<tag_type>(slot)];
  // relaxed: under the lock
  const std::uint64_t tagged = tags::with_tag(word.load(sync::relaxed), slot, static_cast<tag_type>(tag));
  // [show-tag] release: pairs with [tags]; a lookup that sees the tag sees the words of the slot
  word.store(tagged, sync::release);
}
/// Empties a slot. Under the lock of the bucket.
template <class Slot> void hide_tag(front_line& line, unsigned slot) noexcept {
  using tag_type = typename Slot::tag;
  sync::word<std::uint64_t>& word = line.tag_words[tags::word_of<tag_type>(slot)];
  // relaxed: under the lock
  const std::uint64_t untagged = tags::with_tag(word.load(sync::relaxed), slot, tag_type{0});
  // [hide-tag] release: pairs with [tags]
  word.store(untagged, sync::release);
}

inline std::uint64_t lock_back(back_line& line) noexcept {
  // [lock-back] acquire: pairs with [show-back], with [show-bucket], and with [end-bucket]
  return lock_word(line, back::locked);
}
inline void unlock_back(back_line& line, std::uint64_t word) noexcept {
  // [show-back] release: pairs with [back-tags], and with [lock-back]
  line.store(word, sync::release);
}

/// Shows all threads that slots of a locked back bucket are empty, and raises its version after that (I5). Returns `word`, for the unlock.
template <class Slot> std::uint64_t hide_in_back(const back_bucket<Slot>& b, std::uint64_t word) noexcept {
  // [hide-back] release: pairs with [back-tags]
  b.line->store(word | back::locked, sync::release);
  if constexpr (Slot::wide_key) {
    // relaxed: under the lock
    // [raise-back] release: pairs with [back-version]; a lookup that sees it sees the hidden tags
    b.version->store(b.version->load(sync::relaxed) + 1, sync::release);
  }
  return word;
}

/// The front bucket of a key, locked. `state` is what the unlock stores.
template <class Policy> struct home {
  hashed h;
  root_word root;
  front<slot_of<Policy>> at;
  std::uint64_t state = 0;
  unsigned back_level[2] = {}; ///< of the two back buckets, once `search_locked` has set it
  bool is_new = false;         ///< what is put is a new entry, and not a copy of one
  bool has_to_split = false;   ///< a growth is in progress that has not split the bucket yet
};

template <class Policy> void split_for_writer(table<Policy>& t, const hashed& h, root_word r) noexcept;

/// What `lock_home` does with a bucket that a growth has not split yet: leaves it, or splits it first.
enum class unsplit : std::uint8_t { stays, splits };
/// Locks the front bucket of a hash.
template <class Policy> home<Policy> lock_home(table<Policy>& t, const hashed& h,
                                               unsplit how = unsplit::stays) noexcept {
  for (;;) {
    home<Policy> out{h, first_root(t), {}, 0, {}};
    unsigned level = out.root.level();
    if (out.root.moving()) [[unlikely]] {
      prefetch_both_fronts(t, h, out.root);
      if (!out.root.shrinking() && how == unsplit::splits) split_for_writer(t, h, out.root);
      level = level_of_front(t, h, out.root);
    }
    out.at = front_of(t, h, level);
    out.state = lock_line(*out.at.line);
    // Nobody makes a bucket ready, or ends that, without the lock of the bucket beside it in the smaller table. The root is compared last:
    // a shrink may end, and the bucket that is ready now may be one of the growth after it, in another segment.
    if ((!out.root.moving() || level_of_front(t, h, out.root) == level) && is_same_root(t, out.root)) {
      out.has_to_split = out.root.moving() && !out.root.shrinking() && is_unsplit(t, h, out.root);
      // The growth that split the bucket has ended, and has moved what was behind it (I7).
      if ((out.state & state::inherited) != 0 && (!out.root.moving() || out.has_to_split))
        out.state = state::without_inherited(out.state);
      return out;
    }
    unlock_unchanged(*out.at.line, out.state);
  }
}

/// Whether no back bucket of the key has moved since `search_locked`. Under the lock of one of them that one stays.
template <class Policy> bool are_backs_same(const table<Policy>& t, const home<Policy>& at) noexcept {
  for (unsigned which = 0; which < 2 && at.root.moving(); ++which) {
    if (level_of_back(t, back_hash(at.h.hash, which), at.root) != at.back_level[which]) return false;
  }
  return is_same_root(t, at.root); // last, as in lock_home
}

/// Searches for the query's key in its locked bucket, and behind it. False: a back bucket moved; the caller unlocks and begins again.
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE bool search_locked(table<Policy>& t, home<Policy>& at, const Probe& p,
                                       seen_entry<Policy>& out) noexcept {
  const std::uint64_t mask = tagged_slots<slot_of<Policy>>(*at.at.line, at.h.tag, t.unit);
  if (search_slots(t, at.at.slots, mask, p, always_whole, out)) {
    out.in = yard::front;
    return true;
  }
  if (!may_be_behind(at.state, at.h.tag)) return true;
  return search_locked_behind(t, at, p, out);
}
template <class Policy>
void note_back_levels(const table<Policy>& t, home<Policy>& at) noexcept {
  for (unsigned which = 0; which < 2; ++which) {
    at.back_level[which] = at.root.moving() ? level_of_back(t, back_hash(at.h.hash, which), at.root) : at.root.level();
  }
}
template <class Policy, class Probe>
CUBBY_OUTLINED bool search_locked_behind(table<Policy>& t, home<Policy>& at, const Probe& p,
                                         seen_entry<Policy>& out) noexcept {
  note_back_levels(t, at);
  (void)search_behind(t, at.h, at.root, at.state, p, out);
  return are_backs_same(t, at);
}

/// What became of an attempt to change something. `again`: a bucket moved; begin again. `held`: wait first. `crowded`: split first.
enum class changed : std::uint8_t { done, again, held, full, no_memory, crowded };

/// Writes an entry into a free slot that no lookup finds yet. Nothing refuses it from then on, so the log is told of a new one.
template <class Policy>
CUBBY_ALWAYS_INLINE void put_in_place(table<Policy>& t, const home<Policy>& at, slot_of<Policy>& s,
                                      const typename Policy::stored_key& key,
                                      const typename Policy::stored_value& value) noexcept {
  const logged_change<Policy> entry(t, *at.at.line, pool_layout::log_kind::put, key, value, at.is_new);
  put_entry<Policy>(s, key, value);
  keep_slot(t, s);
}

/// Puts an entry into the emptier of its two back buckets. `full`: neither takes it. One that a growth has begun to empty takes nothing of a
/// front bucket that has yet to split: nobody would move that to the front (I7).
template <class Policy>
changed put_back(table<Policy>& t, home<Policy>& at, const typename Policy::stored_key& key,
                 const typename Policy::stored_value& value) noexcept {
  note_back_levels(t, at);
  back_bucket<slot_of<Policy>> two[2];
  unsigned used[2];
  for (unsigned which = 0; which < 2; ++which) {
    two[which] = back_of(t, back_hash(at.h.hash, which), at.back_level[which]);
    prefetch_line(two[which].slots); // a free slot is often there, and the unlock waits for its line
    used[which] = back::used(two[which].line->load(sync::relaxed)); // relaxed: a hint
  }
  const unsigned first = used[1] < used[0] ? 1 : 0;
  for (unsigned turn = 0; turn < 2; ++turn) {
    const auto& b = two[(first + turn) % 2];
    const std::uint64_t word = lock_back(*b.line);
    const std::uint64_t empty = usable(t, b.slots, back::match(word, 0));
    const bool same = are_backs_same(t, at);
    if (!same || empty == 0 || (at.has_to_split && !backs_wait(t, at.root))) {
      unlock_back(*b.line, word);
      if (!same) return changed::again;
      continue;
    }
    const unsigned slot = cpu::lowest_bit(empty);
    put_in_place(t, at, b.slots[slot], key, value);
    unlock_back(*b.line, back::with_tag(word, slot, short_tag(at.h.tag)));
    note_behind(t, at);
    return changed::done;
  }
  return changed::full;
}

/// Puts a node into its chain, after `write()` has written its entry. False: a growth has begun since the bucket was locked. It may have
/// emptied the chain already, so the entry must not go there (I7), and is not written.
template <class Policy, class Write>
CUBBY_ALWAYS_INLINE bool link_node(table<Policy>& t, home<Policy>& at, node<Policy>& made,
                                   const Write& write) noexcept {
  chain_array& in = newest_chains(t);
  chain& c = in.heads[chain_number<Policy>(in, at.h.hash)];
  const std::uint64_t filter = lock_chain(c);
  in.nodes.fetch_add(1, sync::seq_cst); // [count-node] seq_cst: pairs with [see-nodes], before the root is read
  // Behind a lock that the growth has held before it looked at the chain.
  if (first_root(t).bits != at.root.bits) {
    in.nodes.fetch_add(~std::uint64_t{0}, sync::relaxed); // relaxed: it was counted in vain
    unlock_chain(c, filter);
    return false;
  }
  write();
  made.retired = chain_marks(at.h.hash);
  // relaxed: before the link, so that who has met the entry finds its marks from then on
  c.filter.store(filter | made.retired | chain_locked, sync::relaxed);
  made.next.store(c.first.load(sync::relaxed), sync::relaxed); // relaxed, both: chains change under the lock
  // [put-link] release: pairs with [link]
  c.first.store(std::bit_cast<std::uint64_t>(&made), sync::release);
  unlock_chain(c, filter | made.retired);
  note_behind(t, at);
  at.state |= state::chained;
  return true;
}
/// Puts an entry into a node, and links it. False: as `link_node`.
template <class Policy>
bool put_in_chain(table<Policy>& t, home<Policy>& at, const typename Policy::stored_key& key,
                  const typename Policy::stored_value& value, node<Policy>& made) noexcept {
  return link_node(t, at, made, [&] { put_in_place(t, at, made.entry(), key, value); });
}

/// Puts an entry whose front bucket is full into the back yard or a chain.
template <class Policy>
CUBBY_OUTLINED changed put_behind(table<Policy>& t, home<Policy>& at, const typename Policy::stored_key& key,
                                  const typename Policy::stored_value& value) noexcept {
  const bool zero = is_zero_key<Policy>(key);
  const changed how = zero ? changed::full : put_back(t, at, key, value);
  if (how != changed::full) return how;
  if (at.has_to_split) return changed::crowded;
  if (at.is_new && chains_are_full(t)) return changed::no_memory;
  auto* const made = make_node(t);
  if (made == nullptr) return changed::no_memory;
  if constexpr (durable<Policy>) {
    if (zero) t.overflow.exchange(made->where, zero_slot(t));
  }
  if (put_in_chain(t, at, key, value, *made)) return changed::done;
  give_node(t, made);
  return changed::again;
}

/// Puts a new entry into a free slot. Linearization point of an insert: the tag, or for an entry behind the front bucket the
/// unlock, which shows the bit of the filter.
template <class Policy>
CUBBY_ALWAYS_INLINE changed put_new(table<Policy>& t, home<Policy>& at, const typename Policy::stored_key& key,
                                    const typename Policy::stored_value& value) noexcept {
  const std::uint64_t empty = usable(t, at.at.slots, empty_slots<slot_of<Policy>>(*at.at.line, t.unit));
  if (empty == 0 || is_zero_key<Policy>(key)) [[unlikely]]
    return put_behind(t, at, key, value);
  const unsigned slot = slot_for(t, at.at.slots, at.h, empty);
  put_in_place(t, at, at.at.slots[slot], key, value);
  show_tag<slot_of<Policy>>(*at.at.line, slot, at.h.tag);
  return changed::done;
}

/// The key record of an entry that leaves, or 0. Before its slot is emptied.
template <class Policy> std::uint64_t key_record_of(const slot_of<Policy>& s) noexcept {
  if constexpr (key_owning_policy<Policy>) return Policy::key_word_to_retire(key_in<Policy>(s));
  else return 0;
}
template <class Policy> void retire_key(table<Policy>& t, const thread_record& who, std::uint64_t record) {
  if constexpr (key_owning_policy<Policy>) {
    if (record != 0) t.key_records.bag.add(who, record);
  }
}

/// Makes the version of a locked bucket visible before a slot of its keys can be filled again (I5).
template <class Policy> void raise_version(home<Policy>& at) noexcept {
  at.state += state::version_step;
  // [version] release: pairs with [state]; a thread that fills the slot again has locked the back bucket after this
  at.at.line->state.store(at.state | state::locked, sync::release);
}

/// Removes the entry that `search_locked` has met. The caller retires the node of a chain.
template <class Policy> changed remove(table<Policy>& t, home<Policy>& at, const seen_entry<Policy>& e) noexcept {
  if (e.in == yard::front) {
    erase_slot(t, *at.at.line, at.state, *e.where);
    hide_tag<slot_of<Policy>>(*at.at.line, e.number); // Linearization point of an erase, here and below.
    at.state += state::version_step;
    return changed::done;
  }
  if (e.in == yard::chain) {
    erase_slot(t, *at.at.line, at.state, *e.where);
    unlink(t, at.h.hash, *e.where);
    note_left_behind(t, at);
    at.state += state::version_step; // (I6)
    return changed::done;
  }
  const std::uint64_t word = lock_back(*e.bucket.line);
  if (!are_backs_same(t, at)) {
    unlock_back(*e.bucket.line, word);
    return changed::again;
  }
  erase_slot(t, *at.at.line, at.state, *e.where);
  const std::uint64_t left = hide_in_back(e.bucket, back::with_tag(word, e.number, 0));
  note_left_behind(t, at); // before the version, with which cleared bits of the filter go (I6)
  raise_version(at);       // after the tag is hidden: a lookup with the newer version does not read the slot
  unlock_back(*e.bucket.line, left);
  return changed::done;
}

template <class Policy> entry_identity<Policy> identity_of(const slot_of<Policy>& s) noexcept {
  if constexpr (Policy::in_records) return value_in<Policy>(s);
  else return key_in<Policy>(s);
}
/// Whether a `modify` holds the entry in a slot of a locked bucket. Clears the bucket's mark if there are no holds at all.
template <class Policy>
CUBBY_OUTLINED bool is_in_holds(table<Policy>& t, std::uint64_t& word, std::uint64_t hash,
                                const slot_of<Policy>& s) noexcept {
  const lock_scope alone(t.holds_lock);
  if (t.holds == nullptr) word &= ~state::held;
  const held_entry<Policy>* one = t.holds;
  while (one != nullptr && (one->hash != hash || !(one->entry == identity_of<Policy>(s)))) one = one->next;
  return one != nullptr;
}
template <class Policy>
bool is_held(table<Policy>& t, std::uint64_t& word, std::uint64_t hash, const slot_of<Policy>& s) noexcept {
  return (word & state::held) != 0 && is_in_holds(t, word, hash, s);
}

/// Writes the value of an entry whose slot nobody else changes. Readers of a wide value wait meanwhile.
template <class Policy>
void write_value([[maybe_unused]] table<Policy>& t, home<Policy>& at, slot_of<Policy>& s,
                 const typename Policy::stored_value& value) noexcept {
  if constexpr (durable<Policy>) {
    static_assert(!wide_value<Policy>, "a durable value is one word, so that it is there whole or not at all");
    const logged_change<Policy> entry(t, *at.at.line, pool_layout::log_kind::put, key_in<Policy>(s), value);
    hold_lookups(t, *at.at.line, at.state);
    if constexpr (Policy::in_records) t.policy.note_replaced(value_in<Policy>(s), value);
    put_value<Policy>(s, value); // Linearization point of an assign; with a drain, the unlock.
    write_slot_back(t, s);
    drain(t);
    if (t.policy.home().medium().must_drain()) at.state += state::version_step;
  } else if constexpr (wide_value<Policy>) {
    // [version] release: pairs with [state]
    at.at.line->state.store(at.state | state::locked | state::writing, sync::release);
    put_value<Policy>(s, value);
    at.state += state::version_step;
  } else {
    put_value<Policy>(s, value); // Linearization point of an assign.
  }
}
template <class Policy>
changed assign(table<Policy>& t, home<Policy>& at, const seen_entry<Policy>& e,
               const typename Policy::stored_value& value) noexcept {
  if (e.in != yard::back) {
    write_value(t, at, *e.where, value);
    return changed::done;
  }
  back_line& line = *e.bucket.line;
  const std::uint64_t word = lock_back(line); // a move of the back bucket may be copying the slot
  const bool same = are_backs_same(t, at);
  if (same) write_value(t, at, *e.where, value);
  unlock_back(line, word);
  return same ? changed::done : changed::again;
}

} // namespace cubby::inline v0::detail::engines::iceberg
