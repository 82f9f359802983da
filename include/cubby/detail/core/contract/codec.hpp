// SPDX-License-Identifier: Apache-2.0
// The contract of codecs, which convert between a user's types and an engine's words. An engine needs `slot_policy` or
// `tuple_policy`; the API needs `contract::codec`, too. Each member is const, and any number of threads may call it at once.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <cubby/detail/core/probe.hpp>

namespace cubby::inline v0::detail {

/// What an engine needs in order to compare and rehash slots, whose contents it cannot interpret.
///  - `unique_words`: a value word that has left a slot does not return to it while an older pin lives (true for records, false
///    for values)
///  - `matches(probe, value_word)`: compares the whole keys; called only if the key words are equal
///  - `hash_of(key_word, value_word)`: the hash in the probe of this entry's key
///  - `record_of(value_word)`: the address to prefetch, or null
///  - `retire_link(value_word)`: a word inside the record that is free for a list of retired records, so that retiring never
///    allocates; called only if `unique_words`
///  - `dispose(value_word)`: frees what the word owns; called once, after a grace period; a no-op for inline words
///  - optional, `disposes_plainly`: `dispose` runs no code of the user but an allocator's
///  - optional, `prefetch_owned(value_word)`: asks memory for what `dispose` reads behind the record
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

/// A policy of records whose size is known before they are read. `record_size(probe)`: in bytes, of the record of this key, so that each line of
/// it can be prefetched.
template <class P>
concept sized_records = slot_policy<P> && requires(const P& policy, const typename P::probe& probe) {
  { policy.record_size(probe) } noexcept -> std::same_as<std::size_t>;
};

/// The same for an engine that keeps its own node in each record. `with_front<bytes>` is the codec whose records have that many
/// bytes, aligned to 8, at `front_of(value_word)`. Without records it is the codec itself.
template <class P, std::size_t Bytes>
concept fronted_policy =
    slot_policy<typename P::template with_front<Bytes>> &&
    (!P::unique_words || requires(const typename P::template with_front<Bytes>& policy, std::uint64_t word) {
      { policy.front_of(word) } noexcept -> std::same_as<void*>;
    });

/// What an engine of tuples needs: the numbers of words of key and value, and the hash in the probe of a key.
template <class P>
concept tuple_policy = requires(const P& policy, const typename P::stored_key& key, const typename P::probe& probe) {
  { P::stored_key::count + P::stored_value::count } -> std::convertible_to<std::size_t>;
  { P::mapping } -> std::convertible_to<bin_mapping>;
  { policy.hash_of(key) } noexcept -> std::same_as<std::uint64_t>;
  { probe.hash } -> std::convertible_to<std::uint64_t>;
  { probe.key } -> std::convertible_to<typename P::stored_key>;
};

/// A tuple policy that keeps short keys in the slot, and long ones in key records of their own (`owns_keys`). Only the words of one entry
/// may be given to `has_text`. The first three functions take a probe or a query.
///  - `needs_record(probe)`: whether the key is long. Its first key word is then the address of a key record.
///  - `has_words(probe, key words)`: whether the words agree, that address left out. `has_text(probe, key words)`, for a long key whose words
///    agree: compares the whole keys.
///  - `make_key(probe, out)`: the key words of a new entry. False: no memory for a key record. It belongs to the caller until a slot has it.
///  - `key_word_to_retire(key words)`: the key record of an entry, or 0. The engine retires it with the entry; `key_link(word)` is free for a
///    list of retired ones, and `dispose_key(word)` frees it after a grace period.
template <class P>
concept key_owning_policy =
    tuple_policy<P> && requires(const P& policy, const typename P::probe& probe, const typename P::query& query,
                                const typename P::stored_key& key, typename P::stored_key& out, std::uint64_t word) {
      requires P::owns_keys;
      { query.hash } -> std::convertible_to<std::uint64_t>;
      { P::needs_record(query) } noexcept -> std::same_as<bool>;
      { P::has_words(query, key) } noexcept -> std::same_as<bool>;
      { P::has_text(query, key) } noexcept -> std::same_as<bool>;
      { P::needs_record(probe) } noexcept -> std::same_as<bool>;
      { P::has_words(probe, key) } noexcept -> std::same_as<bool>;
      { P::has_text(probe, key) } noexcept -> std::same_as<bool>;
      { policy.make_key(probe, out) } -> std::same_as<bool>;
      { P::key_word_to_retire(key) } noexcept -> std::same_as<std::uint64_t>;
      { P::key_link(word) } noexcept -> std::same_as<std::uint64_t&>;
      { policy.dispose_key(word) } noexcept;
    };
/// Whether slots have addresses: of records, or of the texts of long keys.
template <class P> inline constexpr bool entries_apart = P::in_records || key_owning_policy<P>;

namespace contract {

/// The types of a codec. `key_type` and `mapped_type` are the user's. `stored_key` and `stored_value` are the engine's form of an
/// entry: a word each, or the words of a tuple. `probe` is the hashed key with which an engine is called.
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
///  - `in_records`: a value word is the address of a record. `make` builds the record, it is published once, and `dispose` frees it
///    after the engine's `retire`. If false, a value word is the value, and nothing is disposed of.
///  - `has_values`: false for a set
///  - `keys_can_differ`, for records only: equal keys may differ, so the table has to keep the first one
///  - `accepts<Q>`: keys can be looked up with a Q, which is not `key_type`
///  - optional, `owns_keys`: long keys lie in key records (`key_owning_policy`). Then the codec has `query_of(key)`, too: the hashed key of a
///    lookup, which costs less than the probe, and refers to the key, which must outlive it. `find`, `find_many` and `mutate` of the engine take it as well.
template <class C>
concept codec_traits = requires {
  { C::in_records } -> std::convertible_to<bool>;
  { C::has_values } -> std::convertible_to<bool>;
  { C::unique_words } -> std::convertible_to<bool>;
  { C::template accepts<typename C::key_type> } -> std::convertible_to<bool>;
  requires !C::in_records || requires {
    { C::keys_can_differ } -> std::convertible_to<bool>;
  };
  requires !requires { C::owns_keys; } || key_owning_policy<C>;
};

/// A codec of tables in files: `durable_codec` has what it needs beside `codec`.
template <class C> concept kept_in_file = requires { requires C::durable; };

/// A codec of tables in memory.
///  - `C(hash, allocator, seed)`: the codec of a new table.
///  - `reseed(difference)`, while the table is empty and one thread uses it: another seed of the hash.
///  - `aimed_at(probe, value word)`, for records, inside the guard that showed the word: the same hashed key, but it refers to the key in that
///    record. It serves on when the caller's key has been moved from, or has ended.
template <class C>
concept kept_in_memory =
    std::constructible_from<C, const typename C::hasher&, const typename C::allocator_type&, std::uint64_t> &&
    requires(C& codec, const typename C::probe& probe, const typename C::stored_value& words) {
      { codec.reseed(std::uint64_t{}) } noexcept;
      requires !C::in_records || requires {
        { codec.aimed_at(probe, words) } noexcept -> std::same_as<typename C::probe>;
      };
    };

/// The result of `make`. If there was no memory for a record, `ok` is false and `word` is undefined.
template <class M, class Word>
concept made_result = requires(const M& made) {
  { made.ok } -> std::convertible_to<bool>;
  { made.word } -> std::convertible_to<const Word&>;
};

/// A codec, as the API needs it.
///  - `probe_of(key)`: the hashed key. It may refer to the key, which must outlive it. Runs the user's hash.
///  - `probe_of_slot(key words, value words)`: the hashed key of an entry. It may refer to the record: use it only inside the guard
///    under which the engine has shown the words.
///  - `is_legal(probe)`: false for a key that no table may hold (a namespace out of range). Such a key may be looked up.
///  - `make(probe, key, args...)`: the value words of a new entry, constructed from `args`. A record belongs to the caller until an
///    engine has taken it. The caller gives a record that no other thread has seen to `dispose`, any other to the engine's
///    `retire`. An exception of a constructor passes through, and leaves nothing allocated. The answer is a `made_result`. Which `args` it
///    takes is up to the types of the user; the API's calls check that.
///  - `key(key words, value words)` and `value(value words)`: the user's key and value: a copy made from the words, or a reference
///    into the record, which is valid inside the guard.
///  - `kept_key(value words, key)`: the key for a record that replaces this one: a reference to that of the record, or to `key`.
///  - `hash_function()` and `allocator()`: the user's.
template <class C>
concept codec = codec_types<C> && codec_traits<C> && (slot_policy<C> || tuple_policy<C>) &&
                (kept_in_file<C> || kept_in_memory<C>) &&
                requires(const C& codec, const typename C::key_type& key, const typename C::probe& probe,
                         const typename C::stored_key& key_words, const typename C::stored_value& value_words) {
                  { codec.hash_function() } -> std::same_as<const typename C::hasher&>;
                  { codec.allocator() } -> std::same_as<const typename C::allocator_type&>;
                  { codec.probe_of(key) } -> std::same_as<typename C::probe>;
                  { codec.probe_of_slot(key_words, value_words) } -> std::same_as<typename C::probe>;
                  { codec.is_legal(probe) } noexcept -> std::same_as<bool>;
                  { codec.key(key_words, value_words) } -> std::convertible_to<const typename C::key_type&>;
                  { codec.value(value_words) } -> std::convertible_to<const typename C::mapped_type&>;
                  codec.kept_key(value_words, key);
                  requires !key_owning_policy<C> || requires {
                    { codec.query_of(key) } -> std::same_as<typename C::query>;
                  };
                  { codec.make(probe, key) } -> made_result<typename C::stored_value>;
                };

} // namespace contract

} // namespace cubby::inline v0::detail
