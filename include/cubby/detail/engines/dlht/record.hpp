// SPDX-License-Identifier: Apache-2.0
// The verbs of tables of records, for a key that at most one slot of its bin's first line shows. The protocol is that of
// find.hpp, mutate.hpp and insert.hpp, in as few instructions as may be. All else goes there.
#pragma once

#include <cubby/detail/engines/dlht/grow.hpp>
#include <cubby/detail/engines/dlht/mutate.hpp>

namespace cubby::inline v0::detail::engines::dlht {

/// What the first line of a bin says of a key. `here`: the entry is in `where`, under the header `h`.
enum class line_says : std::uint8_t { here, absent, look_further };
template <class Threads> struct line_look {
  line_says what = line_says::look_further;
  slot<Threads>* where = nullptr;
  std::uint64_t value = 0;
};

/// A bit for each slot of the first line that shows `word`, as in header::valid.
template <class Threads>
CUBBY_ALWAYS_INLINE unsigned slots_that_show(const bin<Threads>& b, std::uint64_t word) noexcept {
  // [key] acquire: pairs with [fill]
  const auto shows = [&](unsigned n) { return static_cast<unsigned>(b.slots[n].first.load(sync::acquire) == word); };
  return shows(0) + 4 * shows(1) + 16 * shows(2);
}

/// Looks for the record of `probe` in its bin's first line. Of slots that show its word it asks the first one.
template <class Policy, class Threads, class Probe>
CUBBY_ALWAYS_INLINE line_look<Threads> look_for_record(const table<Policy, Threads>& t, const Probe& probe) noexcept {
  if (is_reserved(probe.word)) [[unlikely]]
    return {};
  const index<Threads>& at = *first_index(t);
  bin<Threads>& b = at.bins[map_hash<Policy::mapping>(probe.hash, at.bin_count)];
  // [probe] acquire: pairs with [commit]
  const std::uint64_t h = b.head.load(sync::acquire);
  if ((h & header::state_mask) != 0) [[unlikely]]
    return {};
  const unsigned shown = slots_that_show(b, probe.word);
  if (shown == 0) {
    // Linearization point of a miss, or the clearing as in look_into. relaxed: the acquire loads above keep it behind them.
    return {!header::uses_links(h) && b.head.load(sync::relaxed) == h ? line_says::absent : line_says::look_further};
  }
  const unsigned bit = cpu::lowest_bit(shown);
  slot<Threads>* const s = slot_of_bit(b, bit);
  // [value] acquire: pairs with [fill-value]
  const std::uint64_t value = s->second.load(sync::acquire);
  // A slot that is not valid may show a record that is gone. Linearization point of a hit: the read of the same header.
  // relaxed: as above
  if (((h >> bit) & 3) == slot_state::valid && t.policy.matches(probe, value) && b.head.load(sync::relaxed) == h)
      [[likely]]
    return {line_says::here, s, value};
  return {};
}

template <class Policy, class Threads, class Probe>
CUBBY_OUTLINED found_word find_record_further(const table<Policy, Threads>& t, const Probe& probe) noexcept {
  return find_at(t.policy, locate(t, probe), probe);
}

template <class Policy, class Threads, class Probe>
CUBBY_ALWAYS_INLINE found_word find_record(const table<Policy, Threads>& t, const Probe& probe) noexcept {
  const auto seen = look_for_record(t, probe);
  if (seen.what == line_says::here) [[likely]]
    return {true, seen.value};
  if (seen.what == line_says::absent) [[likely]]
    return {};
  const Probe copy = probe; // so that the compiler keeps the other one in registers
  return find_record_further(t, copy);
}

template <class Policy, class Threads, class Probe, class F>
CUBBY_OUTLINED mutated mutate_record_further(table<Policy, Threads>& t, const thread_record& who, const Probe& probe,
                                             F f) {
  return mutate(t, who, probe, f);
}

template <class Policy, class Threads, class Probe, class F>
CUBBY_ALWAYS_INLINE mutated mutate_record(table<Policy, Threads>& t, const thread_record& who, const Probe& probe,
                                          const F& f) {
  const auto seen = look_for_record(t, probe);
  if (seen.what == line_says::absent) return {};
  if (seen.what == line_says::here) [[likely]] {
    const decision wanted = f(seen.value);
    if (wanted.what == action::keep || (wanted.what == action::replace && wanted.word == seen.value))
      return {true, wanted.what, seen.value};
    const bool erases = wanted.what == action::erase;
    // Linearization point of an assign, [fill-value] acq_rel: pairs with [value]; of an erase, [fill] acq_rel: pairs with [key],
    // as in mutate_here
    if (seen.where->compare_exchange({probe.word, seen.value},
                                     {erases ? cleared : probe.word, erases ? seen.value : wanted.word})) [[likely]] {
      if (erases) count_entries(t, who, -1);
      return {true, wanted.what, seen.value};
    }
  }
  const Probe copy = probe; // as in find_record
  return mutate_record_further(t, who, copy, f);
}

template <class Policy, class Threads, class Probe>
CUBBY_OUTLINED inserted_word insert_record_further(table<Policy, Threads>& t, thread_record& who, const Probe& probe,
                                                   std::uint64_t value) {
  return insert(t, who, probe, value);
}

/// A record whose slot was filled, and whose bin changed before it was valid: commits it later, or begins again.
template <class Policy, class Threads, class Probe>
CUBBY_NEVER_INLINE inserted_word commit_record_further(table<Policy, Threads>& t, thread_record& who,
                                                       const Probe& probe, new_entry<Threads> a, slot<Threads>& s,
                                                       std::uint64_t h) {
  if (commit_contended(t.policy, probe, a, s, static_cast<unsigned>(&s - a.b->slots), h) == attempt::again) {
    inserted_word out = insert(t, who, probe, a.value);
    out.shown = true;
    return out;
  }
  count_entries(t, who, 1);
  return {.word = a.value};
}

/// The insert of an absent key into a free slot of its bin's first line, while the table asks for nothing else.
template <class Policy, class Threads, class Probe>
CUBBY_ALWAYS_INLINE inserted_word insert_record(table<Policy, Threads>& t, thread_record& who, const Probe& probe,
                                                std::uint64_t value) {
  // relaxed: constants, and a hint; a missed one is seen by the next insert
  if ((t.maintenance.load(sync::relaxed) & (generations::write_duty::move_or_free | write_duty::count_places)) == 0 &&
      !is_reserved(probe.word)) [[likely]] {
    index<Threads>& at = *first_index(t);
    bin<Threads>& b = at.bins[map_hash<Policy::mapping>(probe.hash, at.bin_count)];
    // [probe] acquire: pairs with [commit]
    std::uint64_t h = b.head.load(sync::acquire);
    const auto to = header::is_plain(h) ? free_slot_for(b, h, probe.word) : first_line_slot<Threads>();
    if (to.where != nullptr) [[likely]] {
      // [reserve] acq_rel: pairs with [probe]; from here on the slot's words are ours
      // relaxed: on failure insert_record_further looks again
      if (b.head.compare_exchange(h, to.filling, sync::acq_rel, sync::relaxed)) [[likely]] {
        // [fill-value] release: pairs with [value]
        to.where->second.store(value, sync::release);
        // [fill] release: pairs with [key]
        to.where->first.store(probe.word, sync::release);
        h = to.filling;
        // [commit] release: pairs with [probe]; the linearization point
        // acquire on failure: pairs with [commit]
        if (!b.head.compare_exchange(h, to.filling + to.step, sync::release, sync::acquire)) [[unlikely]] {
          const Probe copy = probe; // as in find_record
          return commit_record_further(t, who, copy, {&at, &b, probe.word, value, slot_state::valid}, *to.where, h);
        }
        count_entries(t, who, 1);
        return {.word = value};
      }
    }
  }
  const Probe copy = probe; // as in find_record
  return insert_record_further(t, who, copy, value);
}

} // namespace cubby::inline v0::detail::engines::dlht
