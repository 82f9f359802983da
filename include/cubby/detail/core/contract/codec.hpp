// SPDX-License-Identifier: Apache-2.0
// The contract of codecs, which stand between a user's types and an engine's words. `slot_policy` and `tuple_policy` are what an
// engine asks of one; `contract::codec` is what the API asks of it beside that. Every member is const and may be called by
// any number of threads at once.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <cubby/detail/core/probe.hpp>

namespace cubby::inline v0::detail {

/// How an engine compares and rehashes slots that it cannot read itself.
///  - `unique_words`: no live value word ever comes back to a slot while an older pin lives (records: true; values: false)
///  - `matches(probe, value_word)`: whole-key compare; called only when the key words are equal
///  - `hash_of(key_word, value_word)`: the hash that the probe of this entry's key would carry
///  - `record_of(value_word)`: the address worth prefetching, or null
///  - optional, `record_size(probe)`: how long what is there is, so that both lines of a record on two are asked for
///  - `retire_link(value_word)`: a word inside the record that nobody reads once it is retired: retiring never allocates
///  - `dispose(value_word)`: frees what the word owns; called once, after a grace period; a no-op for inline words
/// `retire_link` is asked for only when `unique_words`.
template <class P>
concept slot_policy = requires(const P& policy, const typename P::probe& probe, std::uint64_t word) {
  requires std::derived_from<typename P::probe, word_probe>;
  { P::unique_words } -> std::convertible_to<bool>;
  { P::mapping } -> std::convertible_to<bin_mapping>;
  { policy.matches(probe, word) } noexcept -> std::same_as<bool>;
  { policy.hash_of(word, word) } noexcept -> std::same_as<std::uint64_t>;
  { policy.record_of(word) } noexcept -> std::convertible_to<const void*>;
  policy.dispose(word);
  requires !P::unique_words || requires {
    { policy.retire_link(word) } noexcept -> std::same_as<std::uint64_t&>;
  };
};

/// The same for an engine that keeps a node of its own in front of each record: `with_front<bytes>` is the codec whose
/// records have that many bytes before them, aligned to 8, at `front_of(value_word)`. Without records it is the codec itself.
template <class P, std::size_t Bytes>
concept fronted_policy =
    slot_policy<typename P::template with_front<Bytes>> &&
    (!P::unique_words || requires(const typename P::template with_front<Bytes>& policy, std::uint64_t word) {
      { policy.front_of(word) } noexcept -> std::same_as<void*>;
    });

/// What an engine of tuples asks of a codec: how many words there are, and the hash that the probe of this key would carry.
template <class P>
concept tuple_policy = requires(const P& policy, const typename P::stored_key& key, const typename P::probe& probe) {
  { P::stored_key::count + P::stored_value::count } -> std::convertible_to<std::size_t>;
  { P::mapping } -> std::convertible_to<bin_mapping>;
  { policy.hash_of(key) } noexcept -> std::same_as<std::uint64_t>;
  { probe.hash } -> std::convertible_to<std::uint64_t>;
  { probe.key } -> std::convertible_to<typename P::stored_key>;
};

namespace contract {

/// The types of a codec. `key_type` and `mapped_type` are the user's; `stored_key` and `stored_value` are what an entry is to
/// the engine: a word each, or the words of a tuple. `probe` is the question that an engine is asked.
template <class C>
concept codec_types = requires {
  typename C::key_type;
  typename C::mapped_type;
  typename C::hasher;
  typename C::allocator_type;
  typename C::probe;
  requires std::equality_comparable<typename C::stored_key>;
  requires std::equality_comparable<typename C::stored_value>;
};

/// The traits of a codec.
///  - `in_records`: a value word is the address of a record: it is built with `make`, published once, and freed by `dispose`
///    after the engine's `retire`. Otherwise a value word is the value, and nothing is ever disposed of.
///  - `has_values`: false for a set
///  - `keys_can_differ`, of records alone: equal keys may differ, so that the first one has to be kept
///  - `accepts<Q>`: a lookup may be asked with a Q that is no `key_type`
template <class C>
concept codec_traits = requires {
  { C::in_records } -> std::convertible_to<bool>;
  { C::has_values } -> std::convertible_to<bool>;
  { C::unique_words } -> std::convertible_to<bool>;
  { C::template accepts<typename C::key_type> } -> std::convertible_to<bool>;
  requires !C::in_records || requires {
    { C::keys_can_differ } -> std::convertible_to<bool>;
  };
};

/// What `make` answers: `ok` is false when there was no memory for a record, and then `word` means nothing.
template <class M, class Word>
concept made_result = requires(const M& made) {
  { made.ok } -> std::convertible_to<bool>;
  { made.word } -> std::convertible_to<const Word&>;
};

/// A codec: what the API asks of one.
///  - `probe_of(key)`: the question about this key. It may refer to the key, which must outlive it. Runs the user's hash.
///  - `probe_of_slot(key words, value words)`: the same about an entry. It may refer to the record: use it inside the guard
///    under which the engine showed the words.
///  - `is_legal(probe)`: false for a key that no table may hold (a namespace out of range). Such a key may be looked up.
///  - `make(probe, key, args...)`: the value words of a new entry, made of `args`. A record belongs to the caller until an engine
///    has taken it: a record that nobody has seen goes to `dispose`, any other to the engine's `retire`. What a constructor
///    throws passes through, and nothing is left behind. `make` is a template of the caller's types: the API's calls check it.
///  - `key(key words, value words)` and `value(value words)`: the entry as the user gave it, copied out of words, or a
///    reference into the record, which lives as long as the guard.
///  - `kept_key(value words, key)`: the key for the record that replaces this one; refers to the record or to `key`.
///  - `hash_function()` and `allocator()`: the user's.
template <class C>
concept codec = codec_types<C> && codec_traits<C> && (slot_policy<C> || tuple_policy<C>) &&
                requires(const C& codec, const typename C::key_type& key, const typename C::probe& probe,
                         const typename C::stored_key& key_words, const typename C::stored_value& value_words) {
                  { codec.hash_function() } -> std::same_as<const typename C::hasher&>;
                  { codec.allocator() } -> std::same_as<const typename C::allocator_type&>;
                  { codec.probe_of(key) } -> std::same_as<typename C::probe>;
                  { codec.probe_of_slot(key_words, value_words) } -> std::same_as<typename C::probe>;
                  { codec.is_legal(probe) } noexcept -> std::same_as<bool>;
                  { codec.key(key_words, value_words) } -> std::convertible_to<const typename C::key_type&>;
                  { codec.value(value_words) } noexcept -> std::convertible_to<const typename C::mapped_type&>;
                  codec.kept_key(value_words, key);
                };

} // namespace contract

} // namespace cubby::inline v0::detail
