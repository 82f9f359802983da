// SPDX-License-Identifier: Apache-2.0
// The state changes of tuple_layout.hpp that take more than one store (section 3, Atomicity): to fill a tuple, to change its value, and
// to move it to the next array. Of the user's code only the hash of a moving key runs between the stores.
#pragma once

#include <cubby/detail/engines/dramhit/resize.hpp>
#include <cubby/detail/engines/dramhit/search_tuple.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

/// Fills an empty tuple. False: another thread was faster, or a mover has marked it due (T5); then the tuple is given up, and its key
/// does not exist. Linearization point of an insert: the second swap.
template <tuple_policy Policy, class Probe>
bool fill(table<Policy>& t, tuple_array<Policy>& a, tuple<Policy>& s, const Probe& p,
          const typename Policy::stored_value& value) noexcept {
  const std::uint64_t tag = tag_of_hash(p.hash);
  const std::uint64_t mine = header_of(tag, state::filling, 1);
  std::uint64_t expected = empty_header;
  // relaxed: the tuple shows nothing yet, and a thread that is late reads nothing of it
  if (!s.header.compare_exchange(expected, mine, sync::relaxed, sync::relaxed)) return false;
  // relaxed: no thread reads the words before [show-tuple]
  for (std::size_t i = 0; i < p.key.count; ++i) s.words[i].store(p.key.at[i], sync::relaxed);
  // relaxed: as above
  for (std::size_t i = 0; i < value.count; ++i) s.words[p.key.count + i].store(value.at[i], sync::relaxed);
  expected = mine;
  // [show-tuple] release: pairs with [look-at-tuple]
  // [wanted] acquire: pairs with [want-tuple]; the failure, which shows the next array
  if (s.header.compare_exchange(expected, header_of(tag, state::live, 2), sync::release, sync::acquire)) return true;
  // [give-tuple] release: pairs with [look-at-tuple]; a thread that sees it goes to the next array
  s.header.store(in_state(mine, state::moved), sync::release);
  count_done(t, a, 1);
  return false;
}

/// Seals the tuple, so that no thread can take it any more. False: another thread was faster.
template <tuple_policy Policy> bool seal(tuple<Policy>& s) noexcept {
  std::uint64_t expected = empty_header;
  // [seal-tuple] release: pairs with [look-at-tuple]; a thread that sees it sees the next array
  // relaxed: a thread that is late looks again
  return s.header.compare_exchange(expected, header_of(0, state::sealed, 0), sync::release, sync::relaxed);
}

/// Copies a moving key and its value to the first empty tuple of their chain, in `a` or a later array. No other thread can insert the
/// key meanwhile, because all find it in its old tuple.
template <tuple_policy Policy, class Probe>
void store_moved(table<Policy>& t, tuple_array<Policy>* a, const Probe& p,
                 const typename Policy::stored_value& value) noexcept {
  sync::backoff wait;
  for (;;) {
    auto* s = home_line<Policy>(*a, p.hash);
    std::uint64_t looked = 0;
    // [look-at-tuple] acquire: pairs with [seal-tuple]
    std::uint64_t h = s->header.load(sync::acquire);
    while (h != empty_header && state_of(h) != state::sealed && ++looked < a->slot_count()) {
      s = behind(*a, s);
      h = s->header.load(sync::acquire); // [look-at-tuple] acquire: pairs with [seal-tuple]
    }
    if (h == empty_header) {
      if (fill(t, *a, *s, p, value)) return;
      continue;
    }
    auto* further = next_array(*a);
    if (further == nullptr) further = make_next(t, *a, a->lines * growth_factor(a->lines, t.settings));
    // Without memory: is_reserved_for_moves has kept a tuple for this key, unless more concurrent inserts than its margin did not
    // count each other. Then the only way is to wait for memory.
    if (further == nullptr) wait.pause();
    else a = further;
  }
}

/// Moves a tuple in state moving, which no other thread changes any more.
template <tuple_policy Policy, class Probe>
void carry(table<Policy>& t, tuple_array<Policy>& a, tuple<Policy>& s, std::uint64_t header, const Probe& p) noexcept {
  typename Policy::stored_value value;
  read_value(s, value);
  store_moved(t, next_array(a), p, value);
  // [tuple-moved] release: pairs with [look-at-tuple]; a thread that sees it finds the key in the next array
  s.header.store(in_state(header, state::moved), sync::release);
}

/// Replaces the value that belongs to `header`. False: another thread was faster. Linearization point of an assign: the swap or the
/// store that ends it.
template <tuple_policy Policy, class Probe>
bool overwrite(table<Policy>& t, tuple_array<Policy>& a, tuple<Policy>& s, std::uint64_t header, const Probe& p,
               const typename Policy::stored_value& value) noexcept {
  const std::uint64_t mine = stepped(header);
  std::uint64_t expected = header;
  // [take-tuple] acquire: pairs with [show-value]; the words of the last value were stored before the new ones
  // relaxed: a thread that is late looks again
  if (!s.header.compare_exchange(expected, mine, sync::acquire, sync::relaxed)) return false;
  // [write-tuple] release: pairs with [tuple-word]; a thread that reads a new word sees the version odd, or a later one
  for (std::size_t i = 0; i < value.count; ++i) s.words[p.key.count + i].store(value.at[i], sync::release);
  expected = mine;
  // [show-value] release: pairs with [look-at-tuple], [take-tuple]
  // [wanted] acquire: pairs with [want-tuple]; the failure, which shows the next array
  if (s.header.compare_exchange(expected, stepped(mine), sync::release, sync::acquire)) return true;
  const std::uint64_t moving_header = in_state(stepped(mine), state::moving);
  // [carry-tuple] release: pairs with [look-at-tuple]; a thread that sees it may read the value
  s.header.store(moving_header, sync::release);
  carry(t, a, s, moving_header, p);
  count_done(t, a, 1);
  return true;
}

/// Moves a tuple or seals it. False: another thread is filling or writing it; the tuple is marked due, and that thread will count it.
template <tuple_policy Policy>
bool move_slot(table<Policy>& t, tuple_array<Policy>& a, tuple<Policy>& s) noexcept {
  for (;;) {
    // [look-at-tuple] acquire: pairs with [show-tuple], [show-value]
    std::uint64_t h = s.header.load(sync::acquire);
    const state now = state_of(h);
    if (now == state::empty) {
      if (seal(s)) return true;
      continue;
    }
    if (now != state::live && now != state::filling) return true;
    if (is_written(h)) {
      // [want-tuple] release: pairs with [wanted]; the writer's next swap fails, and it sees the next array
      // relaxed: the writer was faster; look again
      if (s.header.compare_exchange(h, h | due_bit, sync::release, sync::relaxed)) return false;
      continue;
    }
    typename Policy::probe p;
    read_key(s, p.key);
    p.hash = t.policy.hash_of(p.key);
    const std::uint64_t moving_header = in_state(h, state::moving);
    // [carry-tuple] release: pairs with [look-at-tuple]; a thread that sees it sees the next array
    // relaxed: another thread has changed it; look again
    if (!s.header.compare_exchange(h, moving_header, sync::release, sync::relaxed)) continue;
    carry(t, a, s, moving_header, p);
    return true;
  }
}

/// Moves the tuples of these units. A tuple that another thread is filling or writing is counted by that thread.
template <tuple_policy Policy>
generations::moved_parts move_range(table<Policy>& t, tuple_array<Policy>& a, generations::unit_range units) noexcept {
  const std::uint64_t end = units.last * a.in_unit < a.slot_count() ? units.last * a.in_unit : a.slot_count();
  generations::moved_parts out;
  for (std::uint64_t i = units.first * a.in_unit; i < end; ++i) out.count += move_slot(t, a, a.slots[i]) ? 1U : 0U;
  return out;
}

} // namespace cubby::inline v0::detail::engines::dramhit
