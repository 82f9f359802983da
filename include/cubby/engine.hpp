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

/// Who moves the entries when a table grows or shrinks. `partitioned` knows `fixed` alone: otherwise a partition's writer copies it.
enum class growth_policy : std::uint8_t {
  cooperative, ///< whoever needs the room moves chunks until none is left (DLHT section 3.2.5)
  /// Each insert and erase (`dlht`), or each write, moves at most `move_bins` bins, then goes on; bounded work per call. A
  /// move stands still while nobody writes, and lookups may meanwhile have to look at both sides of it: `reserve(0)` ends it.
  incremental,
  background, ///< one thread of the table moves everything; callers move only the bin that they need
  fixed       ///< a bound: `options.capacity` entries always fit, and then `try_insert` answers `full`
};

/// When a table gives memory back.
enum class shrink_policy : std::uint8_t {
  never,    ///< `shrink_to_fit` does nothing
  manual,   ///< only when `shrink_to_fit` or `clear_and_release` is called
  automatic ///< also when erases leave it nearly empty (low mark with hysteresis); `partitioned`: as `manual`
};

/// How a table is set up. Every field has a default that suits most; `docs/performance.md` cites the measurements.
struct options {
  /// Entries that must fit without growing; also the floor for shrinking. With `fixed`, also the most: one more is refused, and
  /// with 0 all are. It bounds entries; docs/guarantees.md, F.4, says what that means in bytes.
  std::size_t capacity = 0;
  growth_policy growth = growth_policy::incremental;
  shrink_policy shrink = shrink_policy::manual;
  std::uint64_t seed = 0;          ///< of the mixer; `random_seed()` makes one that an attacker cannot know
  std::uint32_t bins_per_link = 2; ///< DLHT: link buckets are bins divided by this; the paper has 8
  /// Bins taken at a time under `background`, and under `cooperative` but in `relativistic`.
  std::size_t chunk_bins = 16384;
  /// Bins (`relativistic`: families of buckets; DRAMHiT: lines, in whole units of 8) that one write moves under `incremental`.
  std::size_t move_bins = 8;
  /// 0 or 1: 2 in `relativistic`, 8, 4 or 2 by size in others; else 2 to 64, rounded up to a power of two but for DRAMHiT.
  std::uint32_t growth_factor = 0;
  /// `partitioned`: 0 chooses 16, or one for each of `owners` if they are more; at most 4096.
  std::size_t partitions = 0;
  std::size_t owners = 0; ///< `partitioned`: threads of the table that carry out what handles send
};

/// How a single insert ended.
enum class insert_outcome : std::uint8_t {
  inserted,
  exists,
  full,     ///< a `fixed` table holds `options.capacity` entries
  crowded,  ///< more keys agree in their hash, or in the bits of it that choose a bin, than one bin or chain may hold
  no_memory ///< growth was needed and memory could not be had; the table works on as it was
};

/// How a write that is not answered was taken (`delegates`).
enum class write_outcome : std::uint8_t {
  accepted, ///< it will be carried out, at the latest by `flush`
  full      ///< the bound of a `fixed` table is reached and the key was not there: nothing was sent
};

/// A value word that a find, an erase or an assign met. `word` is meaningful only when `found`. To an engine that keeps
/// whole tuples a "word" is all the words of a value (core/words.hpp), here and below.
template <class Word> struct found_as {
  bool found = false;
  Word word{};
};
using found_word = found_as<std::uint64_t>;

/// How an insert of a word ended; `word` is the value word of the entry that is in the way when `exists`, unless that
/// entry is hidden (shadow) or about to be shown: then it means nothing. `shown`: the caller's word lay in a slot for a
/// while, so that others may have it in hand although it was not inserted; it may be set without need.
struct inserted_word {
  insert_outcome outcome = insert_outcome::inserted;
  bool shown = false;
  std::uint64_t word = 0;
};

/// The same from an engine of tuples, which does not read the value that is in the way.
struct inserted_tuple {
  insert_outcome outcome = insert_outcome::inserted;
  static constexpr bool shown = false;
};

/// What a visitor of `mutate` wants done with the entry that it was shown.
enum class verdict : std::uint8_t { keep, replace, erase };
template <class Word> struct decision_as {
  verdict what = verdict::keep;
  Word word{}; ///< the new value word when `replace`
};
using decision = decision_as<std::uint64_t>;

/// How a `mutate` ended: what was there, and what was done about it.
template <class Word> struct mutated_as {
  bool found = false;
  verdict done = verdict::keep;
  Word before{}; ///< the very value word that was replaced, erased or kept
};
using mutated = mutated_as<std::uint64_t>;

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
  bool bounded_bins = false; ///< more keys with one hash than a bin holds are refused as `crowded`
  bool ordered_batch = false;
  bool prefetch = false;
  bool pipelined = false; ///< requests may be pending: see pipeline.hpp
  bool grows = false;
  bool grows_without_blocking = false;
  bool shrinks = false;
  bool walks_once = false; ///< a walk meets no entry twice, whatever moves meanwhile
  bool snapshot = false;
  bool shadow_insert = false;
  bool exclusive_modify = false; ///< `modify`: the caller's function once, while nobody else changes the entry
  bool one_thread_only = false;
  bool delegates = false; ///< writes are sent to who carries them out, and not answered: see delegated_map.hpp
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

/// What an engine of tuples asks of a codec: how many words there are, and the hash that the probe of this key would carry.
template <class P>
concept tuple_policy = requires(const P& policy, const typename P::stored_key& key, const typename P::probe& probe) {
  { P::stored_key::count + P::stored_value::count } -> std::convertible_to<std::size_t>;
  { P::mapping } -> std::convertible_to<bin_mapping>;
  { policy.hash_of(key) } noexcept -> std::same_as<std::uint64_t>;
  { probe.hash } -> std::convertible_to<std::uint64_t>;
  { probe.key } -> std::convertible_to<typename P::stored_key>;
};

/// What every engine is: lookups inside a pin of `seat` (see core/registry.hpp), which keeps alive what they return.
template <class E>
concept lookup_engine = requires(E& engine, seat& s, const typename E::probe& probe) {
  { E::capabilities } -> std::convertible_to<capability_set>;
  { engine.pin(s) };
  { engine.find(s, probe) } -> std::same_as<found_word>;
  { engine.size() } -> std::convertible_to<std::size_t>;
  { engine.stats() } -> std::same_as<table_stats>;
};

/// Engines that tell how each verb ended, each of which runs inside a pin. All verbs are linearizable per key; none calls
/// back into the face while it holds a bin.
template <class E>
concept exact_engine =
    lookup_engine<E> && requires(E& engine, seat& s, const typename E::probe& probe, std::uint64_t word) {
      { engine.insert(s, probe, word) } -> std::same_as<inserted_word>;
      {
        engine.mutate(s, probe, [](std::uint64_t) { return decision{}; })
      } -> std::same_as<mutated>;
      { engine.retire(s, word) };
      requires !E::policy::unique_words || requires {
        { engine.stop_worker() } noexcept;
        { engine.dispose_retired() } -> std::same_as<bool>;
      };
    };

/// Engines whose writes are sent and not answered; `flush` returns when all that one sender sent has been carried out.
template <class E>
concept delegating_engine = lookup_engine<E> && requires(E& engine, typename E::sender& from,
                                                         const typename E::probe& probe, std::uint64_t word) {
  { engine.insert_or_assign(from, probe, word) } -> std::same_as<write_outcome>;
  { engine.insert_or_add(from, probe, word) } -> std::same_as<write_outcome>;
  { engine.erase(from, probe) };
  { engine.flush(from) } -> std::same_as<bool>;
};

} // namespace cubby::inline v0
