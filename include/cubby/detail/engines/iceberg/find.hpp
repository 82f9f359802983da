// SPDX-License-Identifier: Apache-2.0
// Lookups (section 3.2): the tags of the front bucket, then the slots whose tags agree, then, if the filter allows it, both back
// buckets and the chain. A lookup takes no lock and writes nothing. It looks again if an entry that it has met was erased or moved
// meanwhile; a wide value that is being written it waits for.
#pragma once

#include <cubby/detail/engines/iceberg/chains.hpp>
#include <cubby/detail/engines/iceberg/words.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

enum class yard : std::uint8_t { none, front, back, chain };

/// An entry that a search has met. Under the lock of the front bucket it stays there.
template <class Policy> struct seen_entry {
  slot_of<Policy>* where = nullptr;
  typename Policy::stored_value value{};
  yard in = yard::none;
  unsigned number = 0; // of the slot in its bucket
  back_bucket<slot_of<Policy>> bucket{};
  std::uint64_t key_record = 0; // of an entry that was removed: retired by the caller
  std::uint64_t node = 0;       // of an entry in a chain
};

/// Searches the slots in `mask` for the query's key.
template <class Policy, class Probe, class Whole>
CUBBY_ALWAYS_INLINE bool search_slots(const table<Policy>& t, slot_of<Policy>* slots, std::uint64_t mask,
                                      const Probe& p, const Whole& is_whole, seen_entry<Policy>& out) noexcept {
  for (; mask != 0; mask &= mask - 1) {
    const std::size_t number = cpu::lowest_index(mask);
    slot_of<Policy>& s = slots[number];
    if (!has_key_words(t, s, p, is_whole)) continue;
    out.value = value_in<Policy>(s);
    if (!matches(t.policy, p, out.value)) continue;
    out.where = &s;
    out.number = static_cast<unsigned>(number);
    return true;
  }
  return false;
}

/// For keys that do not change meanwhile.
inline constexpr auto always_whole = [] { return true; };

template <class Policy, class Probe>
bool search_chain(const table<Policy>& t, const chain_array& in, const hashed& h, const Probe& p,
                  seen_entry<Policy>& out) noexcept {
  using node_type = node<Policy>;
  if (!may_be_chained<Policy>(in, h.hash)) return false;
  // [link] acquire: pairs with [put-link]
  std::uint64_t link = in.heads[chain_number<Policy>(in, h.hash)].first.load(sync::acquire);
  for (; link != 0; link = node_at<Policy>(link)->next.load(sync::acquire)) { // [link] acquire: pairs with [put-link]
    node_type& n = *node_at<Policy>(link);
    if (!has_key_words(t, n.entry(), p, always_whole)) continue; // the key of a node does not change
    out.value = value_in<Policy>(n.entry());
    if (!matches(t.policy, p, out.value)) continue;
    out.where = &n.entry();
    out.node = link;
    out.in = yard::chain;
    return true;
  }
  return false;
}

/// Searches one back bucket. Entries of other front buckets come and go in it meanwhile. A key of one word is an entry of the query's
/// front bucket, whose version the caller compares. Words of a longer key may be of different entries, unless the version of the back
/// bucket is the same.
template <class Policy, class Probe>
bool search_back(const table<Policy>& t, const back_bucket<slot_of<Policy>>& b, std::uint8_t tag, const Probe& p,
                 seen_entry<Policy>& out) noexcept {
  constexpr bool versioned = slot_of<Policy>::wide_key;
  for (;;) {
    std::uint64_t version = 0;
    // [back-version] acquire: pairs with [raise-back]; the tags that are read next are those of that version, or newer
    if constexpr (versioned) version = b.version->load(sync::acquire);
    const auto is_whole = [&] {
      // relaxed: behind the acquire loads of the key's words; who fills a slot again has seen the newer version
      if constexpr (versioned) return b.version->load(sync::relaxed) == version;
      else return true;
    };
    // [back-tags] acquire: pairs with [show-back], and with [end-bucket]
    const std::uint64_t word = b.line->load(sync::acquire);
    const bool found = search_slots(t, b.slots, back::match(word, tag), p, is_whole, out);
    if (!found || is_whole()) return found;
    out.where = nullptr; // words of two entries
  }
}

/// Asks for what a search of a back bucket reads: its word, and the slots that are filled first.
template <class Slot> CUBBY_ALWAYS_INLINE void prefetch_back(const back_bucket<Slot>& b) noexcept {
  prefetch_line(b.line);
  if constexpr (Slot::wide_key) prefetch_line(b.version);
  prefetch_line(b.slots);
}
/// Searches the back yard and the chain.
template <class Policy, class Probe>
CUBBY_OUTLINED bool search_behind(const table<Policy>& t, const hashed& h, root_word r, std::uint64_t state_word,
                                  const Probe& p, seen_entry<Policy>& out) noexcept {
  const std::uint8_t tag = short_tag(h.tag);
  back_bucket<slot_of<Policy>> two[2];
  for (unsigned which = 0; which < 2; ++which) {
    const std::uint64_t hash = back_hash(h.hash, which);
    two[which] = back_of(t, hash, level_of_back(t, hash, r));
    prefetch_back(two[which]); // of both, so that one wait for memory is often enough
  }
  if ((state_word & state::chained) != 0) prefetch_chain(t, h.hash);
  for (const auto& b : two) {
    if (search_back(t, b, tag, p, out)) {
      out.in = yard::back;
      out.bucket = b;
      return true;
    }
  }
  if ((state_word & state::chained) == 0) return false;
  bool found = false;
  for_each_chain_array(t, [&](const chain_array& in) { found = found || search_chain(t, in, h, p, out); });
  return found;
}

/// A lookup whose front line has been read.
template <class Policy> struct lookup {
  hashed h;
  root_word root;
  front<slot_of<Policy>> at;
  std::uint64_t state = 0;
  std::uint64_t mask = 0; // slots with the tag
};

template <class Policy> CUBBY_NEVER_INLINE void wait_for_writer(const front_line& line) noexcept {
  sync::backoff wait;
  // [state] acquire: pairs with [unlock-front]
  while ((line.state.load(sync::acquire) & state::writing) != 0) wait.pause();
}

/// Reads the front line of a hash.
template <class Policy>
CUBBY_ALWAYS_INLINE lookup<Policy> begin_lookup(const table<Policy>& t, const hashed& h) noexcept {
  lookup<Policy> l;
  l.h = h;
  l.root = first_root(t);
  unsigned level = l.root.level();
  if (l.root.moving()) [[unlikely]] {
    prefetch_both_fronts(t, h, l.root);
    level = level_of_front(t, h, l.root);
  }
  l.at = front_of(t, h, level);
  // [state] acquire: pairs with [unlock-front], and with [version]
  l.state = l.at.line->state.load(sync::acquire);
  if constexpr (waits_for_writer<Policy>) {
    while ((l.state & state::writing) != 0) [[unlikely]] {
      wait_for_writer<Policy>(*l.at.line);
      l.state = l.at.line->state.load(sync::acquire); // [state] acquire: pairs with [unlock-front], and with [version]
    }
  }
  l.mask = tagged_slots<slot_of<Policy>>(*l.at.line, h.tag, t.unit);
  return l;
}
CUBBY_ALWAYS_INLINE bool may_be_behind(std::uint64_t state_word, std::uint16_t tag) noexcept {
  return (~state_word & state::filter_of(tag)) == 0;
}

/// Whether what the lookup has met was the entry at one moment: no slot of its keys was emptied since.
template <class Policy> CUBBY_ALWAYS_INLINE bool is_same_state(const front_line& line, std::uint64_t before) noexcept {
  // relaxed: behind the acquire loads of the slot's words. Writers that fill the slot again have seen the newer version. A wide value
  // that is being written fails the comparison, too: its lookup began before. So does a durable change that is not durable yet.
  constexpr std::uint64_t mask = state::position_mask | (waits_for_writer<Policy> ? state::writing : 0);
  const std::uint64_t seen = line.state.load(sync::relaxed) ^ before;
  return (seen & mask) == 0 && (!waits_for_writer<Policy> || (before & state::writing) == 0);
}
template <class Policy> CUBBY_ALWAYS_INLINE bool is_unchanged(const lookup<Policy>& l) noexcept {
  return is_same_state<Policy>(*l.at.line, l.state);
}
/// The same for a key that was not met. In memory an entry that leaves needs no second look. A durable table may have emptied its slot
/// without the erase being durable yet.
template <class Policy>
CUBBY_ALWAYS_INLINE bool is_absent_for_sure(const front_line& line, std::uint64_t before) noexcept {
  return !durable<Policy> || is_same_state<Policy>(line, before);
}

/// Whether the back buckets of a lookup are still at the levels at which it began.
template <class Policy>
bool are_back_levels(const table<Policy>& t, const lookup<Policy>& l, const unsigned (&level)[2]) noexcept {
  for (unsigned which = 0; which < 2 && l.root.moving(); ++which) {
    if (level_of_back(t, back_hash(l.h.hash, which), l.root) != level[which]) return false;
  }
  return is_same_root(t, l.root); // last, as in lock_home
}

/// The rest of a lookup that may have to look in other buckets, or at buckets that move.
template <class Policy, class Probe>
CUBBY_OUTLINED bool end_lookup_behind(const table<Policy>& t, const lookup<Policy>& l, const Probe& p,
                                      seen_entry<Policy>& out) noexcept {
  const bool behind = may_be_behind(l.state, l.h.tag);
  unsigned level[2] = {};
  if (l.root.moving()) {
    for (unsigned which = 0; which < 2; ++which) level[which] = level_of_back(t, back_hash(l.h.hash, which), l.root);
  }
  if (behind && search_behind(t, l.h, l.root, l.state, p, out)) {
    return is_unchanged(l) && are_back_levels(t, l, level);
  }
  if (!is_same_root(t, l.root) || !is_absent_for_sure<Policy>(*l.at.line, l.state)) return false;
  if (!l.root.moving()) return true;
  // What this lookup has missed may have been moved to another bucket, or back.
  return is_unchanged(l) && front_of(t, l.h, level_of_front(t, l.h, l.root)).line == l.at.line &&
         are_back_levels(t, l, level);
}

/// Searches from a line that has been read. False: look again from the beginning.
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE bool end_lookup(const table<Policy>& t, const lookup<Policy>& l, const Probe& p,
                                    seen_entry<Policy>& out) noexcept {
  out.where = nullptr;
  if (search_slots(t, l.at.slots, l.mask, p, [&] { return is_unchanged(l); }, out)) {
    out.in = yard::front;
    // Linearization point of a hit: the load of the value word. The entry was in its slot then, because the version is the same.
    return is_unchanged(l);
  }
  const bool behind = may_be_behind(l.state, l.h.tag);
  if (!behind && !l.root.moving()) [[likely]]
    // Linearization point of a miss: a moment at which the key was absent. There is one, since an entry stays where it is.
    return is_same_root(t, l.root) && is_absent_for_sure<Policy>(*l.at.line, l.state);
  return end_lookup_behind(t, l, p, out);
}

/// The entry of the query's key, wherever it is. It looks again only after an erase or a move in the key's bucket. It takes the probe by
/// value, as the other functions of rare cases do: a caller whose probe had an address would keep it in memory.
template <class Policy, class Probe>
CUBBY_OUTLINED seen_entry<Policy> find_anywhere(const table<Policy>& t, Probe p) noexcept {
  hashed h = hashed_in(t, p.hash);
  seen_entry<Policy> out;
  while (!end_lookup(t, begin_lookup(t, h), p, out)) {
  }
  return out;
}

/// The rest of a lookup that has met nothing in its front bucket, while no bucket moved and the root had these bits. `state_word` is 0: it
/// begins again. (In a bucket with something behind it is not.) By value, as find_anywhere. One function for both: where two calls have the same
/// probe, g++ puts it into memory in front of both, and so in each lookup.
template <class Policy, class Probe>
CUBBY_OUTLINED found_as<typename Policy::stored_value>
find_elsewhere(const table<Policy>& t, Probe p, std::uint64_t root_bits, std::uint64_t state_word) noexcept {
  seen_entry<Policy> e;
  bool done = false;
  if (state_word != 0) {
    lookup<Policy> l;
    l.h = hashed_in(t, p.hash);
    l.root = root_word{root_bits};
    l.at = front_of(t, l.h, l.root.level());
    l.state = state_word;
    done = end_lookup_behind(t, l, p, e);
  }
  if (!done) e = find_anywhere(t, p);
  return {e.where != nullptr, e.value};
}

/// What the usual path of a lookup has met in the front bucket of the key. `behind`: nothing, but the filter has its tag. `unsure`:
/// look again from the beginning.
enum class glimpse : std::uint8_t { hit, miss, behind, unsure };
template <class Policy> struct front_hit {
  root_word root;
  front<slot_of<Policy>> at;
  std::uint64_t state;
  std::uint64_t mask; // its lowest bit: the slot of the entry
  typename Policy::stored_value value;
};
/// Searches the front bucket, while no bucket moves. The variables of `out` are local to the caller, so that they stay in registers.
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE glimpse find_in_front(const table<Policy>& t, const Probe& p, front_hit<Policy>& out) noexcept {
  hashed h = hashed_in(t, p.hash);
  root_word root = first_root(t);
  out.root = root;
  if (!front_at_rest(t, h, root, out.at)) return glimpse::unsure;
  prefetch_preferred<Policy>(out.at, h);
  // [state] acquire: pairs with [unlock-front], and with [version]
  out.state = out.at.line->state.load(sync::acquire);
  out.mask = tagged_slots<slot_of<Policy>>(*out.at.line, h.tag, t.unit);
  for (; out.mask != 0; out.mask &= out.mask - 1) {
    slot_of<Policy>& s = out.at.slots[cpu::lowest_index(out.mask)];
    if (!has_key_words(t, s, p, [&] { return is_same_state<Policy>(*out.at.line, out.state); })) continue;
    out.value = value_in<Policy>(s);
    if (!matches(t.policy, p, out.value)) continue;
    // Linearization point of a hit: the load of the value word. The entry was in its slot then, because the version is the same.
    const bool same = is_same_state<Policy>(*out.at.line, out.state);
    return same ? glimpse::hit : glimpse::unsure;
  }
  if (may_be_behind(out.state, h.tag)) return glimpse::behind;
  // Linearization point of a miss: a moment at which the key was absent. There is one, since an entry stays where it is.
  const bool sure = is_absent_for_sure<Policy>(*out.at.line, out.state);
  return sure && is_same_root(t, root) ? glimpse::miss : glimpse::unsure;
}

/// The value words of the query's key. Linearizable.
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE found_as<typename Policy::stored_value> find(const table<Policy>& t, const Probe& p) noexcept {
  front_hit<Policy> seen;
  glimpse how = find_in_front(t, p, seen);
  if (how == glimpse::hit) [[likely]]
    return {true, seen.value};
  if (how == glimpse::miss) return {};
  return find_elsewhere(t, p, seen.root.bits, how == glimpse::behind ? seen.state : 0);
}

template <class Policy>
CUBBY_ALWAYS_INLINE void prefetch_back_lines(const table<Policy>& t, std::uint64_t hash, unsigned level) noexcept {
  for (unsigned which = 0; which < 2; ++which) prefetch_line(back_of(t, back_hash(hash, which), level).line);
}
template <class Policy> CUBBY_ALWAYS_INLINE void prefetch_front(const table<Policy>& t, std::uint64_t hash) noexcept {
  hashed h = hashed_in(t, hash);
  prefetch_line(front_of(t, h, first_root(t).level()).line);
}
/// Prefetches a slot whose tag agrees; without one, the slot that an insert takes; in a full bucket, the words of the back buckets. Reads
/// the front line.
template <class Policy> CUBBY_ALWAYS_INLINE void prefetch_slot(const table<Policy>& t, std::uint64_t hash) noexcept {
  hashed h = hashed_in(t, hash);
  root_word root = first_root(t);
  auto at = front_of(t, h, root.level());
  const std::uint64_t equal = tagged_slots<slot_of<Policy>>(*at.line, h.tag, t.unit);
  if (equal != 0) {
    prefetch_line(&at.slots[cpu::lowest_bit(equal)]);
    return;
  }
  const std::uint64_t empty = empty_slots<slot_of<Policy>>(*at.line, t.unit);
  if (empty != 0) {
    prefetch_line(&at.slots[best_slot<slot_of<Policy>>(h, [&](std::uint64_t some) { return empty & some; })]);
    return;
  }
  for (unsigned which = 0; which < 2; ++which) {
    const auto b = back_of(t, back_hash(hash, which), root.level());
    prefetch_line(b.line);
    prefetch_line(b.slots);
  }
}

} // namespace cubby::inline v0::detail::engines::iceberg
