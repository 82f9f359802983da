// SPDX-License-Identifier: Apache-2.0
// How operations end: what engines answer in words, what tables answer for them, and the figures that every table has. To
// an engine that keeps whole tuples a "word" is all the words of a value (core/words.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace cubby::inline v0 {

/// How an operation ended: a request, a `try_insert`, a reservation, a write that is sent (`delegated_map`).
enum class outcome : std::uint8_t {
  done,            ///< found, inserted, assigned, added, erased; a write that is sent will be, at the latest by `flush`
  inserted = done, ///< the same word for inserts
  exists,          ///< insert: the key is there
  full, ///< a `fixed` table holds `options.capacity` entries and the key is absent; or the key's namespace is out of range
  crowded,   ///< more keys agree in their hash, or in the bits of it that choose a bin, than one bin or chain may hold
  no_memory, ///< there was none for the record, or for growth; the table works on as it was
  absent,    ///< find, assign, erase: no such key
  not_executed ///< the batch stopped before it, it has no value and needs one, or its values cannot be added
};

namespace detail {

/// What an engine answers of an insert: one of the first five.
using insert_outcome = outcome;

/// A value word that a find, an erase or an assign met. `word` is meaningful only when `found`.
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

/// The same from an engine that neither reads the value that is in the way nor shows one that it does not insert.
struct insert_answer {
  insert_outcome outcome = insert_outcome::inserted;
  static constexpr bool shown = false;
};

} // namespace detail

/// What a visitor of `mutate` wants done with the entry that it was shown.
enum class action : std::uint8_t { keep, replace, erase };

namespace detail {

template <class Word> struct decision_as {
  action what = action::keep;
  Word word{}; ///< the new value word when `replace`
};
using decision = decision_as<std::uint64_t>;

/// How a `mutate` ended: what was there, and what was done about it.
template <class Word> struct mutated_as {
  bool found = false;
  action done = action::keep;
  Word before{}; ///< the very value word that was replaced, erased or kept
};
using mutated = mutated_as<std::uint64_t>;

} // namespace detail

/// The figures that every table has; an engine may add its own (`stats_type`). Bytes count the index only; records belong to
/// the allocator.
struct table_stats {
  std::size_t size = 0;       ///< entries (exact when nobody writes)
  std::size_t capacity = 0;   ///< slots of the current index
  std::size_t bins = 0;       ///< bins of the current index
  std::size_t bytes = 0;      ///< mapped by every index that still lives, retired ones included
  std::size_t huge_bytes = 0; ///< of these, backed by huge pages right now (read from the kernel)
  std::size_t retired = 0;    ///< retired words and indexes that wait for a grace period
  std::uint64_t growths = 0;  ///< migrations begun towards a larger index
  std::uint64_t shrinks = 0;  ///< towards a smaller one
  std::uint64_t rebuilds = 0; ///< towards one of the same size
  bool migrating = false;     ///< whether a migration is under way
};

} // namespace cubby::inline v0
