// SPDX-License-Identifier: Apache-2.0
// A table's beginning and end, and its figures.
#pragma once

#include <cubby/engine/dlht/walk.hpp>

namespace cubby::inline v0 {

/// How entries lie: `bins[n]` bins hold n entries; `chains[n]` bins have n buckets (1 to 4; 0 unused).
struct chain_histogram {
  std::uint64_t bins[16] = {};
  std::uint64_t chains[5] = {};
};

namespace engines::dlht {

/// The stay of a single-threaded table's only thread.
template <class Policy> class [[nodiscard]] single_pin {
public:
  explicit single_pin(retire_bag<Policy, sync::single>& bag) noexcept : bag_(bag) { bag_.enter(); }
  ~single_pin() { bag_.leave(); }
  single_pin(const single_pin&) = delete;
  single_pin& operator=(const single_pin&) = delete;

private:
  retire_bag<Policy, sync::single>& bag_;
};

/// Makes a new table ready; false: no memory, or no thread for background growth.
template <class Policy, class Threads> bool open(table<Policy, Threads>& t) noexcept {
  if (t.settings.chunk_bins == 0) t.settings.chunk_bins = 1;
  if (t.settings.move_bins == 0) t.settings.move_bins = 1;
  if (t.settings.growth_factor > most_growth) t.settings.growth_factor = most_growth;
  if (!Threads::is_shared && t.settings.growth == growth_policy::background) {
    t.settings.growth = growth_policy::incremental; // its one thread is all that a single-threaded table has
  }
  t.floor_bins = bins_for(t.settings.capacity);
  if (Threads::is_shared && !t.home) return false;
  if (t.settings.growth == growth_policy::fixed && !t.places.open(t.settings.capacity)) return false;
  if (t.places.is_bounded()) t.lasting_chores |= chore::count_places;
  if (t.settings.shrink == shrink_policy::automatic) t.lasting_chores |= chore::watch_load;
  t.chores.store(t.lasting_chores, sync::relaxed); // relaxed: not shared yet
  auto* const first = make_index<Threads>(t.floor_bins, links_for(t.floor_bins, t.settings));
  if (first == nullptr) return false;
  t.root.store(first, sync::relaxed); // relaxed: the table is not shared yet
  return t.settings.growth != growth_policy::background || t.worker.start(background_work<Policy, Threads>, &t);
}

/// Disposes of every live and retired word and frees every index. Nobody else may use the table any more.
template <class Policy, class Threads> void close(table<Policy, Threads>& t) {
  t.worker.stop();
  index<Threads>* at = t.root.load(sync::relaxed); // relaxed: nobody else is here
  if constexpr (Policy::unique_words) {
    for (const index<Threads>* one = at; one != nullptr; one = one->next.load(sync::relaxed)) { // relaxed: as above
      for (std::uint64_t number = 0; number <= one->bin_count; ++number) {
        bin<Threads>& b = one->bins[number];
        const std::uint64_t h = b.head.load(sync::relaxed); // relaxed: as above
        if (header::state_of(h) == bin_state::done_transfer) continue;
        for (std::uint64_t mask = header::present(h); mask != 0; mask &= mask - 1) {
          slot<Threads>* const s = slot_at(*one, b, static_cast<unsigned>(std::countr_zero(mask)) / 2);
          // relaxed: as above
          if (s->first.load(sync::relaxed) != scrubbed) t.policy.dispose(s->second.load(sync::relaxed));
        }
      }
    }
  }
  while (at != nullptr) {
    index<Threads>* const next = at->next.load(sync::relaxed); // relaxed: as above
    free_array(at);
    at = next;
  }
  t.retired.free_all();
}

/// Slots of the first index. Needs no pin: indexes are only freed under the lock that it takes.
template <class Policy, class Threads> std::size_t slot_count(const table<Policy, Threads>& t) noexcept {
  lock_scope keep(t.retired.lock);
  const index<Threads>& at = *first_index(t);
  return primary_slots * at.bin_count + link_slots * at.link_count;
}

/// Needs no pin, as above.
template <class Policy, class Threads> table_stats stats(const table<Policy, Threads>& t) noexcept {
  table_stats out;
  memory::region_list pages;
  out.capacity = slot_count(t);
  out.retired = t.bag.waiting();
  {
    lock_scope keep(t.retired.lock);
    const index<Threads>& at = *first_index(t);
    out.bins = at.bin_count;
    out.links = at.link_count;
    out.links_used = at.links_used.load(sync::relaxed); // relaxed: a statistic
    std::size_t chained = 0;
    for (const index<Threads>* one = &at; one != nullptr; one = next_index(*one), ++chained) pages.add(one->pages);
    out.migrating = chained > 1;
    out.bytes = pages.bytes() + t.retired.bytes();
    out.retired += t.retired.count();
  }
  out.huge_bytes = pages.huge_bytes(); // reads a file: not under the lock
  out.size = live_entries(t);
  out.growths = t.growths.load(sync::relaxed);   // relaxed: a statistic
  out.shrinks = t.shrinks.load(sync::relaxed);   // relaxed: a statistic
  out.rebuilds = t.rebuilds.load(sync::relaxed); // relaxed: a statistic
  return out;
}

/// Holds up the freeing of old indexes while it walks.
template <class Policy, class Threads> chain_histogram histogram(const table<Policy, Threads>& t) noexcept {
  chain_histogram out;
  lock_scope keep(t.retired.lock);
  const index<Threads>& at = *first_index(t);
  for (std::uint64_t number = 0; number < at.bin_count; ++number) {
    bin_copy copy;
    if (!copy_bin(at, at.bins[number], copy)) continue;                    // has moved to the next index
    const std::uint64_t links = at.bins[number].links.load(sync::relaxed); // relaxed: as above
    ++out.bins[copy.count];
    ++out.chains[1 + ((links & low_half) != 0 ? 1 : 0) + ((links >> 32) != 0 ? 2 : 0)];
  }
  return out;
}

} // namespace engines::dlht
} // namespace cubby::inline v0
