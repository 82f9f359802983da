// SPDX-License-Identifier: Apache-2.0
// The contract between engines, which map words to words, and the faces, which map types to words.
// Options, outcomes, capabilities, and the concepts that an engine claims. An engine never sees a user's type:
// it is asked with a probe and compares through a slot policy.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <cubby/core/probe.hpp>
#include <cubby/core/registry.hpp>
#include <cubby/platform/entropy.hpp>

namespace cubby::inline v0 {

/// Who moves the entries when a table grows or shrinks.
enum class growth_policy : std::uint8_t {
  cooperative, ///< whoever needs the room moves chunks until none is left (DLHT section 3.2.5)
  incremental, ///< each insert moves at most `move_bins` bins, then goes on; bounded work per call
  background,  ///< one thread of the table moves everything; callers move only the bin that they need
  fixed        ///< never grows: `try_insert` answers `full`
};

/// When a table gives memory back.
enum class shrink_policy : std::uint8_t {
  never,    ///< `shrink_to_fit` does nothing
  manual,   ///< only when `shrink_to_fit` or `clear_and_release` is called
  automatic ///< also when erases leave it nearly empty (low mark with hysteresis)
};

/// How a table is set up. Every field has a default that suits most; `docs/performance.md` cites the measurements.
struct options {
  std::size_t capacity = 0; ///< entries that must fit without growing; also the floor for shrinking
  growth_policy growth = growth_policy::incremental;
  shrink_policy shrink = shrink_policy::manual;
  std::uint64_t seed = 0;          ///< of the mixer; `random_seed()` makes one that an attacker cannot know
  std::uint32_t bins_per_link = 2; ///< DLHT: link buckets are bins divided by this; the paper has 8
  std::size_t chunk_bins = 16384;  ///< bins taken at a time under `cooperative` (DLHT) and `background`
  std::size_t move_bins = 8;       ///< bins that one insert moves under `incremental`
  std::uint32_t growth_factor =
      0; ///< 0: DLHT chooses 8, 4 or 2 by size, relativistic 2; else 2 to 64, rounded up to 2^n
};

/// How a single insert ended.
enum class insert_outcome : std::uint8_t {
  inserted,
  exists,
  full,     ///< the bound of a `fixed` table is reached, or more keys share a hash than a bin can hold
  no_memory ///< growth was needed and memory could not be had; the table works on as it was
};

/// A value word that a find, an erase or an assign met. `word` is meaningful only when `found`.
struct found_word {
  bool found = false;
  std::uint64_t word = 0;
};

/// How an insert of a word ended; `word` is the value word of the entry that is in the way when `exists`, unless that
/// entry is hidden (shadow) or about to be shown: then it means nothing. `shown`: the caller's word lay in a slot for a
/// while, so that others may have it in hand although it was not inserted; it may be set without need.
struct inserted_word {
  insert_outcome outcome = insert_outcome::inserted;
  bool shown = false;
  std::uint64_t word = 0;
};

/// What a visitor of `mutate` wants done with the entry that it was shown.
enum class verdict : std::uint8_t { keep, replace, erase };
struct decision {
  verdict what = verdict::keep;
  std::uint64_t word = 0; ///< the new value word when `replace`
};

/// How a `mutate` ended: what was there, and what was done about it.
struct mutated {
  bool found = false;
  verdict done = verdict::keep;
  std::uint64_t before = 0; ///< the very value word that was replaced, erased or kept
};

/// Figures of a table. Bytes count the index only; records belong to the allocator.
struct table_stats {
  std::size_t size = 0;       ///< entries (exact when nobody writes)
  std::size_t capacity = 0;   ///< slots of the current index
  std::size_t bins = 0;       ///< bins of the current index
  std::size_t links = 0;      ///< link buckets of the current index
  std::size_t links_used = 0; ///< link buckets that are chained to a bin
  std::size_t bytes = 0;      ///< mapped by every index that still lives, retired ones included
  std::size_t huge_bytes = 0; ///< of these, backed by huge pages right now (read from the kernel)
  std::size_t retired = 0;    ///< retired words and indexes that wait for a grace period
  std::uint64_t growths = 0;  ///< migrations begun towards a larger index
  std::uint64_t shrinks = 0;  ///< towards a smaller one
  std::uint64_t rebuilds = 0; ///< towards one of the same size
  bool migrating = false;     ///< whether a migration is under way
};

/// What an engine can do; drives the conformance suite, the benches and the README's table.
struct capability_set {
  bool lock_free_find = false;
  bool lock_free_insert = false;
  bool slots_freed_at_once = false;
  bool ordered_batch = false;
  bool prefetch = false;
  bool grows = false;
  bool grows_without_blocking = false;
  bool shrinks = false;
  bool snapshot = false;
  bool shadow_insert = false;
  bool one_thread_only = false;
};

/// How an engine compares and rehashes slots that it cannot read itself.
///  - `unique_words`: no live value word ever comes back to a slot while an older pin lives (records: true; values: false)
///  - `matches(probe, value_word)`: whole-key compare; called only when the key words are equal
///  - `hash_of(key_word, value_word)`: the hash that the probe of this entry's key would carry
///  - `record_of(value_word)`: the address worth prefetching, or null
///  - `retire_link(value_word)`: a word inside the record that nobody reads once it is retired: retiring never allocates
///  - `dispose(value_word)`: frees what the word owns; called once, after a grace period; a no-op for inline words
/// `retire_link` is asked for only when `unique_words`.
template <class P>
concept slot_policy = requires(const P& policy, const typename P::probe& probe, std::uint64_t word) {
  requires std::derived_from<typename P::probe, word_probe>;
  { P::unique_words } -> std::convertible_to<bool>;
  { P::mapping } -> std::convertible_to<bin_mapping>;
  { policy.matches(probe, word) } noexcept -> std::same_as<bool>;
  { policy.hash_of(word, word) } noexcept -> std::same_as<std::uint64_t>;
  { policy.record_of(word) } noexcept -> std::convertible_to<const void*>;
  policy.dispose(word);
  requires !P::unique_words || requires {
    { policy.retire_link(word) } noexcept -> std::same_as<std::uint64_t&>;
  };
};

/// Engines that tell how each verb ended. Every verb runs inside a pin of `seat` (see core/registry.hpp), which keeps
/// alive what it returns. All verbs are linearizable per key; none calls back into the face while it holds a bin.
template <class E>
concept exact_engine = requires(E& engine, seat& s, const typename E::probe& probe, std::uint64_t word) {
  { E::capabilities } -> std::convertible_to<capability_set>;
  { engine.pin(s) };
  { engine.find(s, probe) } -> std::same_as<found_word>;
  { engine.insert(s, probe, word) } -> std::same_as<inserted_word>;
  {
    engine.mutate(s, probe, [](std::uint64_t) { return decision{}; })
  } -> std::same_as<mutated>;
  { engine.retire(s, word) };
  { engine.size() } -> std::convertible_to<std::size_t>;
  { engine.stats() } -> std::same_as<table_stats>;
};

} // namespace cubby::inline v0
