// SPDX-License-Identifier: Apache-2.0
// Insert if absent (section 3.2): under the lock of the front bucket the key is searched for in all three levels, and goes into the
// first of them that has a slot.
#pragma once

#include <cubby/detail/engines/iceberg/grow.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

template <class Policy> struct inserted_entry {
  insert_outcome outcome = insert_outcome::inserted;
  static constexpr bool shown = false;
  typename Policy::stored_value word{};
};

/// Inserts under the lock of `at`. `again`: a bucket moved.
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE changed insert_locked(table<Policy>& t, const thread_record& who, home<Policy>& at, const Probe& p,
                                          const typename Policy::stored_key& key,
                                          const typename Policy::stored_value& value,
                                          inserted_entry<Policy>& out) noexcept {
  seen_entry<Policy> e;
  if (!search_locked(t, at, p, e)) return changed::again;
  if (e.where != nullptr) {
    out.outcome = insert_outcome::exists;
    out.word = e.value;
    return changed::full;
  }
  if (t.places.is_bounded() && !t.places.take(who.id())) {
    out.outcome = insert_outcome::full;
    return changed::full;
  }
  at.is_new = true;
  const changed how = put_new(t, at, key, value);
  if (how == changed::done) return how;
  if (t.places.is_bounded()) t.places.give(who.id());
  out.outcome = insert_outcome::no_memory;
  return how;
}

/// Ends an insert that has put its entry.
template <class Policy>
CUBBY_ALWAYS_INLINE void end_insert(table<Policy>& t, const thread_record& who, std::uint64_t hash, front_line& line,
                                    std::uint64_t word, std::uint64_t free) noexcept {
  unlock_changed(line, word);
  t.entries.add(who.id(), 1);
  after_insert(t, who, hash, free);
}

/// A front bucket that an insert has locked, while no bucket moved. `line` is null: none is locked. Its pointers have no initial values, which
/// each insert would store.
template <class Policy> struct locked_front {
  root_word root;
  front_line* line;
  slot_of<Policy>* slots;
  std::uint64_t word; // of its state
};

/// The insert for every state of the table. `line` is null: no bucket is locked. Otherwise that one is, and `word` is its state. All by value,
/// as find_anywhere, and called in one place, as find_elsewhere.
template <class Policy, class Probe>
CUBBY_OUTLINED inserted_entry<Policy> insert_anywhere(table<Policy>& t, const thread_record& who,
                                                      std::uint64_t root_bits, front_line* line, slot_of<Policy>* slots,
                                                      std::uint64_t word, Probe p, typename Policy::stored_key key,
                                                      typename Policy::stored_value value) noexcept {
  inserted_entry<Policy> out;
  hashed h = hashed_in(t, p.hash);
  home<Policy> at{h, root_word{root_bits}, {line, slots}, word, {}};
  for (unsplit bucket = unsplit::stays;;) {
    if (at.at.line == nullptr) at = lock_home(t, h, bucket);
    out.outcome = insert_outcome::inserted;
    changed how = insert_locked(t, who, at, p, key, value, out);
    if (how == changed::done) {
      end_insert(t, who, p.hash, *at.at.line, at.state, empty_slots<slot_of<Policy>>(*at.at.line, t.unit));
      return out;
    }
    unlock_unchanged(*at.at.line, at.state);
    if (how == changed::no_memory && grow_after_refusal(t, who, at.root)) how = changed::again;
    if (how == changed::crowded) bucket = unsplit::splits;
    else if (how != changed::again) return out;
    at.at.line = nullptr;
  }
}

/// The usual path of an insert: no bucket moves, and the key belongs in front. False: `insert_anywhere` does it, with what `in` says.
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE bool insert_in_front(table<Policy>& t, const thread_record& who, const Probe& p,
                                         const typename Policy::stored_key& key,
                                         const typename Policy::stored_value& value, locked_front<Policy>& in,
                                         inserted_entry<Policy>& out) noexcept {
  hashed h = hashed_in(t, p.hash);
  front<slot_of<Policy>> at;
  in = {first_root(t), nullptr, nullptr, 0};
  if (!front_at_rest(t, h, in.root, at)) return false;
  prefetch_preferred<Policy>(at, h);
  std::uint64_t word = lock_line(*at.line);
  if (!is_same_root(t, in.root)) [[unlikely]] {
    unlock_unchanged(*at.line, word);
    return false;
  }
  if ((word & state::inherited) != 0) [[unlikely]]
    word = state::without_inherited(word); // as in lock_home
  const std::uint64_t equal = tagged_slots<slot_of<Policy>>(*at.line, h.tag, t.unit);
  const std::uint64_t empty = usable(t, at.slots, empty_slots<slot_of<Policy>>(*at.line, t.unit));
  seen_entry<Policy> e;
  if (search_slots(t, at.slots, equal, p, always_whole, e)) {
    unlock_unchanged(*at.line, word);
    out = {.outcome = insert_outcome::exists, .word = e.value};
    return true;
  }
  if (empty == 0 || may_be_behind(word, h.tag) || is_zero_key<Policy>(key)) {
    in = {in.root, at.line, at.slots, word};
    return false;
  }
  if (t.places.is_bounded() && !t.places.take(who.id())) [[unlikely]] {
    unlock_unchanged(*at.line, word);
    out = {.outcome = insert_outcome::full};
    return true;
  }
  const unsigned slot = slot_for(t, at.slots, h, empty);
  {
    const logged_change<Policy> entry(t, *at.line, pool_layout::log_kind::put, key, value);
    put_entry<Policy>(at.slots[slot], key, value);
    keep_slot(t, at.slots[slot]);
  }
  show_tag<slot_of<Policy>>(*at.line, slot, h.tag);
  end_insert(t, who, p.hash, *at.line, word, empty & ~(std::uint64_t{1} << slot));
  return true;
}

template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE inserted_entry<Policy> insert_words(table<Policy>& t, const thread_record& who, const Probe& p,
                                                        const typename Policy::stored_key& key,
                                                        const typename Policy::stored_value& value) noexcept {
  locked_front<Policy> seen;
  inserted_entry<Policy> out;
  if (insert_in_front(t, who, p, key, value, seen, out)) [[likely]]
    return out;
  return insert_anywhere(t, who, seen.root.bits, seen.line, seen.slots, seen.word, p, key, value);
}

/// Inserts a key that may need a record outside the slot. It is made before the bucket is locked, and only if the key seems absent.
template <class Policy, class Probe>
CUBBY_OUTLINED inserted_entry<Policy> insert_owned(table<Policy>& t, const thread_record& who, Probe p,
                                                   typename Policy::stored_value value) {
  if (const auto seen = find(t, p); seen.found) return {.outcome = insert_outcome::exists, .word = seen.word};
  typename Policy::stored_key key;
  if (!t.policy.make_key(p, key)) {
    t.key_records.bag.collect(); // for the calls that follow: a call that fails retires nothing
    return {.outcome = insert_outcome::no_memory};
  }
  const inserted_entry<Policy> out = insert_words(t, who, p, key, value);
  const std::uint64_t record = Policy::key_word_to_retire(key);
  if (out.outcome != insert_outcome::inserted && record != 0) t.policy.dispose_key(record);
  return out;
}

/// Inserts `value` for the probe's key unless the key is present. Waits for other changes in the same bucket.
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE inserted_entry<Policy> insert(table<Policy>& t, const thread_record& who, const Probe& p,
                                                  const typename Policy::stored_value& value) {
  if constexpr (key_owning_policy<Policy>) {
    if (Policy::needs_record(p)) return insert_owned(t, who, p, value);
  }
  return insert_words(t, who, p, key_asked(p), value);
}

} // namespace cubby::inline v0::detail::engines::iceberg
