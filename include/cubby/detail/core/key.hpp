// SPDX-License-Identifier: Apache-2.0
// What a key is to a table: bits that fit in a slot, bytes, or an object, with or without a namespace (DLHT section
// 3.4.2). Also how a user's hash and seed become the 64 bits that choose a bin. Decided by the types alone.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd> // declares std::basic_string at a small part of the price of <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <cubby/detail/core/hash.hpp>
#include <cubby/detail/core/probe.hpp>
#include <cubby/detail/platform/sync.hpp>

namespace cubby::inline v0 {

/// How many namespaces there are; ids are below it (DLHT section 3.4.2: twelve spare bits of a pointer).
inline constexpr std::uint16_t namespace_count = 4096;

/// A key with a namespace. The same key in two namespaces is two keys. Tables of such keys are in record mode. A hash
/// given to the table hashes the inner key; the id is mixed in by the table. An id that is not below
/// `namespace_count` is found nowhere; inserting it throws `bad_namespace` (without exceptions: answers false).
template <class K> struct in_namespace {
  std::uint16_t id = 0;
  K key{};
  friend bool operator==(const in_namespace&, const in_namespace&) = default;
};

template <class K> struct hash<in_namespace<K>> : hash<K> {};

/// Specialize as true for a type that must never be stored as bits in a slot, nor as bytes, although it could be. An
/// example is a key whose operator== does not compare all its bits. Its tables are in record mode and ask that
/// operator.
template <class T> inline constexpr bool always_in_record = false;

/// Whether a key is its text and nothing else: equal exactly when its bytes are, and the same when it is made from them
/// again. Tables keep the bytes of such keys, and of others the whole object. Specialize it as true for a type of your own
/// that converts to std::string_view and is made of (const char*, size); its hash must be transparent and take a string_view.
template <class K> inline constexpr bool stored_as_bytes = false;
template <class Allocator>
inline constexpr bool stored_as_bytes<std::basic_string<char, std::char_traits<char>, Allocator>> = true;
namespace detail {
template <class K> inline constexpr bool is_standard_text = false;
template <class Allocator>
inline constexpr bool is_standard_text<std::basic_string<char, std::char_traits<char>, Allocator>> = true;
} // namespace detail

/// The default KeyEqual of a table: keys are equal as their type says, by bits, bytes or operator== (docs/guarantees/keys.md). Your own
/// compares two K, without state, and needs a Hash that is the same for keys which it calls equal. `is_transparent` in both: also
/// other types that can be hashed and compared with a K. Of keys with a namespace it compares the inner keys.
template <class K> struct equal {
  [[nodiscard]] bool operator()(const K& a, const K& b) const noexcept { return a == b; }
};

namespace detail {

/// The value type of tables that have none.
struct no_value {
  friend bool operator==(no_value, no_value) = default;
};

template <class K> struct name_split {
  using inner = K;
  static constexpr bool spaced = false;
  static constexpr const K& key(const K& k) noexcept { return k; }
  static constexpr K&& key(K&& k) noexcept { return std::move(k); }
  static constexpr std::uint16_t space(const K&) noexcept { return 0; }
};
template <class K> struct name_split<in_namespace<K>> {
  using inner = K;
  static constexpr bool spaced = true;
  static constexpr const K& key(const in_namespace<K>& k) noexcept { return k.key; }
  static constexpr K&& key(in_namespace<K>&& k) noexcept { return std::move(k.key); }
  static constexpr std::uint16_t space(const in_namespace<K>& k) noexcept { return k.id; }
};

template <class K> using inner_key = typename name_split<K>::inner;
template <class K> inline constexpr bool is_spaced = name_split<K>::spaced;

/// word: the slot's word is the key. bytes: up to 8 bytes are in the slot, more in the record. object: in the record.
enum class key_kind : std::uint8_t { word, bytes, object };

/// Whether the destructor of T may run the user's code. That of text which is stored as bytes does not.
template <class T> inline constexpr bool may_call_back = !std::is_trivially_destructible_v<T> && !stored_as_bytes<T>;
template <class K> inline constexpr bool may_call_back<in_namespace<K>> = may_call_back<K>;

template <class H> concept transparent_hash = requires { typename H::is_transparent; };
template <class H> concept avalanching_hash = requires { typename H::is_avalanching; };
template <class K, class Equal> inline constexpr bool has_own_equality = std::is_same_v<Equal, equal<K>>;

template <class H> concept missing_hash = requires { typename H::is_missing; };
template <class H> concept modulo_mapped = requires { typename H::is_modulo; };

template <class K, class H>
concept owns_bytes = stored_as_bytes<K> && !always_in_record<K> && std::convertible_to<const K&, std::string_view> &&
                     std::constructible_from<K, const char*, std::size_t> && transparent_hash<H> &&
                     std::invocable<const H&, std::string_view>;
/// What is stored as a word is compared by its bits.
template <class K>
inline constexpr bool is_compared_rightly = !word_key<K> || always_in_record<K> || bits_are_equality<K>;
/// The default hash of plain keys reads their bits.
template <class K, class H>
inline constexpr bool is_hashed_rightly =
    bits_are_equality<K> || !std::is_same_v<H, hash<K>> || !(mixes_words<H> || hashes_plain<H>) || converts_to_text<K>;
template <class K>
inline constexpr bool is_hashed_rightly<K, hash<in_namespace<K>>> = is_hashed_rightly<K, hash<K>>;

/// Whether a table of texts is asked for a null pointer. A std::string and a std::string_view are made of one in C++20, and read it.
template <class Q, class K> concept null_text = std::same_as<Q, std::nullptr_t> && is_standard_text<K>;
/// The error of that. Stands for the hashed key.
template <class Probe, class Q> Probe refuse_null() {
  static_assert(!std::same_as<Q, std::nullptr_t>, "a null pointer is no text and no key: the empty text is \"\"");
  return {};
}

template <class K, class H> constexpr key_kind kind_of_key() noexcept {
  if constexpr (word_key<K> && !always_in_record<K>) {
    return key_kind::word;
  } else if constexpr (owns_bytes<K, H>) {
    return key_kind::bytes;
  } else {
    return key_kind::object;
  }
}

/// A value that is stored as its own bits: at most 8 bytes, copied like memory.
template <class V>
concept word_value = std::is_trivially_copyable_v<V> && std::copy_constructible<V> &&
                     sizeof(V) <= sizeof(std::uint64_t) && !always_in_record<V>;

/// A hash whose objects have a seed each. Not one that all of them share.
template <class H>
concept has_own_seed = requires(H& own, std::uint64_t seed) {
  requires std::is_member_object_pointer_v<decltype(&H::seed)>;
  own.seed ^= seed;
};

/// A user's hash with the table's seed. `is_avalanching` hashes are taken as they are, and seeded if they have a
/// `seed`; `is_modulo` ones neither seeded nor mixed; all others are mixed with the seed.
template <class H> class seeded_hash {
public:
  static constexpr bin_mapping mapping = modulo_mapped<H> ? bin_mapping::modulo : bin_mapping::fastrange;

  /// `seedless`: with the mask that does not depend on the seed. Only for a table in a file that was made so.
  seeded_hash(const H& h, std::uint64_t seed, bool seedless = false) : hash_(h), seed_(seed) {
    if constexpr (has_own_seed<H>) hash_.seed ^= seed;
    if constexpr (mixes_words<H>) seed_ = hash_.seed;
    first_ = first_of_seed();
    if constexpr (masks_words) first_ = seedless ? seedless_mask : first_;
  }
  /// Changes the seed by these bits. Only of an empty table that no thread uses.
  void reseed(std::uint64_t difference) noexcept {
    if constexpr (has_own_seed<H>) hash_.seed ^= difference;
    seed_ ^= difference;
    first_ = first_of_seed();
  }
  template <class Q> [[nodiscard]] CUBBY_ALWAYS_INLINE std::uint64_t operator()(const Q& key) const {
    if constexpr (mixes_words<H>) {
      return mix_seeded(word_hashed(hash_, key), seed_, first_);
    } else if constexpr (hashes_bytes<H>) {
      const std::string_view text = key;
      return hash_masked(text.data(), text.size(), hash_.seed, first_);
    } else if constexpr (hashes_plain<H>) {
      return of_plain(hash_, key);
    } else {
      const auto bits = static_cast<std::uint64_t>(hash_(key));
      if constexpr (avalanching_hash<H> || modulo_mapped<H>) return bits;
      return mix_seeded(bits, seed_, first_);
    }
  }
  /// The hash of a text, given in words when it has at most 8 bytes.
  [[nodiscard]] CUBBY_ALWAYS_INLINE std::uint64_t of_short_text(std::uint64_t word, std::size_t size) const noexcept
    requires hashes_bytes<H>
  {
    return hash_short_text(word, size, hash_.seed, first_);
  }
  [[nodiscard]] CUBBY_ALWAYS_INLINE std::uint64_t of_long_text(const char* text, std::size_t size) const noexcept
    requires hashes_bytes<H>
  {
    return hash_long_text(reinterpret_cast<const unsigned char*>(text), size, hash_.seed, first_);
  }
  /// What a namespace adds to the hash that chooses the bin. The paper leaves the hash alone; then one key in more than fifteen namespaces
  /// overflows one bin for ever. The seed is in it, so that such keys come in another order in each table. It is another one than that
  /// of the keys: a key that is the number of its namespace must not cancel it.
  [[nodiscard]] std::uint64_t salt_of(std::uint16_t space) const noexcept {
    return space == 0 ? 0 : mix(space, seed_ ^ mix_b);
  }
  [[nodiscard]] const H& user() const noexcept { return hash_; }

private:
  static constexpr bool masks_words = hashes_bytes<H> || hashes_plain<H>;
  // The hash may be that of another type, to which a key converts.
  template <class P> static std::uint64_t word_hashed(const hash<P>&, const std::type_identity_t<P>& key) noexcept {
    return word_of(key);
  }
  template <class P>
  std::uint64_t of_plain(const hash<P>& own, const std::type_identity_t<P>& key) const noexcept {
    return hash_long_text(&reinterpret_cast<const unsigned char&>(key), sizeof key, own.seed, first_);
  }
  [[nodiscard]] std::uint64_t first_of_seed() const noexcept {
    if constexpr (masks_words) return mask_of(hash_.seed);
    else return mix_a ^ seed_;
  }

  [[no_unique_address]] H hash_;
  std::uint64_t seed_;
  std::uint64_t first_; // for mix_seeded; of texts and of larger plain keys, the mask
};

} // namespace detail

} // namespace cubby::inline v0
