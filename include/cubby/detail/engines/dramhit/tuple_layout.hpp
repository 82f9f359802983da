// SPDX-License-Identifier: Apache-2.0
// Tuples above 16 bytes kept in the array (DRAMHiT section 3, Atomicity): a header and the words of key and value, 32 or
// 64 bytes, never across a line. The header holds the paper's version beside the state:
//   bits 0-39 version, odd: the value is being written | 40-42 state | 43 due | 44-63 tag, bits of the key's hash
//
// How a header changes: by compare-and-swap, or by a store while one thread owns the tuple. V: any even version.
//   empty (0)      -> filling, version 1: the tuple is taken, and its key is not written yet  | sealed, final
//   filling        -> live, version 2: its words are there     | filling + due, by a mover -> moved (store), final, no key in it
//   live V         -> live V+1, by the thread that writes a new value  | dead, final  | moving, by a mover
//   live V+1       -> live V+2                                 | live V+1 + due, by a mover -> moving (store of the writer)
//   moving         -> moved (store), final: the key lives further on
// T1  A tuple that has left `empty` never becomes empty again. Its key and its tag never change.
// T2  A key is live in at most one tuple of all arrays, and each search for it reaches that tuple. Its tuple in an older array may be
//     moving then, and shows the same value (T6).
// T3  The words of the value are written only between V+1 and V+2. A thread that reads them between two looks at the same even header
//     has read one value. In state moving no thread writes them: the value is readable and current until the state is moved.
// T4  A thread that goes on to the next array in order to insert has met a sealed tuple, has sealed the empty one that ends the
//     chain, or has met no empty one. So no thread can insert the key behind it in the old array.
// T5  Due: if a mover meets a tuple that another thread is filling or writing, it marks it due and goes on. That thread then moves
//     the tuple, or gives it up.
// T6  An entry changes in an array only after its tuples in the older arrays have moved; until then they show its value. So a thread
//     that has met the entry in a later array looks once more into the root, the only array from which entries move.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/core/words.hpp>
#include <cubby/detail/platform/cpu.hpp>
#include <cubby/detail/platform/sync.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

enum class state : std::uint8_t { empty, filling, live, moving, moved, dead, sealed };

// The paper has 32 bits of version. Here it has 40, because the bits were free: a reader would have to miss 2^39 writes between its
// two looks, instead of 2^31, to take two values for one.
inline constexpr unsigned state_shift = 40;
inline constexpr unsigned tag_shift = 44;
inline constexpr std::uint64_t version_mask = (std::uint64_t{1} << state_shift) - 1;
inline constexpr std::uint64_t state_mask = std::uint64_t{7} << state_shift;
inline constexpr std::uint64_t due_bit = std::uint64_t{1} << 43;

inline constexpr std::uint64_t empty_header = 0;

constexpr std::uint64_t header_of(std::uint64_t tag, state what, std::uint64_t version) noexcept {
  return tag << tag_shift | static_cast<std::uint64_t>(what) << state_shift | version;
}
constexpr state state_of(std::uint64_t header) noexcept {
  return static_cast<state>((header & state_mask) >> state_shift);
}
constexpr std::uint64_t tag_of(std::uint64_t header) noexcept { return header >> tag_shift; }
constexpr std::uint64_t in_state(std::uint64_t header, state what) noexcept {
  return (header & ~(state_mask | due_bit)) | static_cast<std::uint64_t>(what) << state_shift;
}
constexpr bool is_written(std::uint64_t header) noexcept { return header % 2 != 0; }
/// The header after one more step of the version, which may wrap.
constexpr std::uint64_t stepped(std::uint64_t header) noexcept {
  return (header & ~version_mask) | ((header + 1) & version_mask);
}
/// The tag of a hash. It mixes the hash in another way than the choice of the home line does.
constexpr std::uint64_t tag_of_hash(std::uint64_t hash) noexcept {
  return (hash * 0x9e3779b97f4a7c15ULL) >> tag_shift; // 2^64 divided by the golden ratio
}
static_assert(state_of(stepped(header_of(5, state::live, version_mask))) == state::live);
static_assert(tag_of(header_of(5, state::live, 7) | due_bit) == 5 && is_written(header_of(5, state::live, 7)));

template <class Policy> inline constexpr std::size_t tuple_words =
    Policy::stored_key::count + Policy::stored_value::count;
template <class Policy> inline constexpr std::size_t tuple_bytes = tuple_words<Policy> <= 3 ? 32 : cpu::cache_line;

template <class Policy> struct alignas(tuple_bytes<Policy>) tuple {
  using word = sync::word<std::uint64_t, sync::shared>;
  word header;
  word words[tuple_words<Policy>]; ///< of the key, then of the value
};

/// The layout with tuples. The codec of such a table is a `tuple_policy`.
template <class Policy> struct tuple_layout {
  using slot = tuple<Policy>;
  using value = typename Policy::stored_value;
  using contents = std::uint64_t;             ///< of a slot: its header, as it was read
  static constexpr bool counts_units = false; ///< T5: some writers move their own tuple
  /// The fewest slots of an array, so that a few concurrent inserts, which do not count each other, cannot fill it.
  static constexpr std::uint64_t fewest_slots = 64;
  /// An insert that has looked at so many slots checks whether the table is crowded. The check sums counters, which costs as much as
  /// a search.
  static constexpr std::uint64_t long_search = 8;
};

} // namespace cubby::inline v0::detail::engines::dramhit
