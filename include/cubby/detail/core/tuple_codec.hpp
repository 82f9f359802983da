// SPDX-License-Identifier: Apache-2.0
// The codec of tables of tuples (DRAMHiT section 3, Atomicity): plain keys and values are copied as bits into as many words as they
// need. Nothing is allocated or disposed of. Of the user's functions only the hash runs.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <cubby/detail/core/key.hpp>
#include <cubby/detail/core/word_codec.hpp>
#include <cubby/detail/core/words.hpp>

namespace cubby::inline v0::detail {

/// The most bytes of key and value, each rounded up to words. With the header of a tuple they fill one cache line.
inline constexpr std::size_t most_tuple_bytes = 56;

template <class T> inline constexpr std::size_t words_of = (sizeof(T) + 7) / 8;

/// Keys that are equal if their bits are equal, and values that can be copied as bits.
template <class K> concept tuple_key = plain_key<K> && !always_in_record<K>;
template <class V>
concept tuple_value = std::is_trivially_copyable_v<V> && std::copy_constructible<V> && !always_in_record<V>;

/// Copies the bits of a plain object into words, and back. The other bits are zero.
template <class Words, class T> [[nodiscard]] Words words_from(const T& object) noexcept {
  Words out{};
  std::memcpy(out.at.data(), &object, sizeof object);
  return out;
}
template <class T, class Words> [[nodiscard]] T object_from(const Words& in) noexcept {
  std::array<std::byte, sizeof(T)> raw;
  std::memcpy(raw.data(), in.at.data(), sizeof(T));
  return std::bit_cast<T>(raw);
}

template <class K, class V, class Hash, class Allocator> class tuple_codec {
  static constexpr std::size_t value_words = std::is_same_v<V, no_value> ? 0 : words_of<V>;
  static_assert(tuple_key<K>, "keys of a tuple are copied and compared as bits: they need to be trivially copyable and "
                              "without padding (a double or a namespace will not do)");
  static_assert(!tuple_key<K> || bits_are_equality<K>,
                "keys of a tuple are compared by their bits, and this class has an operator==: specialize "
                "cubby::bits_are_equality<K> as true if both mean the same, else use cubby::dramhit");
  static_assert(tuple_value<V>, "values of a tuple are copied as bits: they need to be trivially copyable");
  static_assert((words_of<K> + value_words) * 8 <= most_tuple_bytes,
                "this key and value do not fit in one cache line beside the tuple's header: use cubby::dramhit");

public:
  using key_type = K;
  using mapped_type = V;
  using hasher = Hash;
  using allocator_type = Allocator;
  using stored_key = words<words_of<K>>;
  using stored_value = words<value_words>;
  using probe = tuple_probe<stored_key>;
  static constexpr bool in_records = false;
  static constexpr bool has_values = !std::is_same_v<V, no_value>;
  static constexpr bool unique_words = false;
  static constexpr bin_mapping mapping = seeded_hash<Hash>::mapping;
  /// Whether a Q, which is not a K, can be used for lookups.
  template <class Q> static constexpr bool accepts = false;

  tuple_codec(const Hash& h, const Allocator& a, std::uint64_t seed, bool seedless = false)
      : hash_(h, seed, seedless), allocator_(a) {}
  void reseed(std::uint64_t difference) noexcept { hash_.reseed(difference); }

  [[nodiscard]] const Hash& hash_function() const noexcept { return hash_.user(); }
  [[nodiscard]] const Allocator& allocator() const noexcept { return allocator_; }

  [[nodiscard]] probe probe_of(const K& key) const { return {hash_(key), words_from<stored_key>(key)}; }
  [[nodiscard]] probe probe_of_slot(const stored_key& key, const stored_value&) const {
    return {hash_(object_from<K>(key)), key};
  }
  static constexpr bool is_legal(const probe&) noexcept { return true; }

  template <class... A> [[nodiscard]] made_as<stored_value> make(const probe&, const K&, A&&... args) const {
    if constexpr (has_values) return {true, words_from<stored_value>(V(std::forward<A>(args)...))};
    return {};
  }
  [[nodiscard]] static K key(const stored_key& word, const stored_value&) noexcept { return object_from<K>(word); }
  [[nodiscard]] static V value(const stored_value& word) noexcept {
    if constexpr (has_values) return object_from<V>(word);
    else return V{};
  }
  static const K& kept_key(const stored_value&, const K& asked) noexcept { return asked; }

  // tuple_policy
  [[nodiscard]] std::uint64_t hash_of(const stored_key& key) const noexcept { return hash_(object_from<K>(key)); }

private:
  [[no_unique_address]] seeded_hash<Hash> hash_;
  [[no_unique_address]] Allocator allocator_;
};

} // namespace cubby::inline v0::detail
