// SPDX-License-Identifier: Apache-2.0
// The codec of tables whose slots hold the keys and values: DLHT's Inlined and HashSet modes (section 3.1). Keys and values are
// copied as bits. Nothing is allocated or disposed of.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <cubby/detail/core/key.hpp>

namespace cubby::inline v0::detail {

/// The bits of a value, zero-extended; and back.
template <class V> [[nodiscard]] std::uint64_t bits_of_value(const V& value) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  return word;
}
template <class T> [[nodiscard]] T from_bits(std::uint64_t word) noexcept {
  std::array<std::byte, sizeof(T)> raw;
  std::memcpy(raw.data(), &word, sizeof(T));
  return std::bit_cast<T>(raw);
}

/// The value word that a codec has made. `ok` is false if there was no memory for a record.
template <class Word> struct made_as {
  bool ok = true;
  Word word{};
};
using made_word = made_as<std::uint64_t>;

template <class K, class V, class Hash, class Allocator> class word_codec {
public:
  using key_type = K;
  using mapped_type = V;
  using hasher = Hash;
  using allocator_type = Allocator;
  using stored_key = std::uint64_t;
  using stored_value = std::uint64_t;
  using probe = word_probe;
  static constexpr bool in_records = false;
  static constexpr bool has_values = !std::is_same_v<V, no_value>;
  static constexpr bool unique_words = false;
  static constexpr bin_mapping mapping = seeded_hash<Hash>::mapping;
  /// Whether a Q, which is not a K, can be used for lookups.
  template <class Q> static constexpr bool accepts = false;

  /// There are no records.
  template <std::size_t> using with_front = word_codec;

  word_codec(const Hash& h, const Allocator& a, std::uint64_t seed) : hash_(h, seed), allocator_(a) {}
  void reseed(std::uint64_t difference) noexcept { hash_.reseed(difference); }

  [[nodiscard]] const Hash& hash_function() const noexcept { return hash_.user(); }
  [[nodiscard]] const Allocator& allocator() const noexcept { return allocator_; }

  [[nodiscard]] probe probe_of(const K& key) const { return {hash_(key), word_of(key)}; }
  [[nodiscard]] probe probe_of_slot(std::uint64_t key_word, std::uint64_t) const {
    return {hash_(from_bits<K>(key_word)), key_word};
  }
  static constexpr bool is_legal(const probe&) noexcept { return true; }

  template <class... A> [[nodiscard]] made_word make(const probe&, const K&, A&&... args) const {
    if constexpr (has_values) return {true, bits_of_value(V(std::forward<A>(args)...))};
    return {};
  }
  [[nodiscard]] static K key(std::uint64_t key_word, std::uint64_t) noexcept { return from_bits<K>(key_word); }
  [[nodiscard]] static V value(std::uint64_t word) noexcept {
    if constexpr (has_values) return from_bits<V>(word);
    else return V{};
  }
  static const K& kept_key(std::uint64_t, const K& asked) noexcept { return asked; }

  // slot_policy
  static constexpr bool matches(const probe&, std::uint64_t) noexcept { return true; }
  [[nodiscard]] std::uint64_t hash_of(std::uint64_t key_word, std::uint64_t) const noexcept {
    return hash_(from_bits<K>(key_word));
  }
  static constexpr const void* record_of(std::uint64_t) noexcept { return nullptr; }
  static constexpr void dispose(std::uint64_t) noexcept {}

private:
  [[no_unique_address]] seeded_hash<Hash> hash_;
  [[no_unique_address]] Allocator allocator_;
};

} // namespace cubby::inline v0::detail
