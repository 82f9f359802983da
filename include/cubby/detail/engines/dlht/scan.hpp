// SPDX-License-Identifier: Apache-2.0
// Iteration (section 3.4.4), weak: bin by bin. It follows bins that have moved into the next indexes.
#pragma once

#include <cubby/detail/core/scan_cursor.hpp>
#include <cubby/detail/engines/dlht/find.hpp>

namespace cubby::inline v0::detail::engines::dlht {

/// The entries of a bin under one header.
struct bin_copy {
  sync::two_words entries[bin_slots];
  unsigned count = 0;
};

/// Copies the valid entries of a bin. Waits for a bin in transfer. False: the bin has moved.
template <class Threads> bool copy_bin(const index<Threads>& at, bin<Threads>& b, bin_copy& out) noexcept {
  for (;;) {
    // [probe] acquire: pairs with [commit]
    const std::uint64_t h = b.head.load(sync::acquire);
    if (header::state_of(h) == bin_state::done_transfer) return false;
    if (header::state_of(h) == bin_state::in_transfer) {
      wait_for_transfer(b);
      continue;
    }
    out.count = 0;
    for (std::uint64_t mask = header::valid(h); mask != 0; mask &= mask - 1) {
      const slot<Threads>* const s = slot_at(at, b, static_cast<unsigned>(std::countr_zero(mask)) / 2);
      // [key] acquire: pairs with [fill]
      const std::uint64_t key = s->first.load(sync::acquire);
      // [value] acquire: pairs with [fill-value]
      if (key >= reserved_words) out.entries[out.count++] = {key, s->second.load(sync::acquire)};
    }
    // relaxed: the acquire loads above keep it behind them
    if (b.head.load(sync::relaxed) == h) return true;
  }
}

/// How many bins ahead a scan asks for link buckets. The bins themselves come in order, so that the processor asks for them.
inline constexpr std::uint64_t linked_ahead = 8;

/// The hashes that a scan wants when it follows a bin that has moved: an interval, or the numbers with remainder `low` when divided
/// by `high`. It only becomes smaller, so a scan through any number of migrations reads no more hashes than those of the bin.
struct share {
  std::uint64_t low;
  std::uint64_t high;
};

/// All hashes of a bin.
template <bin_mapping Mapping> constexpr share share_of(std::uint64_t number, std::uint64_t bins) noexcept {
  if constexpr (Mapping == bin_mapping::modulo) return {number, bins};
  else return {cpu::divide_high(number, bins), cpu::divide_high(number + 1, bins) - 1};
}
template <bin_mapping Mapping> constexpr bool has_hash(const share& s, std::uint64_t hash) noexcept {
  if constexpr (Mapping == bin_mapping::modulo) return hash % s.high == s.low;
  else return s.low <= hash && hash <= s.high;
}
/// The bins of another index that have hashes of the share. With modulo, sizes differ only by powers of two.
template <bin_mapping Mapping> constexpr bin_range bins_of(const share& s, std::uint64_t bins) noexcept {
  if constexpr (Mapping == bin_mapping::modulo) {
    return bins <= s.high ? bin_range{s.low % bins, 1, 1} : bin_range{s.low, s.high, bins / s.high};
  } else {
    const std::uint64_t first = map_hash<Mapping>(s.low, bins);
    return {first, 1, map_hash<Mapping>(s.high, bins) - first + 1};
  }
}
/// The part of the share that is in one of those bins.
template <bin_mapping Mapping>
constexpr share narrow(const share& s, std::uint64_t number, std::uint64_t bins) noexcept {
  const share whole = share_of<Mapping>(number, bins);
  if constexpr (Mapping == bin_mapping::modulo) {
    return bins <= s.high ? s : whole;
  } else {
    return {s.low > whole.low ? s.low : whole.low, s.high < whole.high ? s.high : whole.high};
  }
}

/// Shows the entries of a copy that belong to a share. `escape` is the number that was added to the keys of a side bin.
template <class Policy, class Wanted, class F>
void show_copy(const Policy& policy, const bin_copy& copy, std::uint64_t escape, Wanted wanted, F& f) {
  for (unsigned i = 0; i < copy.count; ++i) {
    const std::uint64_t key = copy.entries[i].first - escape;
    const std::uint64_t value = copy.entries[i].second;
    if (wanted(policy, key, value)) f(key, value);
  }
}

/// Shows `f(key_word, value_word)` the entries of a share, in the successors of `at` that have them now.
template <class Policy, class Threads, class F>
void visit_share(const Policy& policy, const index<Threads>* at, share wanted, F& f) {
  constexpr bin_mapping mapping = Policy::mapping;
  const auto ours = [&](const Policy& p, std::uint64_t key, std::uint64_t value) {
    return has_hash<mapping>(wanted, p.hash_of(key, value));
  };
  for (bin_copy copy;;) {
    at = next_index(*at);
    const bin_range range = bins_of<mapping>(wanted, at->bin_count);
    bool moved = false;
    for (std::uint64_t i = 0; i < range.count; ++i) {
      const std::uint64_t number = range.first + i * range.step;
      if (copy_bin(*at, at->bins[number], copy)) show_copy(policy, copy, 0, ours, f);
      else if (range.count == 1) moved = true;
      else visit_share(policy, at, narrow<mapping>(wanted, number, at->bin_count), f);
    }
    if (!moved) return;
  }
}

/// A scan that threads share. It begins in this index, which a guard must keep until the last thread has ended.
template <class Threads> struct shared_scan {
  const index<Threads>* at;
  scan_cursor<Threads> bins;
};
/// How many bins a thread takes at a time: 64 KiB of lines.
inline constexpr std::uint64_t bins_at_a_time = 1024;

/// Shows the entries of the bins from `first` on, and of the side bin if it is behind them.
template <class Policy, class Threads, class F>
void show_bins(const table<Policy, Threads>& t, const index<Threads>* at, std::uint64_t first, std::uint64_t count,
               F& f) {
  const auto all = [](const Policy&, std::uint64_t, std::uint64_t) { return true; };
  bin_copy copy;
  const bool last = count > at->bin_count - first;
  const std::uint64_t end = last ? at->bin_count : first + count;
  for (std::uint64_t number = first; number < end; ++number) {
    if (number + linked_ahead < end) prefetch_link(*at, at->bins[number + linked_ahead]);
    if (copy_bin(*at, at->bins[number], copy)) show_copy(t.policy, copy, 0, all, f);
    else visit_share(t.policy, at, share_of<Policy::mapping>(number, at->bin_count), f);
  }
  if (!last) return;
  while (!copy_bin(*at, at->bins[at->bin_count], copy)) at = next_index(*at);
  show_copy(t.policy, copy, reserved_words, all, f);
}
/// A weak scan: an entry that is present throughout is shown exactly once; one that is inserted or erased meanwhile, at most once. No
/// bin is held while `f` runs.
template <class Policy, class Threads, class F> void for_each(const table<Policy, Threads>& t, F& f) {
  const index<Threads>* const at = first_index(t);
  show_bins(t, at, 0, at->bin_count + 1, f);
}
/// The part of a shared scan that other threads leave. All of them together show what `for_each` does.
template <class Policy, class Threads, class F>
void for_each_of(const table<Policy, Threads>& t, shared_scan<Threads>& w, F& f) {
  w.bins.share_out(w.at->bin_count + 1, bins_at_a_time,
                   [&](std::uint64_t first, std::uint64_t count) { show_bins(t, w.at, first, count, f); });
}

} // namespace cubby::inline v0::detail::engines::dlht
