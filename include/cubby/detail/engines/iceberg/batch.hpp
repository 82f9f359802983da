// SPDX-License-Identifier: Apache-2.0
// Many finds with overlapping memory latencies. The front lines of a group are prefetched one group ahead. Then the lines are read,
// and one or two slots whose tags agree are prefetched, or the words of the back buckets. Then each request is answered. One whose key
// may be behind its front bucket is answered after the others of its group, unless the words of its back buckets say that it is not
// there. The paper has no batches.
#pragma once

#include <type_traits>

#include <cubby/detail/core/prefetch_group.hpp>
#include <cubby/detail/engines/iceberg/find.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

/// A request of a batch. Without initial values: each call would store those of two groups.
template <class Policy, class Probe> struct pending {
  Probe probe;
  front_line* line;
  slot_of<Policy>* slots;
  std::uint64_t state;
  std::uint64_t mask;
  std::uint16_t tag;
};

/// Whether a slot that agrees with a request may lead to more that is to be read.
template <class Policy, class Probe> CUBBY_ALWAYS_INLINE bool leads_on([[maybe_unused]] const Probe& p) noexcept {
  if constexpr (key_owning_policy<Policy>) return Policy::needs_record(p);
  else return entries_apart<Policy>;
}
/// Reads the front line of a request, and prefetches what it reads next. Sets `is_apart` if that may lead to a record.
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE void read_line(const table<Policy>& t, pending<Policy, Probe>& one, unsigned level,
                                   bool& is_apart) noexcept {
  // [state] acquire: pairs with [unlock-front], and with [version]
  one.state = one.line->state.load(sync::acquire);
  one.mask = tagged_slots<slot_of<Policy>>(*one.line, one.tag, t.unit);
  if (one.mask != 0) { // of the slots at most two, seldom too few: a loop would end after one or two rounds, at random
    prefetch_line(&one.slots[cpu::lowest_index(one.mask)]);
    if constexpr (sizeof(typename slot_of<Policy>::tag) == 1) // with tags of two bytes there is seldom another one
      prefetch_line(&one.slots[cpu::highest_bit(one.mask)]);
    is_apart |= leads_on<Policy>(one.probe);
    return;
  }
  if (!may_be_behind(one.state, one.tag)) [[likely]]
    return;
  prefetch_back_lines(t, one.probe.hash, level);
  if ((one.state & state::chained) != 0) prefetch_chain(t, one.probe.hash);
}
/// Prefetches what the slot of a key leads to, if a tag in `mask` agrees. Only a hint: nothing is verified.
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE void read_slot(const table<Policy>& t, const slot_of<Policy>* slots, std::uint64_t mask,
                                   const Probe& p) noexcept {
  if (mask == 0) return;
  const slot_of<Policy>& low = slots[cpu::lowest_bit(mask)];
  if constexpr (key_owning_policy<Policy>) {                        // tags of two bytes: there is seldom another one
    Policy::prefetch_text(p, low.key[0].load(sync::relaxed), &low); // relaxed: a hint
  } else {
    const slot_of<Policy>& high = slots[cpu::highest_bit(mask)];
    const bool is_low = low.key[0].load(sync::relaxed) == p.word; // relaxed: a hint, as below
    const std::uint64_t record = (is_low ? low : high).value[0].load(sync::relaxed);
    prefetch_group::lines_of_record(t.policy, p, record);
  }
}
/// The same for a key alone, whose front line and slot have been asked for.
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE void prefetch_record(const table<Policy>& t, const Probe& p) noexcept {
  if constexpr (key_owning_policy<Policy>) {
    if (!Policy::needs_record(p)) return;
  }
  hashed h = hashed_in(t, p.hash);
  const auto at = front_of(t, h, first_root(t).level());
  read_slot(t, at.slots, tagged_slots<slot_of<Policy>>(*at.line, h.tag, t.unit), p);
}
/// Reads the words of the back buckets of a request that has met nothing in front. `miss`: no entry there has its tag, and no chain its marks.
/// `behind`: slots whose tags agree have to be read, and are prefetched.
template <class Policy, class Probe>
CUBBY_OUTLINED glimpse look_behind(const table<Policy>& t, const pending<Policy, Probe>& one, root_word root) noexcept {
  bool any = (one.state & state::chained) != 0 && may_be_chained(t, one.probe.hash);
  for (unsigned which = 0; which < 2; ++which) {
    const auto b = back_of(t, back_hash(one.probe.hash, which), root.level());
    // [back-tags] acquire: pairs with [show-back], and with [end-bucket]
    const std::uint64_t word = b.line->load(sync::acquire);
    for (std::uint32_t left = back::match(word, short_tag(one.tag)); left != 0; left &= left - 1) {
      prefetch_line(&b.slots[cpu::lowest_bit(left)]);
      any = true;
    }
  }
  if (any) return glimpse::behind;
  // Linearization point of a miss: as in find_in_front.
  const bool sure = is_absent_for_sure<Policy>(*one.line, one.state);
  // The root last, as in lock_home: the words of back buckets were read after the caller has compared it.
  return sure && is_same_root(t, root) ? glimpse::miss : glimpse::unsure;
}

/// Answers a request from its front bucket, or one without an agreeing tag there from what is behind it. The caller has compared the root after all
/// lines were read.
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE glimpse answer_from_front(const table<Policy>& t, const pending<Policy, Probe>& one, root_word root,
                                              typename Policy::stored_value& value) noexcept {
  if (one.mask == 0) {
    if (may_be_behind(one.state, one.tag)) [[unlikely]]
      return look_behind(t, one, root);
    // As in find_in_front, whose look at the root the caller has done.
    return is_absent_for_sure<Policy>(*one.line, one.state) ? glimpse::miss : glimpse::unsure;
  }
  for (std::uint64_t mask = one.mask; mask != 0; mask &= mask - 1) {
    const slot_of<Policy>& s = one.slots[cpu::lowest_index(mask)];
    if (!has_key_words(t, s, one.probe, [&] { return is_same_state<Policy>(*one.line, one.state); })) continue;
    value = value_in<Policy>(s);
    if (!matches(t.policy, one.probe, value)) continue;
    return is_same_state<Policy>(*one.line, one.state) ? glimpse::hit : glimpse::unsure; // as in find_in_front
  }
  if (may_be_behind(one.state, one.tag)) return glimpse::behind;
  const bool sure = is_absent_for_sure<Policy>(*one.line, one.state);
  return sure && is_same_root(t, root) ? glimpse::miss : glimpse::unsure;
}

/// While buckets move: asks for the other line in which the entry of each request may be.
template <class Policy, class Probe>
CUBBY_OUTLINED void prefetch_lower_lines(const table<Policy>& t, const pending<Policy, Probe>* group, std::size_t count,
                                         root_word root) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    prefetch_line(front_of(t, hashed_in(t, group[i].probe.hash), root.level() - 1).line);
}
/// The line of each request that has its entry.
template <class Policy, class Probe>
CUBBY_OUTLINED void choose_lines(const table<Policy>& t, pending<Policy, Probe>* group, std::size_t count,
                                 root_word root) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    pending<Policy, Probe>& one = group[i];
    hashed h = hashed_in(t, one.probe.hash);
    const auto at = front_of(t, h, level_of_front(t, h, root));
    one.line = at.line;
    one.slots = at.slots;
  }
}
/// Answers a request whose line was read while buckets moved. `renewed`: bits of hashes. One that had to begin again has an answer that may be
/// newer than what was read of the others. So those of the same key, and of a few more, begin again, too (D).
template <class Policy, class Probe>
CUBBY_OUTLINED found_as<typename Policy::stored_value>
find_while_moving(const table<Policy>& t, const pending<Policy, Probe>& one, root_word root,
                  std::uint64_t& renewed) noexcept {
  const lookup<Policy> l{hashed_in(t, one.probe.hash), root, {one.line, one.slots}, one.state, one.mask};
  const std::uint64_t bit = std::uint64_t{1} << (one.probe.hash >> 58);
  seen_entry<Policy> e;
  if ((renewed & bit) != 0 || !end_lookup(t, l, one.probe, e)) {
    renewed |= bit;
    e = find_anywhere(t, one.probe);
  }
  return {e.where != nullptr, e.value};
}
/// Answers the `count` requests of a group, whose front lines have been asked for under `root`. The first one has the number `first`.
template <class Policy, class Probe, class Take>
CUBBY_ALWAYS_INLINE void answer_group(const table<Policy>& t, pending<Policy, Probe>* group, std::size_t count,
                                      root_word root, std::size_t first, Take& take) {
  prefetch_group::put_off later;
  std::uint64_t seen = 0; // of those that are put off: they are not in front
  if (root.moving()) [[unlikely]]
    choose_lines(t, group, count, root);
  bool is_apart = false;
  for (std::size_t i = 0; i < count; ++i) read_line(t, group[i], root.level(), is_apart);
  // A bucket that a move has left keeps its tags. The groups before may have answers of after that move, so all begin again (D).
  const bool is_stale = !is_same_root(t, root);
  std::uint64_t renewed = is_stale ? ~std::uint64_t{0} : 0;
  std::uint64_t lines = is_stale || root.moving() ? ~std::uint64_t{0} : 0; // of those that are put off
  if constexpr (entries_apart<Policy>) {
    if (is_apart) // short texts lead to no record
      for (std::size_t i = 0; i < count; ++i) read_slot<Policy>(t, group[i].slots, group[i].mask, group[i].probe);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const pending<Policy, Probe>& one = group[i];
    typename Policy::stored_value value{};
    glimpse how = glimpse::unsure;
    if (lines == 0 || (lines & prefetch_group::bit_of_line(one.line)) == 0) [[likely]]
      how = answer_from_front(t, one, root, value);
    if (how == glimpse::hit || how == glimpse::miss) {
      take(first + i, found_as<typename Policy::stored_value>{how == glimpse::hit, value});
      continue;
    }
    if (one.mask != 0 && !root.moving())
      prefetch_back_lines(t, one.probe.hash, root.level()); // slots of other keys have its tag
    if (how == glimpse::behind) seen |= std::uint64_t{1} << later.count();
    lines |= prefetch_group::bit_of_line(one.line);
    later.add(i);
  }
  for (std::size_t k = 0; k < later.count(); ++k) {
    const pending<Policy, Probe>& one = group[later[k]];
    const std::size_t number = first + later[k];
    if (root.moving()) take(number, find_while_moving(t, one, root, renewed));
    else take(number, find_elsewhere(t, one.probe, root.bits, (seen >> k & 1) != 0 ? one.state : 0));
  }
}

/// Calls `take(i, found)` once for each i in [0, count) with the answer to the probe or query `make(i)`; requests for equal keys in their order.
template <class Policy, class Make, class Take>
CUBBY_ALWAYS_INLINE void find_many(const table<Policy>& t, std::size_t count, Make& make, Take& take) {
  using one_pending = pending<Policy, std::remove_cvref_t<decltype(make(0))>>;
  prefetch_group::ring<one_pending> ring;
  root_word roots[2]; // of this group, and of the next
  const auto root_of = [&](std::size_t first)
                           CUBBY_INLINED -> root_word& { return roots[first / prefetch_group::size % 2]; };
  const auto ask = [&](std::size_t first, std::size_t last) CUBBY_INLINED {
    if (first == last) return; // after a last group that is not full; the root of that one is still needed
    root_word root = root_of(first) = first_root(t);
    one_pending* const group = &ring[first]; // a group lies in one half of the ring
    for (std::size_t i = 0; i < last - first; ++i) {
      one_pending& one = group[i];
      one.probe = make(first + i);
      hashed h = hashed_in(t, one.probe.hash);
      auto at = front_of(t, h, root.level());
      one.line = at.line;
      one.slots = at.slots;
      one.tag = h.tag;
      prefetch_line(at.line);
    }
    if (root.moving()) [[unlikely]]
      prefetch_lower_lines(t, group, last - first, root);
  };
  const auto answer = [&](std::size_t first, std::size_t last) CUBBY_INLINED {
    answer_group(t, &ring[first], last - first, root_of(first), first, take);
    return true;
  };
  prefetch_group::for_each(count, ask, answer);
}

} // namespace cubby::inline v0::detail::engines::iceberg
