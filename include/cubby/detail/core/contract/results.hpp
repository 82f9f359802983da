// SPDX-License-Identifier: Apache-2.0
// The results of operations: the answers of engines, in words, the answers of tables, and the statistics that every table has. In
// an engine that stores tuples, a "word" stands for all the words of a value (core/words.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace cubby::inline v0 {

/// The result of a request, a `try_insert`, a reservation, or a write that is sent (`delegated_map`).
enum class outcome : std::uint8_t {
  done, ///< found, inserted, assigned, added or erased; of a sent write: it takes effect, at the latest with `flush`
  inserted = done, ///< `done`, of an insert
  exists,          ///< insert: the key is present
  full, ///< a `fixed` table holds `options.capacity` entries and the key is absent; or the key's namespace is out of range
  crowded,     ///< one bin would get more keys than it can hold, because their hashes agree
  no_memory,   ///< there was no memory for the record or for growth; the table works on as before
  absent,      ///< find, assign, erase: the key is absent
  not_executed ///< the batch stopped before it, it lacks a value, or its values have no `+`
};

namespace detail {

/// An engine's answer to an insert: one of the first five.
using insert_outcome = outcome;

/// The value word that a find, an erase or an assign has met. `word` is defined only if `found`.
template <class Word> struct found_as {
  bool found = false;
  Word word{};
};
using found_word = found_as<std::uint64_t>;

/// The result of an insert of a word. If `exists`, `word` is the value word of the present entry; if that entry is hidden or not
/// shown yet, `word` is undefined. `shown`: the caller's word was in a slot for a while, so other threads may hold it although it was
/// not inserted. `shown` may also be set without need.
struct inserted_word {
  insert_outcome outcome = insert_outcome::inserted;
  bool shown = false;
  std::uint64_t word = 0;
};

/// The same for an engine that does not read the present value, and shows no word that it does not insert.
struct insert_answer {
  insert_outcome outcome = insert_outcome::inserted;
  static constexpr bool shown = false;
};

} // namespace detail

/// What a decider of `mutate` wants done with the entry.
enum class action : std::uint8_t { keep, replace, erase };

namespace detail {

template <class Word> struct decision_as {
  action what = action::keep;
  Word word{}; ///< the new value word when `replace`
};
using decision = decision_as<std::uint64_t>;

/// The result of a `mutate`: the entry that was there, and what was done with it.
template <class Word> struct mutated_as {
  bool found = false;
  action done = action::keep;
  Word before{}; ///< the value word that was replaced, erased or kept
};
using mutated = mutated_as<std::uint64_t>;

} // namespace detail

/// The statistics of every table. An engine may add its own (`stats_type`). Bytes count the indexes only: the memory of records
/// belongs to the allocator.
struct table_stats {
  std::size_t size = 0;       ///< entries (exact while no thread writes)
  std::size_t capacity = 0;   ///< slots of the current index
  std::size_t bins = 0;       ///< bins of the current index
  std::size_t bytes = 0;      ///< bytes that all indexes map, retired ones included
  std::size_t huge_bytes = 0; ///< of these, backed by huge pages at this moment (read from the kernel)
  std::size_t retired = 0;    ///< retired words and indexes that wait for a grace period
  std::uint64_t growths = 0;  ///< migrations begun towards a larger index
  std::uint64_t shrinks = 0;  ///< towards a smaller one
  std::uint64_t rebuilds = 0; ///< towards one of the same size
  bool migrating = false;     ///< whether a migration is under way
};

} // namespace cubby::inline v0
