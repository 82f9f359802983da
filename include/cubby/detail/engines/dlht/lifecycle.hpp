// SPDX-License-Identifier: Apache-2.0
// How a table is made, and how it ends; and the pin of a table for one thread. core/migration.hpp starts the worker, and
// core/generations.hpp frees the indexes.
#pragma once

#include <cubby/detail/engines/dlht/grow.hpp>

namespace cubby::inline v0::detail::engines::dlht {

/// The pin of a table for one thread.
template <class Policy> class [[nodiscard]] single_pin {
public:
  explicit single_pin(retire_bag<Policy, sync::single>& bag) noexcept : bag_(bag) { bag_.enter(); }
  ~single_pin() { bag_.leave(); }
  single_pin(const single_pin&) = delete;
  single_pin& operator=(const single_pin&) = delete;

private:
  retire_bag<Policy, sync::single>& bag_;
};

/// A table that begins with so many bins has the stripes of its counter at once: they take no more than its bins do.
inline constexpr std::uint64_t bins_with_stripes = 64;

/// Initializes a new table. If it was asked for no capacity, its first insert makes its first index. False: no memory, or no thread for
/// background growth.
template <class Policy, class Threads> bool open(table<Policy, Threads>& t) noexcept {
  if (t.settings.growth_factor > most_growth) t.settings.growth_factor = most_growth;
  if (!Threads::is_shared && t.settings.growth == growth_policy::background) {
    t.settings.growth =
        growth_policy::incremental; // a table for one thread has no other thread that could move entries
  }
  if (t.settings.growth == growth_policy::fixed) t.lasting_maintenance |= write_duty::count_places;
  if (t.settings.shrink == shrink_policy::automatic) t.lasting_maintenance |= write_duty::watch_load;
  t.maintenance.store(t.lasting_maintenance, sync::relaxed); // relaxed: not shared yet
  const std::uint64_t bins = bins_for(t.settings.capacity);
  if constexpr (Threads::is_shared) {
    if (t.settings.capacity == 0 && t.settings.growth != growth_policy::fixed) {
      auto* const empty = t.home ? t.home->template shared_by_empty_tables<empty_index<Threads>>() : nullptr;
      return generations::begin_with(t, empty != nullptr ? &empty->head : nullptr);
    }
  }
  if (Threads::is_shared && bins >= bins_with_stripes) t.entries.add_stripes();
  return generations::begin_with(t, make_index<Threads>(bins, links_for(bins, t.settings)));
}

/// Disposes of all words that are still in `at`. No other thread is here.
template <class Policy, class Threads> void dispose_words(const Policy& policy, const index<Threads>& at) {
  for (std::uint64_t number = 0; number <= at.bin_count; ++number) {
    bin<Threads>& b = at.bins[number];
    const std::uint64_t h = b.head.load(sync::relaxed); // relaxed: no other thread is here
    if (header::state_of(h) == bin_state::done_transfer) continue;
    for (std::uint64_t mask = header::present(h); mask != 0; mask &= mask - 1) {
      const slot<Threads>* const s = slot_at(at, b, static_cast<unsigned>(std::countr_zero(mask)) / 2);
      // relaxed: as above
      if (s->first.load(sync::relaxed) != cleared) policy.dispose(s->second.load(sync::relaxed));
    }
  }
}

/// Disposes of all live words and frees all indexes. No other thread may use the table any more.
template <class Policy, class Threads> void close(table<Policy, Threads>& t) {
  t.worker.stop(); // it reads the root
  // relaxed, both: no other thread is here
  const index<Threads>* const oldest = t.root.load(sync::relaxed);
  if (oldest != nullptr && oldest->is_of_empty_tables()) t.root.store(nullptr, sync::relaxed);
  generations::free_generations(t, [&]([[maybe_unused]] const index<Threads>& at) {
    if constexpr (Policy::unique_words) dispose_words(t.policy, at);
  });
}

} // namespace cubby::inline v0::detail::engines::dlht
