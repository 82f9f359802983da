// SPDX-License-Identifier: Apache-2.0
// What an iceberg table stores (IcebergHT sections 2 and 3.1). It has a front yard of buckets with 56 slots, a back yard of buckets
// with 8 slots, and chains for what fits in neither. Each front bucket has one line of tags, each back bucket one word. Slots of 32 and 64
// bytes in memory have tags of two bytes, and 28 of them make a front bucket: docs/performance/iceberg.md, "Tags of two bytes".
//   front line   [words 7..1: 56 tags, or 28 | state word 0]   tag 0: the slot is empty
//   state word   [63 version 38 | 37 behind 32 | 31 filter 8 | 0.. | inherited 4 | writing 3 | chained 2 | ready 1 | locked 0]
//   back word    [tag of slot i in bits 8i..8i+6 | bit 7: locked | bit 15: ready]   tag 0: the slot is empty
// Invariants:
//   I1  A key has at most one entry. It lies in the front bucket of its hash, in one of two back buckets, or in a chain.
//   I2  All changes about a key are made while its front bucket is locked. A back slot also needs the lock of its back bucket.
//   I3  An entry moves only when buckets split or merge, or when a back bucket of a merge is full.
//   I4  A tag is shown after the words of its slot. In a slot that is filled again, value words are written before key words.
//   I5  `version` grows after a slot of the bucket's keys is emptied and before it can be filled again: in the front, in the back, and by
//       a move, which also raises it before it empties the slot. Keys of several words: a back bucket has a version of its own.
//   I6  `behind` counts the bucket's entries in the back yard and in chains, and the bits of their tags are in `filter`. When none is
//       left, `filter` and `chained` are cleared. Buckets of wide slots also clear single bits (behind.hpp). `unknown` is a count that stays until the next growth has ended. The filter of a chain has
//       the marks of its nodes, those of a new one before it is linked, and no others once an erase has ended. Bits of `filter` go with a newer
//       version: a lookup with the older filter does not return what is put behind the bucket later, which one after it may not look for.
//   I7  A growth splits each front bucket before it moves the entries behind it to the front. A bucket that has split has `inherited` the
//       filter: once the growth has ended, it has nothing behind, unless the count says `unknown`. One that has yet to split puts entries
//       into back buckets that the growth has yet to empty, and into no chain.
//   I8  The tag of an entry in a front bucket is `h.tag`. Wherever buckets split, an entry keeps its slot.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include <cubby/detail/core/hash.hpp>
#include <cubby/detail/core/words.hpp>
#include <cubby/detail/platform/memory.hpp>
#include <cubby/detail/platform/tags.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

inline constexpr unsigned back_slots = 8;
/// Doublings. 2^40 times the first size is more than any machine has memory for.
inline constexpr unsigned most_levels = 40;
inline constexpr std::uint64_t most_capacity = std::uint64_t{1} << 46;

/// The state word of a front bucket.
namespace state {
inline constexpr std::uint64_t locked = 1;
inline constexpr std::uint64_t ready =
    2; // the bucket is in use; if not, its entries are still in the bucket from which it splits
inline constexpr std::uint64_t chained = 4; // a chain may have entries of this bucket
inline constexpr std::uint64_t writing = 8; // words of a wide value are being written
inline constexpr std::uint64_t inherited = 16;
inline constexpr std::uint64_t held = 32; // the list of holds may have an entry of the bucket (modify.hpp)
inline constexpr unsigned filter_shift = 8;
inline constexpr unsigned filter_bits = 24;
inline constexpr std::uint64_t filter_mask = ((std::uint64_t{1} << filter_bits) - 1) << filter_shift;
inline constexpr std::uint64_t behind_one = std::uint64_t{1} << 32;
inline constexpr std::uint64_t behind_mask = 63 * behind_one;
inline constexpr std::uint64_t unknown = behind_mask; // of the count
inline constexpr std::uint64_t version_step = std::uint64_t{1} << 38;
/// What says where entries behind the bucket may be.
inline constexpr std::uint64_t behind_words = behind_mask | filter_mask | chained | inherited;
/// What a lookup compares when it looks again.
inline constexpr std::uint64_t position_mask = ~(version_step - 1) | ready;
/// The two bits of each tag, of which each is one of 24: a Bloom filter. A lookup reads them here, where it would take eleven more
/// instructions to compute them.
inline constexpr auto filters = [] {
  std::array<std::uint32_t, 256> all{};
  for (unsigned tag = 0; tag < all.size(); ++tag) {
    const unsigned other = tag * 187 % 256;
    all[tag] = (1U << tag * 3 / 32 | 1U << other * 3 / 32) << filter_shift;
  }
  all[0] = all[1];
  return all;
}();
constexpr std::uint64_t filter_of(std::uint16_t tag) noexcept { return filters[tag % filters.size()]; }
/// The byte of a tag that chooses its bits. It is not 0.
constexpr std::uint8_t filter_tag(std::uint16_t tag) noexcept {
  return tag % filters.size() == 0 ? 1 : static_cast<std::uint8_t>(tag % filters.size());
}
/// Whether the state says how many entries are behind the bucket.
constexpr bool has_count(std::uint64_t word) noexcept {
  return (word & inherited) == 0 && (word & behind_mask) != unknown;
}
/// That number.
constexpr unsigned count_behind(std::uint64_t word) noexcept {
  return static_cast<unsigned>((word & behind_mask) / behind_one);
}
/// An entry with this tag is put behind the bucket.
constexpr std::uint64_t with_behind(std::uint64_t word, std::uint16_t tag) noexcept {
  const std::uint64_t count = (word & inherited) != 0 ? unknown : (word & behind_mask) == unknown ? 0 : behind_one;
  return (((word & inherited) != 0 ? word | count : word + count) & ~inherited) | filter_of(tag);
}
/// An entry has left the buckets behind this one.
constexpr std::uint64_t without_behind(std::uint64_t word) noexcept {
  if (!has_count(word)) return word;
  word -= behind_one;
  return (word & behind_mask) != 0 ? word : word & ~(filter_mask | chained);
}
/// The growth whose split gave the bucket its filter has ended, and has moved what was behind it (I7).
constexpr std::uint64_t without_inherited(std::uint64_t word) noexcept { return (word & ~behind_words) + version_step; }
/// A growth leaves an entry behind the bucket, because the bucket is full.
constexpr std::uint64_t kept_behind(std::uint64_t word) noexcept {
  return (word & inherited) != 0 ? (word | unknown) & ~inherited : word;
}
/// Of two buckets that become one.
constexpr std::uint64_t joined(std::uint64_t word, std::uint64_t other) noexcept {
  const std::uint64_t sum = std::uint64_t{count_behind(word)} + count_behind(other);
  const bool exact = ((word | other) & inherited) == 0 && sum < unknown / behind_one;
  const std::uint64_t marks = (word | other) & (filter_mask | chained | held);
  return (word & ~behind_words) | marks | (exact ? sum * behind_one : unknown);
}
} // namespace state

struct alignas(cpu::cache_line) front_line {
  sync::word<std::uint64_t> state;
  sync::word<std::uint64_t> tag_words[tags::line_words];
};
static_assert(sizeof(front_line) == cpu::cache_line);

/// The word of a back bucket.
namespace back {
inline constexpr std::uint64_t locked = 0x80;
inline constexpr std::uint64_t ready = 0x8000;
inline constexpr std::uint64_t tag_mask = 0x7f7f'7f7f'7f7f'7f7f;
constexpr std::uint64_t with_tag(std::uint64_t word, unsigned slot, std::uint64_t tag) noexcept {
  return (word & ~(std::uint64_t{0x7f} << (8 * slot))) | tag << (8 * slot);
}
/// A bit for each slot with this tag.
constexpr std::uint32_t match(std::uint64_t word, std::uint8_t tag) noexcept {
  return tags::equal_tags(word & tag_mask, tag);
}
constexpr unsigned used(std::uint64_t word) noexcept {
  return back_slots - tags::count_equal<std::uint8_t>(word & tag_mask, 0);
}
} // namespace back

using back_line = sync::word<std::uint64_t>;

/// The words of a key or a value: one, or those of a tuple.
template <class Stored> inline constexpr std::size_t word_count = Stored::count;
template <> inline constexpr std::size_t word_count<std::uint64_t> = 1;

/// A slot, padded to 16, 32 or 64 bytes so that it never straddles two lines. `Tag`: what its front bucket has for it.
template <std::size_t Keys, std::size_t Values, class Tag = std::uint8_t>
struct alignas(std::bit_ceil((Keys + Values) * 8)) slot {
  using tag = Tag;
  static constexpr bool wide_key = Keys > 1;
  sync::word<std::uint64_t> key[Keys];
  sync::word<std::uint64_t> value[Values];
};
template <std::size_t Keys, class Tag> struct alignas(std::bit_ceil(Keys * 8)) slot<Keys, 0, Tag> {
  using tag = Tag;
  static constexpr bool wide_key = Keys > 1;
  sync::word<std::uint64_t> key[Keys];
};
/// Codecs of durable tables: their slots lie in a pool, `home()`, and so does what the slots own.
template <class Policy> concept durable = requires { requires Policy::durable; };

/// Slots in a file have tags of one byte: how many a bucket has is part of the format.
template <class Policy, std::size_t Keys = word_count<typename Policy::stored_key>,
          std::size_t Values = word_count<typename Policy::stored_value>>
using slot_of =
    slot<Keys, Values, std::conditional_t<(Keys + Values > 2 && !durable<Policy>), std::uint16_t, std::uint8_t>>;
/// Whether a front bucket has a list of the tags behind it (behind.hpp).
template <class Slot> inline constexpr bool lists_behind = sizeof(typename Slot::tag) == 2;
/// The slots of a front bucket.
template <class Slot> inline constexpr unsigned front_slots = tags::line_tags<typename Slot::tag>;

/// One doubling of the table: as many buckets as all segments before it, the first one apart. Its members do not change.
template <class Slot> struct segment {
  front_line* lines = nullptr;
  Slot* slots = nullptr; // `front_slots<Slot>` for each front bucket
  back_line* back_lines = nullptr;
  sync::word<std::uint64_t>* back_versions = nullptr; // only for keys of several words
  sync::word<std::uint64_t>* behind_lists = nullptr;  // for each front bucket of wide slots in memory
  Slot* behind = nullptr;                             // `back_slots` for each back bucket
  std::uint64_t fronts = 0;
  std::uint64_t backs = 0;
  memory::region pages;
  std::uint64_t retired_at = 0; // for retired_arrays
  segment* next_retired = nullptr;
  void (*at_end)(segment&) = nullptr; // of a durable table: gives the slots back, which are not in `pages`
  void* owner = nullptr;
  segment() = default;
  ~segment() {
    if (at_end != nullptr) at_end(*this);
  }
  segment(const segment&) = delete;
  segment& operator=(const segment&) = delete;
};

/// The bytes of the slots of both yards, from the front's first on.
template <class Slot> constexpr std::uint64_t slot_bytes(std::uint64_t fronts, std::uint64_t backs) noexcept {
  return (fronts * front_slots<Slot> + backs * back_slots) * sizeof(Slot);
}

/// Null: no memory. All buckets are empty and not ready. `given`: the slots, if they are elsewhere.
template <class Slot>
segment<Slot>* make_segment(std::uint64_t fronts, std::uint64_t backs, Slot* given = nullptr) noexcept {
  auto* const made = new (std::nothrow) segment<Slot>;
  if (made == nullptr) return nullptr;
  const auto lined = [](std::uint64_t bytes) {
    return (bytes + cpu::cache_line - 1) / cpu::cache_line * cpu::cache_line;
  };
  const std::uint64_t lines = fronts * sizeof(front_line);
  const std::uint64_t slots = given != nullptr ? 0 : fronts * front_slots<Slot> * sizeof(Slot);
  const std::uint64_t behind = given != nullptr ? 0 : lined(backs * back_slots * sizeof(Slot));
  const std::uint64_t back_lines = lined(backs * sizeof(back_line));
  const std::uint64_t versions = Slot::wide_key ? lined(backs * sizeof(std::uint64_t)) : 0;
  const std::uint64_t lists = lists_behind<Slot> ? lined(fronts * sizeof(std::uint64_t)) : 0;
  made->pages = memory::allocate(lines + slots + back_lines + versions + behind + lists);
  if (made->pages.address == nullptr) {
    delete made;
    return nullptr;
  }
  // Zero bytes are empty buckets, so the mapping needs no initialization.
  made->lines = reinterpret_cast<front_line*>(made->pages.address);
  made->back_lines = reinterpret_cast<back_line*>(made->pages.address + lines);
  made->slots = reinterpret_cast<Slot*>(made->pages.address + lines + back_lines);
  made->behind = reinterpret_cast<Slot*>(made->pages.address + lines + back_lines + slots);
  if (given != nullptr) {
    made->slots = given;
    made->behind = given + fronts * front_slots<Slot>;
  }
  if constexpr (Slot::wide_key) {
    auto* const end = made->pages.address + lines + back_lines + slots + behind;
    made->back_versions = reinterpret_cast<sync::word<std::uint64_t>*>(end);
  }
  if constexpr (lists_behind<Slot>) {
    auto* const end = made->pages.address + lines + back_lines + slots + behind + versions;
    made->behind_lists = reinterpret_cast<sync::word<std::uint64_t>*>(end);
  }
  made->fronts = fronts;
  made->backs = backs;
  return made;
}

/// The root: which segments are in use, and whether buckets split or merge.
///   [63 changes 8 | shrinking 7 | moving 6 | level 5..0]
/// Buckets of `level` doublings are in use. If `moving`, those of the last doubling may be not ready: a growth makes them ready
/// one after the other, and a shrink (`shrinking` as well) ends that for each of them.
struct root_word {
  std::uint64_t bits = 0;
  static constexpr std::uint64_t moving_bit = 64;
  static constexpr std::uint64_t shrinking_bit = 128;
  static constexpr std::uint64_t change = 256;
  [[nodiscard]] constexpr unsigned level() const noexcept { return bits % moving_bit; }
  [[nodiscard]] constexpr bool moving() const noexcept { return (bits & moving_bit) != 0; }
  /// Whether the table has its first buckets alone, and none of them moves.
  [[nodiscard]] constexpr bool first() const noexcept { return bits % (2 * moving_bit) == 0; }
  [[nodiscard]] constexpr bool shrinking() const noexcept { return (bits & shrinking_bit) != 0; }
  /// The root after this one. `marks`: `moving_bit`, and `shrinking_bit`, or 0.
  [[nodiscard]] constexpr root_word next(unsigned level, std::uint64_t marks) const noexcept {
    return {(bits / change + 1) * change | marks | level};
  }
  bool operator==(const root_word&) const = default;
};

/// A bucket: segment, and number in it.
struct position {
  unsigned segment = 0;
  std::uint64_t number = 0;
};
/// The bucket of a hash among `base` << level. The high bits choose one of `base`, the low bits the doubling.
CUBBY_ALWAYS_INLINE position position_at(std::uint64_t residue, std::uint64_t copy, std::uint64_t base) noexcept {
  if (copy == 0) return {0, residue};
  const auto segment = static_cast<unsigned>(std::bit_width(copy));
  return {segment, residue + base * (copy - (std::uint64_t{1} << (segment - 1)))};
}

/// What a table needs of a hash. The tag has one byte or two, from the bits below those that choose among the first buckets. The bits that
/// choose among the doublings depend on all others, so that a hash may have a few bits that never change.
struct hashed {
  std::uint64_t hash = 0;
  std::uint64_t copies = 0;  // the low bits choose among the doublings
  std::uint64_t residue = 0; // of the front bucket
  std::uint32_t choice = 0;  // of a line of slots in the front bucket
  std::uint16_t tag = 0;
};
template <class Slot> CUBBY_ALWAYS_INLINE hashed hashed_for(std::uint64_t hash, std::uint64_t fronts) noexcept {
  using tag_type = typename Slot::tag;
  constexpr unsigned bits = 8 * sizeof(tag_type);
  cpu::product p = cpu::multiply(hash, fronts);
  const auto tag = static_cast<tag_type>(p.low >> (64 - bits));
  const auto choice = static_cast<std::uint32_t>(p.low >> (32 - bits));
  return {hash, hash * mix_a >> 20, p.high, choice, static_cast<tag_type>(tag + (tag == 0 ? 1 : 0))};
}
/// The first slot of the line that a hash prefers, and the slots of that line.
template <class Slot> CUBBY_ALWAYS_INLINE unsigned preferred_slot(const hashed& h) noexcept {
  constexpr unsigned of_line = cpu::cache_line / sizeof(Slot);
  constexpr std::uint64_t lines = front_slots<Slot> / of_line;
  return static_cast<unsigned>(h.choice * lines >> 32) * of_line;
}
/// Where that line begins in the slots of the bucket, in bytes.
template <class Slot> CUBBY_ALWAYS_INLINE std::size_t preferred_line(const hashed& h) noexcept {
  constexpr std::uint64_t bytes = front_slots<Slot> * sizeof(Slot);
  static_assert(bytes % cpu::cache_line == 0);
  return (h.choice * bytes >> 32) & ~(cpu::cache_line - 1);
}
template <class Slot> CUBBY_ALWAYS_INLINE std::uint64_t preferred_slots(const hashed& h) noexcept {
  return ((std::uint64_t{1} << (cpu::cache_line / sizeof(Slot))) - 1) << preferred_slot<Slot>(h);
}
/// The hash that chooses the first or the second back bucket.
CUBBY_ALWAYS_INLINE std::uint64_t back_hash(std::uint64_t hash, unsigned which) noexcept {
  return which == 0 ? fold(hash ^ mix_b, mix_a) : fold(hash ^ mix_c, mix_b);
}
/// The tag in a back bucket: 1 to 127.
CUBBY_ALWAYS_INLINE std::uint8_t short_tag(std::uint16_t tag) noexcept {
  const auto low = static_cast<std::uint8_t>(tag & 0x7f);
  return static_cast<std::uint8_t>(low + (low == 0 ? 1 : 0));
}
/// The slot for an entry: in the line that its hash prefers, else anywhere. `usable(mask)`: those of `mask` that an entry may have; of all
/// slots there is one.
template <class Slot, class Usable>
CUBBY_ALWAYS_INLINE unsigned best_slot(const hashed& h, const Usable& usable) noexcept {
  const std::uint64_t some = usable(preferred_slots<Slot>(h));
  return cpu::lowest_bit(some != 0 ? some : usable(tags::all<typename Slot::tag>));
}
/// The slots of a front bucket with the tag of a hash (I8).
template <class Slot>
CUBBY_ALWAYS_INLINE std::uint64_t tagged_slots(const front_line& line, std::uint16_t tag, tags::unit by) noexcept {
  return tags::match(line.tag_words, static_cast<typename Slot::tag>(tag), by);
}
/// Those without an entry.
template <class Slot>
CUBBY_ALWAYS_INLINE std::uint64_t empty_slots(const front_line& line, tags::unit by = tags::unit::narrow) noexcept {
  return tagged_slots<Slot>(line, 0, by);
}

} // namespace cubby::inline v0::detail::engines::iceberg
