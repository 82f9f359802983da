// SPDX-License-Identifier: Apache-2.0
// Hashes: a seeded mixer of words and bytes, of the wyhash family (multiply 64 x 64 to 128 bits, fold), and the paper's modulo.
// The mixer is no cryptographic hash: SECURITY.md says what a seed protects against.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <cubby/detail/platform/cpu.hpp>
#include <cubby/detail/platform/sync.hpp>

namespace cubby::inline v0 {

namespace detail {

// The first 64 fraction bits of the golden ratio, of sqrt(2) and of sqrt(3), made odd: numbers without a pattern.
inline constexpr std::uint64_t mix_a = 0x9e3779b97f4a7c15ULL;
inline constexpr std::uint64_t mix_b = 0x6a09e667f3bcc909ULL;
inline constexpr std::uint64_t mix_c = 0xbb67ae8584caa73bULL;

constexpr std::uint64_t fold(std::uint64_t a, std::uint64_t b) noexcept {
  const cpu::product p = cpu::multiply(a, b);
  return p.high ^ p.low;
}

/// `mix` for a caller that has computed `first`, which is `mix_a ^ seed`.
constexpr std::uint64_t mix_seeded(std::uint64_t word, std::uint64_t seed, std::uint64_t first) noexcept {
  const std::uint64_t once = fold(word ^ first, mix_b);
  return fold(once ^ seed, mix_c ^ (word >> 32));
}

template <class Word> [[nodiscard]] inline std::uint64_t read_as(const unsigned char* at) noexcept {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}
/// The bytes of [at, at + size) as a little-endian word. It uses overlapping reads of fixed sizes, because a copy of `size` bytes
/// would call the C library.
[[nodiscard]] inline std::uint64_t read_up_to_8(const unsigned char* at, std::size_t size) noexcept {
  if (size >= 4) {
    const std::uint64_t high = read_as<std::uint32_t>(at + size - 4);
    return read_as<std::uint32_t>(at) | high << (8 * (size - 4));
  }
  if (size == 0) return 0;
  const std::uint64_t middle = at[size / 2];
  const std::uint64_t last = at[size - 1];
  return at[0] | middle << (8 * (size / 2)) | last << (8 * (size - 1));
}

// A text of more than 8 bytes is read, compared and copied in words of 8, of which the last two end where it ends. They overlap
// with what is before them, and with each other, so that no size needs a branch for its rest.

/// Where the last two words of such a text begin: the first of them here, the other 8 bytes before the end.
constexpr std::size_t rest_of_text(std::size_t size) noexcept { return size > 16 ? size - 16 : 0; }

/// The mask of the first of two words that are multiplied. A word that equals it makes the product 0, whatever the other word is, so it
/// must be as unknown as the seed. Rotated by an odd number of bits, because `mask ^ seed` would else be the same in both halves.
constexpr std::uint64_t mask_of(std::uint64_t seed) noexcept { return mix_b ^ std::rotl(seed, 31); }
/// The mask that does not depend on the seed: for checksums, and for the keys of files that were made with it (docs/format.md).
inline constexpr std::uint64_t seedless_mask = mix_b;

/// The hash of a text of at most 8 bytes, which are the word's.
constexpr std::uint64_t hash_short_text(std::uint64_t word, std::size_t size, std::uint64_t seed,
                                        std::uint64_t mask) noexcept {
  return fold(fold(word ^ mask, seed ^ mix_a) ^ mix_c, mix_a ^ size);
}
/// The hash of a text of more than 8 bytes.
[[nodiscard]] CUBBY_ALWAYS_INLINE std::uint64_t hash_long_text(const unsigned char* at, std::size_t size,
                                                               std::uint64_t seed, std::uint64_t mask) noexcept {
  std::uint64_t state = seed ^ mix_a;
  const unsigned char* const rest = at + rest_of_text(size);
  const std::uint64_t last = read_as<std::uint64_t>(at + size - 8);
  for (; at < rest; at += 16) state = fold(read_as<std::uint64_t>(at) ^ mask, read_as<std::uint64_t>(at + 8) ^ state);
  return fold(fold(read_as<std::uint64_t>(rest) ^ mask, last ^ state) ^ mix_c, mix_a ^ size);
}
[[nodiscard]] inline std::uint64_t hash_masked(const void* data, std::size_t size, std::uint64_t seed,
                                               std::uint64_t mask) noexcept {
  const auto* const at = static_cast<const unsigned char*>(data);
  if (size > 8) return hash_long_text(at, size, seed, mask);
  return hash_short_text(read_up_to_8(at, size), size, seed, mask);
}

/// Texts of up to so many bytes are compared and copied here, longer ones by the C library.
inline constexpr std::size_t most_inline_bytes = 64;

/// Whether two texts of the same size, more than 8 bytes, are equal.
[[nodiscard]] CUBBY_ALWAYS_INLINE bool is_same_text(const char* a, const char* b, std::size_t size) noexcept {
  if (size > most_inline_bytes) [[unlikely]]
    return std::memcmp(a, b, size) == 0;
  const auto differs = [&](std::size_t i) {
    std::uint64_t in_a;
    std::uint64_t in_b;
    std::memcpy(&in_a, a + i, sizeof in_a);
    std::memcpy(&in_b, b + i, sizeof in_b);
    return in_a ^ in_b;
  };
  const std::size_t rest = rest_of_text(size);
  for (std::size_t i = 0; i < rest; i += 16) {
    if ((differs(i) | differs(i + 8)) != 0) [[unlikely]]
      return false;
  }
  return (differs(rest) | differs(size - 8)) == 0;
}
/// Copies a text of more than 8 bytes.
CUBBY_ALWAYS_INLINE void copy_text(char* to, const char* from, std::size_t size) noexcept {
  if (size > most_inline_bytes) [[unlikely]] {
    std::memcpy(to, from, size);
    return;
  }
  const std::size_t rest = rest_of_text(size);
  for (std::size_t i = 0; i < rest; i += 16) std::memcpy(to + i, from + i, 16);
  std::memcpy(to + rest, from + rest, 8);
  std::memcpy(to + size - 8, from + size - 8, 8);
}

} // namespace detail

/// Mixes a word: each input bit reaches each output bit with a probability near one half. Two multiplications.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t word, std::uint64_t seed = 0) noexcept {
  return detail::mix_seeded(word, seed, detail::mix_a ^ seed);
}

/// Mixes `size` bytes. O(size). Reads no byte outside [data, data + size).
[[nodiscard]] inline std::uint64_t hash_bytes(const void* data, std::size_t size, std::uint64_t seed = 0) noexcept {
  return detail::hash_masked(data, size, seed, detail::mask_of(seed));
}

namespace detail {

/// Keys that fit in a word and are equal exactly if their bits are equal.
template <class K>
concept word_key = std::is_trivially_copyable_v<K> && std::has_unique_object_representations_v<K> &&
                   sizeof(K) <= sizeof(std::uint64_t);

/// The same for keys of any size.
template <class K> concept plain_key = std::is_trivially_copyable_v<K> && std::has_unique_object_representations_v<K>;

template <class A, class B> concept comparable = requires(A& a, B& b) {
  { a == b } -> std::convertible_to<bool>;
};
/// An operator== that forgets to be const is one, too.
template <class K> concept has_equality = comparable<const K, const K> || comparable<K, const K> || comparable<K, K>;
/// Converts to a key and to nothing else, so that no operator== takes it by way of another type.
template <class K> struct only_a {
  operator K() const; // NOLINT(google-explicit-constructor): it has to convert
};
/// An enumeration with an operator== beside the built-in one. This form of the call finds no built-in operator.
template <class K>
concept enumeration_with_equality =
    std::is_enum_v<K> && requires(const only_a<K>& a, const only_a<K>& b) { operator==(a, b); };

} // namespace detail

/// Whether two keys are equal exactly if their bits are equal. For a class or an enumeration with its own operator== this cannot be
/// known. Specialize it as true if that operator compares all members and nothing else, as a defaulted one does. Without that, no table
/// compares the bits of such a key, and the default hash does not read them.
template <class K> inline constexpr bool bits_are_equality =
    !((std::is_class_v<K> || std::is_union_v<K>) && detail::has_equality<K>) && !detail::enumeration_with_equality<K>;
template <class T, std::size_t Count>
inline constexpr bool bits_are_equality<std::array<T, Count>> = bits_are_equality<T>;

namespace detail {

/// The bits of a word key, zero-extended.
template <word_key K> [[nodiscard]] inline std::uint64_t word_of(const K& key) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, &key, sizeof key);
  return word;
}

template <class K> concept converts_to_text = std::convertible_to<const K&, std::string_view>;
/// Keys that the standard library, or a specialization of std::hash, has a hash for.
template <class K> concept has_std_hash = requires(const K& key) {
  { std::hash<K>{}(key) } -> std::convertible_to<std::size_t>;
};
/// Plain keys of which std::hash may know more than their bits. That of an enumeration knows only the bits.
template <class K>
concept plain_with_std_hash = plain_key<K> && !bits_are_equality<K> && !std::is_enum_v<K> && has_std_hash<K>;
/// The default hash reads the bits of these keys ...
template <class K>
concept hashed_by_bits = plain_key<K> && (word_key<K> || !converts_to_text<K>) && !plain_with_std_hash<K>;
/// ... the bytes of these ...
template <class K> concept hashed_as_text = !word_key<K> && converts_to_text<K>;
/// ... and asks std::hash about these.
template <class K> concept hashed_by_std = !hashed_by_bits<K> && !hashed_as_text<K> && has_std_hash<K>;

} // namespace detail

/// The default hash, for plain keys, for types that convert to std::string_view, and for types with a std::hash, whose answer it
/// mixes, because that may be the key itself. Its only state is the seed.
/// Your own hash has `operator()(key)`; `is_avalanching` if its bits are mixed already, else the table mixes them; and
/// `is_transparent` if it also takes other types that compare equal to K.
template <class K> struct hash {
  using is_missing = void;
  [[nodiscard]] std::uint64_t operator()(const K&) const noexcept {
    static_assert(!std::is_same_v<K, K>,
                  "cubby::hash has no hash for this type: write one, or specialize std::hash<K> or cubby::hash<K>");
    return 0;
  }
};

template <class K>
  requires(detail::word_key<K> && detail::hashed_by_bits<K>)
struct hash<K> {
  using is_avalanching = void;
  using hash_of_word = hash; // says to the codecs what operator() does, which no specialization of a user says
  std::uint64_t seed = 0;
  [[nodiscard]] std::uint64_t operator()(const K& key) const noexcept { return mix(detail::word_of(key), seed); }
};

template <class K>
  requires detail::hashed_as_text<K>
struct hash<K> {
  using is_avalanching = void;
  using is_transparent = void;
  using hash_of_bytes = hash; // as `hash_of_word`
  std::uint64_t seed = 0;
  [[nodiscard]] std::uint64_t operator()(std::string_view key) const noexcept {
    return hash_bytes(key.data(), key.size(), seed);
  }
};

template <class K>
  requires(!detail::word_key<K> && detail::hashed_by_bits<K>)
struct hash<K> {
  using is_avalanching = void;
  using hash_of_plain = hash; // as `hash_of_word`
  std::uint64_t seed = 0;
  [[nodiscard]] std::uint64_t operator()(const K& key) const noexcept { return hash_bytes(&key, sizeof key, seed); }
};

template <detail::hashed_by_std K> struct hash<K> {
  using is_avalanching = void;
  std::uint64_t seed = 0;
  [[nodiscard]] std::uint64_t operator()(const K& key) const {
    return mix(static_cast<std::uint64_t>(std::hash<K>{}(key)), seed);
  }
};

namespace detail {

/// The default hash of words, whose seed is combined with a constant once for the table.
/// Not what is derived from it, and no specialization of a user's, here and in the two below.
template <class H> concept mixes_words = requires { requires std::same_as<typename H::hash_of_word, H>; };
/// The default hash of texts, of which the codec knows that it hashes the bytes.
template <class H> concept hashes_bytes = requires { requires std::same_as<typename H::hash_of_bytes, H>; };
/// The default hash of plain keys that are larger than a word.
template <class H> concept hashes_plain = requires { requires std::same_as<typename H::hash_of_plain, H>; };

/// Keys that cubby::hash hashes, and of which equal ones get one hash: a class or an enumeration with an operator== of its own is refused as it
/// is for a table.
template <class K>
concept has_default_hash = !requires { typename hash<K>::is_missing; } &&
                           (bits_are_equality<K> || !(mixes_words<hash<K>> || hashes_plain<hash<K>>)) &&
                           requires(const hash<K>& of, const K& key) {
                             { of(key) } -> std::convertible_to<std::uint64_t>;
                           };
template <class P>
concept text_array = std::is_array_v<P> && std::same_as<std::remove_cv_t<std::remove_extent_t<P>>, char>;
template <class P>
concept text_pointer = std::is_pointer_v<P> && std::same_as<std::remove_cv_t<std::remove_pointer_t<P>>, char>;
/// A part of a key. A pointer to text would be hashed as an address.
template <class P> concept hashed_part = text_array<P> || (has_default_hash<P> && !text_pointer<P>);

/// `seed` with a part of a key mixed into it.
template <hashed_part P> [[nodiscard]] std::uint64_t with_part(std::uint64_t seed, const P& part) {
  if constexpr (text_array<P>) {
    const auto* const end = static_cast<const char*>(std::memchr(part, 0, sizeof part));
    return with_part(seed, std::string_view(part, end == nullptr ? sizeof part : static_cast<std::size_t>(end - part)));
  } else {
    hash<P> of;
    constexpr bool is_seeded = requires {
      of.seed = seed;
      requires std::is_member_object_pointer_v<decltype(&hash<P>::seed)>;
    };
    if constexpr (is_seeded) of.seed = seed;
    if constexpr (is_seeded && requires { typename hash<P>::is_avalanching; }) return of(part);
    return mix(static_cast<std::uint64_t>(of(part)), seed);
  }
}

} // namespace detail

/// The hash of a key of several parts, each by its `cubby::hash`, for a Hash of yours: it is avalanching, and takes the table's seed. An
/// array of char, such as a literal, is the text before its first zero; of one that may have zeros give a std::string_view.
///   struct hash_of_point {
///     using is_avalanching = void;
///     std::uint64_t seed = 0;
///     std::uint64_t operator()(const point& p) const { return cubby::hash_parts(seed, p.x, p.y); }
///   };
template <detail::hashed_part... Parts>
[[nodiscard]] std::uint64_t hash_parts(std::uint64_t seed, const Parts&... parts) {
  ((seed = detail::with_part(seed, parts)), ...);
  return seed;
}

namespace detail {

template <class K> inline constexpr bool is_tuple_of_parts = false;
template <class A, class B>
inline constexpr bool is_tuple_of_parts<std::pair<A, B>> = hashed_part<A> && hashed_part<B>;
template <class... A> inline constexpr bool is_tuple_of_parts<std::tuple<A...>> = (hashed_part<A> && ...);
/// Pairs and tuples of what has a default hash. A specialization of yours for them is more special than this one.
template <class K>
concept hashed_by_parts = is_tuple_of_parts<K> && !hashed_by_bits<K> && !hashed_as_text<K> && !hashed_by_std<K>;

} // namespace detail

template <detail::hashed_by_parts K> struct hash<K> {
  using is_avalanching = void;
  std::uint64_t seed = 0;
  [[nodiscard]] std::uint64_t operator()(const K& key) const {
    return std::apply([this](const auto&... parts) { return hash_parts(seed, parts...); }, key);
  }
};

/// The paper's default (DLHT section 3.4.3): the key modulo the number of bins. It costs one division instead of two
/// multiplications. Keys with a common stride share bins, so use it only for keys that are spread evenly.
template <detail::word_key K> struct modulo_hash {
  using is_modulo = void;
  [[nodiscard]] std::uint64_t operator()(const K& key) const noexcept { return detail::word_of(key); }
};

} // namespace cubby::inline v0
