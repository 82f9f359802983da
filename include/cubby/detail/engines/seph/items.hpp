// SPDX-License-Identifier: Apache-2.0
// How a slot leads to an item, which has key and value. In memory an item lies in the record of its entry, and its
// pointer is its address. In a durable table the item is the record, and its pointer is the offset in the pool.
#pragma once

#include <bit>
#include <cstdint>
#include <new>

#include <cubby/detail/core/codec.hpp>
#include <cubby/detail/engines/seph/layout.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// In a record. It does not change once a slot leads to it.
struct item {
  std::uint64_t key = 0;   // the key word
  std::uint64_t value = 0; // the value word, which leads to the record
};
static_assert(sizeof(item) == 16);

template <class Policy> concept durable = requires { requires Policy::durable; };

CUBBY_ALWAYS_INLINE const item& item_at(std::uint64_t pointer) noexcept { return *std::bit_cast<const item*>(pointer); }

/// The pointer to a record that no slot leads to yet. The codec makes no record that a slot cannot hold.
template <class Policy>
CUBBY_ALWAYS_INLINE std::uint64_t pointer_to(const Policy&, std::uint64_t key, std::uint64_t value) noexcept {
  return std::bit_cast<std::uint64_t>(::new (Policy::front_of(value)) item{key, value});
}
template <class Policy> CUBBY_ALWAYS_INLINE std::uint64_t value_at(const Policy&, std::uint64_t pointer) noexcept {
  return item_at(pointer).value;
}
template <class Policy> CUBBY_ALWAYS_INLINE std::uint64_t key_at(const Policy&, std::uint64_t pointer) noexcept {
  return item_at(pointer).key;
}
template <class Policy>
CUBBY_ALWAYS_INLINE bool has_key(const Policy& policy, std::uint64_t pointer,
                                 const typename Policy::probe& p) noexcept {
  const item& one = item_at(pointer);
  return one.key == p.word && policy.matches(p, one.value);
}
template <class Policy> CUBBY_ALWAYS_INLINE const void* address_of(const Policy&, std::uint64_t pointer) noexcept {
  return &item_at(pointer);
}

/// Whether the word of a slot shows an item. In a file one that is being erased is none.
template <class Policy> CUBBY_ALWAYS_INLINE constexpr bool shows_item(std::uint64_t word) noexcept {
  return slot_word::is_item(word) && (!durable<Policy> || (word & slot_word::erasing) == 0);
}

// Durable: the value word is the offset.
template <durable Policy>
CUBBY_ALWAYS_INLINE std::uint64_t pointer_to(const Policy&, std::uint64_t, std::uint64_t value) noexcept {
  return value;
}
template <durable Policy> CUBBY_ALWAYS_INLINE std::uint64_t value_at(const Policy&, std::uint64_t pointer) noexcept {
  return pointer;
}
template <durable Policy>
CUBBY_ALWAYS_INLINE std::uint64_t key_at(const Policy& policy, std::uint64_t pointer) noexcept {
  return policy.key_word_at(pointer);
}
template <durable Policy>
CUBBY_ALWAYS_INLINE bool has_key(const Policy& policy, std::uint64_t pointer,
                                 const typename Policy::probe& p) noexcept {
  return policy.matches(p, pointer);
}
template <durable Policy>
CUBBY_ALWAYS_INLINE const void* address_of(const Policy& policy, std::uint64_t pointer) noexcept {
  return policy.record_of(pointer);
}

/// The hash by which the engine chooses. A hash that is taken modulo the number of bins may differ in its low bits only; the product
/// brings them to the top.
template <class Policy> CUBBY_ALWAYS_INLINE std::uint64_t spread(std::uint64_t hash) noexcept {
  if constexpr (Policy::mapping == bin_mapping::modulo) return hash * mix_a;
  else return hash;
}
/// The hash of an item. It reads the item, and perhaps its record.
template <class Policy> std::uint64_t hash_at(const Policy& policy, std::uint64_t pointer) noexcept {
  return spread<Policy>(policy.hash_of(key_at(policy, pointer), value_at(policy, pointer)));
}

} // namespace cubby::inline v0::detail::engines::seph
