// SPDX-License-Identifier: Apache-2.0
// Decides, by the types alone, how the entries of a table are stored (DLHT section 3.1). Words: key and value fit in 8
// bytes each. Keys alone: a set of such keys. Records behind a pointer: everything else. An engine of tuples keeps
// plain keys and values of more words than one in its table instead.
#pragma once

#include <concepts>
#include <type_traits>

#include <cubby/detail/core/key.hpp>
#include <cubby/detail/core/record_codec.hpp>
#include <cubby/detail/core/text_codec.hpp>
#include <cubby/detail/core/tuple_codec.hpp>
#include <cubby/detail/core/word_codec.hpp>

namespace cubby::inline v0 {

/// The modes of a table.
enum class storage_mode : std::uint8_t { words, keys_only, records, tuples, texts };

namespace detail {

/// How many bits of a record's address the slot has space for; longer addresses are kept whole, and the key's size and
/// namespace are then read from the record. Specialize it for a key type to have fewer: a test that wants every
/// address to be too long does.
template <class K> inline constexpr unsigned near_address_bits = 48;

template <class K> concept slot_key = word_key<K> && !always_in_record<K> && !is_spaced<K>;

template <class K, class V> constexpr storage_mode choose_mode() noexcept {
  if constexpr (!slot_key<K>) return storage_mode::records;
  if constexpr (std::is_same_v<V, no_value>) return storage_mode::keys_only;
  if constexpr (!word_value<V>) return storage_mode::records;
  return storage_mode::words;
}

/// What a key's type and its hash may get wrong, each with a line of its own. Not in the codecs: compilers would add that an
/// engine cannot have such a codec.
template <class K, class Hash> struct checked_key {
  static_assert(!(std::is_same_v<K, const char*> || std::is_same_v<K, char*>) || !std::is_same_v<Hash, hash<K>>,
                "this key is a pointer to text, and pointers would be compared: use std::string. If the pointer is "
                "meant, name a Hash of yours");
  static_assert(!missing_hash<Hash>,
                "cubby::hash has no hash for this key type: name a Hash of yours as the table's fourth "
                "parameter (a set's third), or specialize std::hash<K> or cubby::hash<K>");
  static_assert(missing_hash<Hash> || std::is_invocable_v<const Hash&, const K&>,
                "a Hash is called by all threads, on a const object: std::uint64_t operator()(const K&) const");
  static_assert(is_compared_rightly<K>,
                "this key would be compared by its bits, and its class has an operator==: specialize as true "
                "cubby::bits_are_equality<K> if both mean the same, else cubby::always_in_record<K>");
  static_assert(is_hashed_rightly<K, Hash> || !is_compared_rightly<K>,
                "the default hash reads this key's bits, and its class has an operator==: specialize "
                "cubby::bits_are_equality<K> as true if both mean the same, else give the table a Hash of yours "
                "or specialize std::hash<K>");
  static_assert(kind_of_key<K, Hash>() != key_kind::object || comparable<const K, const K>,
                "this key type has no operator== for const keys: write one, or name a KeyEqual of yours as the last "
                "parameter of the table");
};

/// The same for an equality that is not the type's own.
template <class K, class Hash, class Equal, bool KeepsTuples> struct checked_equality {
  static_assert(!std::is_same_v<inner_key<K>, std::string_view>,
                "a table owns its keys: use std::string, and look up by std::string_view");
  static_assert(!KeepsTuples,
                "this engine compares the bits of keys, so it takes no KeyEqual of yours: take another engine");
  static_assert(!std::is_same_v<Hash, hash<K>> && !std::is_same_v<Hash, hash<inner_key<K>>>,
                "a KeyEqual of yours needs a Hash of yours, which is the same for keys that it calls equal");
  static_assert(std::is_empty_v<Equal> && std::is_default_constructible_v<Equal>,
                "a KeyEqual has no state: the table makes one whenever it compares");
  static_assert(std::is_invocable_r_v<bool, const Equal&, const inner_key<K>&, const inner_key<K>&>,
                "a KeyEqual takes two keys and answers whether they are equal");
};

template <storage_mode Mode, class K, class V, class Hash, class Allocator> struct codec_for {
  static_assert(sizeof(checked_key<K, Hash>) != 0);
  using type = word_codec<K, V, Hash, Allocator>;
};
template <class K, class V, class Hash, class Allocator>
struct codec_for<storage_mode::records, K, V, Hash, Allocator> {
  static_assert(sizeof(checked_key<inner_key<K>, Hash>) != 0);
  static_assert(!std::is_same_v<inner_key<K>, std::string_view>,
                "a table owns its keys: use std::string, and look up by std::string_view");
  using type = record_codec<K, V, Hash, Allocator, near_address_bits<K>>;
};

} // namespace detail

/// Which mode a table of these types is in.
template <class K, class V> inline constexpr storage_mode mode_of = detail::choose_mode<K, V>();

namespace detail {

/// How a table of these types turns them into words; a `slot_policy` for engines.
template <class K, class V, class Hash, class Allocator>
using codec = typename detail::codec_for<mode_of<K, V>, K, V, Hash, Allocator>::type;

/// Whether an engine tag says that its tables keep tuples only.
template <class Engine> concept keeps_tuples = requires { requires Engine::keeps_tuples; };
/// Whether its tables keep all entries in records, also those of words.
template <class Engine> concept keeps_records = requires { requires Engine::keeps_records; };
/// Whether its tables have slots of several widths: words, tuples and texts lie in the table, all else in records.
template <class Engine> concept keeps_wide_slots = requires { requires Engine::keeps_wide_slots; };
/// Whether its slots for text keys have 64 bytes, whatever the value.
template <class Engine> concept keeps_wide_texts = requires { requires Engine::keeps_wide_texts; };
/// An engine of tables in files.
template <class Engine> concept keeps_files = requires { requires Engine::keeps_files; };

template <class K, class V>
concept fits_in_wide_slot =
    tuple_key<K> && bits_are_equality<K> && !is_spaced<K> && (std::is_same_v<V, no_value> || tuple_value<V>) &&
    (words_of<K> + text_value_words<V>)*8 <= most_tuple_bytes;

template <class Engine, class K, class V, class Hash, class Equal> constexpr storage_mode choose_mode_in() noexcept {
  if constexpr (keeps_tuples<Engine>) return storage_mode::tuples;
  if constexpr (keeps_records<Engine> || !has_own_equality<K, Equal>) return storage_mode::records;
  if constexpr (keeps_wide_slots<Engine> && mode_of<K, V> == storage_mode::records) {
    if constexpr (texts_in_slots<K, V, Hash>) return storage_mode::texts;
    if constexpr (fits_in_wide_slot<K, V>) return storage_mode::tuples;
  }
  return mode_of<K, V>;
}
/// The mode and the codec of a table of these types in this engine.
template <class Engine, class K, class V, class Hash = hash<K>, class Equal = equal<K>>
inline constexpr storage_mode mode_in = choose_mode_in<Engine, K, V, Hash, Equal>();

template <storage_mode Mode, class K, class V, class Hash, class Allocator> struct codec_in_mode {
  using type = codec<K, V, Hash, Allocator>;
};
template <class K, class V, class Hash, class Allocator>
struct codec_in_mode<storage_mode::records, K, V, Hash, Allocator> {
  using type = typename codec_for<storage_mode::records, K, V, Hash, Allocator>::type;
};
template <class K, class V, class Hash, class Allocator>
struct codec_in_mode<storage_mode::tuples, K, V, Hash, Allocator> {
  using type = tuple_codec<K, V, Hash, Allocator>;
};
template <class K, class V, class Hash, class Allocator>
struct codec_in_mode<storage_mode::texts, K, V, Hash, Allocator> {
  using type = text_codec<K, V, Hash, Allocator>;
};

template <class Engine, class K, class V, class Hash, class Allocator, class Equal> struct codec_with_equality {
  using type = typename codec_in_mode<mode_in<Engine, K, V, Hash>, K, V, Hash, Allocator>::type;
};
template <class K, class V, class Hash, class Allocator> struct wide_text_codec {
  using type = text_codec<K, V, Hash, Allocator, true>;
};
/// Keys that no table takes have a line of their own (`codec_for`).
template <class K> inline constexpr bool is_text_that_nobody_owns =
    std::is_same_v<inner_key<K>, std::string_view> || std::is_same_v<K, const char*> || std::is_same_v<K, char*>;
template <keeps_wide_texts Engine, class K, class V, class Hash, class Allocator, class Equal>
  requires has_own_equality<K, Equal>
struct codec_with_equality<Engine, K, V, Hash, Allocator, Equal>
    : std::conditional_t<mode_in<Engine, K, V, Hash> == storage_mode::texts, wide_text_codec<K, V, Hash, Allocator>,
                         codec_in_mode<mode_in<Engine, K, V, Hash>, K, V, Hash, Allocator>> {
  static constexpr bool is_for_texts =
      mode_in<Engine, K, V, Hash> == storage_mode::texts || is_text_that_nobody_owns<K>;
  static_assert(is_for_texts || !stored_as_bytes<K> || transparent_hash<Hash>,
                "this engine asks for a Hash that is_transparent and takes a std::string_view: leave the Hash out, or "
                "declare that in yours");
  static_assert(
      is_for_texts || (stored_as_bytes<K> && !transparent_hash<Hash>),
      "this engine is for std::string keys without a namespace, beside plain values of at most 40 bytes: take "
      "cubby::iceberg for others");
};
template <class Engine, class K, class V, class Hash, class Allocator, class Equal>
  requires(!has_own_equality<K, Equal>)
struct codec_with_equality<Engine, K, V, Hash, Allocator, Equal>
    : checked_equality<K, Hash, Equal, keeps_tuples<Engine> || keeps_wide_texts<Engine>> {
  using type = record_codec<K, V, Hash, Allocator, near_address_bits<K>, 0, Equal>;
};

template <class Engine, class K, class V, class Hash, class Allocator, class Equal = equal<K>>
using codec_in = typename codec_with_equality<Engine, K, V, Hash, Allocator, Equal>::type;

} // namespace detail

} // namespace cubby::inline v0
