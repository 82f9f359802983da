// SPDX-License-Identifier: Apache-2.0
// Tuples above 16 bytes kept in the array (DRAMHiT section 3, Atomicity): a header and the words of key and value, 32 or
// 64 bytes, never across a line. The header holds the paper's version beside the state:
//   bits 0-39 version, odd: the value is being written | 40-42 state | 43 due | 44-63 tag, bits of the key's hash
//
// How a header changes: by compare-and-swap, but where the whole tuple belongs to one thread (store). V: any even version.
//   empty (0)      -> filling, version 1: the tuple is somebody's, and no key is in it yet     | sealed, final
//   filling        -> live, version 2: its words are there     | filling + due, by a mover -> moved (store), final, no key in it
//   live V         -> live V+1, by the thread that writes a new value  | dead, final  | moving, by a mover
//   live V+1       -> live V+2                                 | live V+1 + due, by a mover -> moving (store of the writer)
//   moving         -> moved (store), final: the key lives further on
// T1  A tuple that has left `empty` is never empty again, and the key that it has got never changes, nor does its tag.
// T2  A key is live in at most one tuple of all arrays, and where one search finds it every search comes by. Its tuple in an
//     older array may be moving then, and shows the same value (T6).
// T3  The value's words are written only between V and V+1; a thread that reads them between two looks at one even header has
//     read one value. In state moving nobody writes them: it can be read, and is the key's, until it is moved.
// T4  A thread that goes on to the next array, to insert, has met a sealed tuple, has sealed the empty one that ends the chain, or
//     has met no empty one at all: nobody can insert the key behind it.
// T5  Due: a mover that meets a tuple in somebody's hand leaves it to that thread to move, or to take back, and goes on.
// T6 An entry changes in an array only when its tuples in the older ones are moved: until then they show what it was. A thread that
//     has met it behind other arrays looks once more into the root, the only one that is moved from.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/core/words.hpp>
#include <cubby/detail/platform/cpu.hpp>
#include <cubby/detail/platform/sync.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

enum class state : std::uint8_t { empty, filling, live, moving, moved, dead, sealed };

// The paper has 32 bits of version. The bits beside it were free: a reader that sleeps between its two looks would have to
// miss 2^39 writes of one value, and not 2^31, to take another value for the one that it began to read.
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
/// Of another mix than the bits that choose the home line.
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

/// Slots that are tuples: what the codec of such a table is, is `tuple_policy`.
template <class Policy> struct tuple_layout {
  using slot = tuple<Policy>;
  using value = typename Policy::stored_value;
  using contents = std::uint64_t;             ///< of a slot: its header, as it was read
  static constexpr bool counts_units = false; ///< T5: some writers move their own
  /// No array has fewer, so that a few threads that overlook each other's inserts do not fill one up.
  static constexpr std::uint64_t fewest_slots = 64;
  /// An insert that had to look at so many slots asks whether the table is crowded: the sum behind the answer costs as much as a
  /// search.
  static constexpr std::uint64_t long_search = 8;
};

} // namespace cubby::inline v0::detail::engines::dramhit
