// SPDX-License-Identifier: Apache-2.0
// Which keys and values a durable table stores in records, and their bytes.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <type_traits>

#include <cubby/detail/core/codec.hpp>

namespace cubby::inline v0::detail {

/// Whether a type is its text, or its bytes.
template <class T>
concept durable_text = stored_as_bytes<T> && !always_in_record<T> && std::convertible_to<const T&, std::string_view> &&
                       std::constructible_from<T, const char*, std::size_t>;
/// Whether a type only says where something is, in this process.
template <class T>
concept refers_elsewhere = std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_same_v<T, std::string_view>;
template <class T>
concept durable_bytes = std::is_trivially_copyable_v<T> && !always_in_record<T> && !refers_elsewhere<T>;
template <class K> concept durable_key =
    durable_text<K> || (plain_key<K> && !always_in_record<K> && bits_are_equality<K> && !refers_elsewhere<K>);
template <class V> concept durable_value = std::is_same_v<V, no_value> || durable_text<V> || durable_bytes<V>;

/// The bytes of a key or a value.
template <class T>
  requires std::is_trivially_copyable_v<T> || std::convertible_to<const T&, std::string_view>
[[nodiscard]] std::string_view bytes_of(const T& object) noexcept {
  if constexpr (std::is_same_v<T, no_value>) return {};
  else if constexpr (std::convertible_to<const T&, std::string_view>) return object;
  else return {reinterpret_cast<const char*>(&object), sizeof object};
}
template <class T> [[nodiscard]] T made_of_bytes(const char* bytes, std::size_t size) {
  if constexpr (std::is_same_v<T, no_value>) {
    return {};
  } else if constexpr (durable_text<T>) {
    return T(bytes, size);
  } else {
    std::array<std::byte, sizeof(T)> raw;
    std::memcpy(raw.data(), bytes, sizeof(T));
    return std::bit_cast<T>(raw);
  }
}

} // namespace cubby::inline v0::detail
