// SPDX-License-Identifier: Apache-2.0
// What a record looks like in memory, and how the slot's second word points to it (DLHT section 3.4.1):
//   near  [63 namespace 52 | 51 key size code 48 | 47 address 0]   bit 0 is 0: records are 8-aligned
//   wide  [63                  address                   1 | 1]   the address needs more bits: both are in the record
// The code is the size of a key of at most 8 bytes, whose bytes are the slot's first word; 15: the key is elsewhere.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cubby/detail/core/key.hpp>

namespace cubby::inline v0::detail {

inline constexpr std::size_t bytes_in_slot = 8;
inline constexpr std::uint32_t key_elsewhere = 15;

constexpr std::uint32_t code_of_size(std::uint64_t size) noexcept {
  return size <= bytes_in_slot ? static_cast<std::uint32_t>(size) : key_elsewhere;
}
/// Namespace and key size code, as they stand in a near word's upper 16 bits.
constexpr std::uint32_t tag_of(std::uint16_t space, std::uint32_t code) noexcept {
  return (std::uint32_t{space} << 4) | code;
}
/// The tag of a key that no record can have: its namespace is out of range.
inline constexpr std::uint32_t impossible_tag = ~std::uint32_t{0};

/// Where a record is, packed into the slot's second word.
template <unsigned AddressBits> struct record_word {
  static_assert(AddressBits > 3 && AddressBits <= 48, "a near word has 48 bits for the address");
  static constexpr unsigned tag_shift = 48;
  static constexpr std::uint64_t wide_mark = 1;

  static std::uint64_t pack(const void* record, std::uint32_t tag) noexcept {
    const auto address = std::bit_cast<std::uint64_t>(record);
    if ((address >> AddressBits) != 0) [[unlikely]]
      return address | wide_mark;
    return address | (std::uint64_t{tag} << tag_shift);
  }
  static constexpr bool is_wide(std::uint64_t word) noexcept { return (word & wide_mark) != 0; }
  static void* address(std::uint64_t word) noexcept {
    const std::uint64_t near_mask = (std::uint64_t{1} << tag_shift) - 1;
    const std::uint64_t bits = is_wide(word) ? word & ~wide_mark : word & near_mask;
    return std::bit_cast<void*>(bits);
  }
  static constexpr std::uint32_t near_tag(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> tag_shift);
  }
};

/// Namespace and key size, for the records that need them: [63 namespace 52 | 51 size 0].
struct record_info {
  std::uint64_t bits = 0;
  static constexpr unsigned space_shift = 52;

  static constexpr record_info of(std::uint16_t space, std::uint64_t size) noexcept {
    return {(std::uint64_t{space} << space_shift) | size};
  }
  [[nodiscard]] constexpr std::uint64_t size() const noexcept { return bits & ((std::uint64_t{1} << space_shift) - 1); }
  [[nodiscard]] constexpr std::uint32_t tag() const noexcept {
    return tag_of(static_cast<std::uint16_t>(bits >> space_shift), code_of_size(size()));
  }
};

/// In front of all that readers need: a block of 64 bytes has the rest in one line (record_heap.hpp).
struct link_part {
  /// Chains retired records, so that retiring allocates nothing. Readers that still see the record never read it.
  std::uint64_t link;
};
/// For the engine: its node, or what it reads of an entry. Between the link and the rest, so that readers need one piece of memory.
template <std::size_t Bytes> struct front_part {
  static_assert(Bytes % 8 == 0);
  alignas(8) std::byte front[Bytes];
};
template <> struct front_part<0> {};
template <bool Needed> struct info_part {
  record_info info;
};
template <> struct info_part<false> {};

template <class K, bool Needed> struct key_part {
  union {
    K key;
  };
  key_part() noexcept {}
  ~key_part() {}
  key_part(const key_part&) = delete;
  key_part& operator=(const key_part&) = delete;
};
template <class K> struct key_part<K, false> {};

/// One allocation: a link, `Front` bytes of the engine, what is needed of {namespace and size, key object}, the value, then the bytes of a large byte key.
/// The members in unions are constructed and destroyed by the codec, through the user's allocator.
template <class K, class V, key_kind Kind, bool Spaced, std::size_t Front>
struct record : link_part,
                front_part<Front>,
                info_part<Kind == key_kind::bytes || Spaced>,
                key_part<K, Kind == key_kind::object> {
  static constexpr bool has_info = Kind == key_kind::bytes || Spaced;
  union {
    V value;
  };
  record() noexcept {}
  ~record() {}
  record(const record&) = delete;
  record& operator=(const record&) = delete;

  [[nodiscard]] char* bytes() noexcept { return reinterpret_cast<char*>(this) + sizeof(record); }
  [[nodiscard]] const char* bytes() const noexcept { return reinterpret_cast<const char*>(this) + sizeof(record); }
};

} // namespace cubby::inline v0::detail
