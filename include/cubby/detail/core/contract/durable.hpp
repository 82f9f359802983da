// SPDX-License-Identifier: Apache-2.0
// What an engine has whose tables can be in a file. `api/durable_api.hpp` opens the file and makes the table of it.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include <cubby/detail/core/contract/codec.hpp>
#include <cubby/detail/core/contract/engine.hpp>
#include <cubby/detail/core/pool_layout.hpp>

namespace cubby::inline v0::detail::contract {

/// What a codec of tables in files needs for its records. A record is whole if it is the one that was written.
///  - `key_bytes(value word)`, `value_bytes(value word)`: of the record, inside the guard that showed the word.
///  - `can_be(key bytes, value bytes)`, `can_be_key(key bytes)`: whether a log may have such an entry, and the erase of one. `probe_of_bytes(key bytes)` and `make_of_bytes(probe, value bytes)`:
///    as `probe_of` and `make`, for an entry of the log.
///  - `begin_reading()`, in recovery: false: no memory. Then, once for each number below `parts()`, `read_part(number)`: notes what is in a part of
///    the file. Any threads. `find_note(value word)`: the address of such a note; null: no block begins there. `is_noted(it, key word, value word)`: as
///    `is_whole`, by the note. `claim_noted(it, value word)`: as `claim`. Both are false if it is null. After all claims `end_reading_part(number)` of
///    each part, and at last `end_reading()`.
///  - `for_each_older(f)`, in recovery, after all claims: calls `f(key word, value word, sequence)` for each whole record that no slot leads to.
///  - `blank_unused()`, in recovery, before its last sync: no such record is whole after that. True: that sync is needed.
///  - `note_inserted(value word)`, before a slot leads to a new record. `note_erased(value word)`, before a slot leads to it no more.
///    `note_replaced(old value word, value word)`, before a slot leads to the new one instead. The caller holds the lock of the slot.
template <class C>
concept durable_records =
    C::in_records && requires(const C& codec, const typename C::probe& probe, std::uint64_t word,
                              std::string_view bytes, void (*older)(std::uint64_t, std::uint64_t, std::uint32_t)) {
      { codec.key_bytes(word) } noexcept -> std::same_as<std::string_view>;
      { codec.value_bytes(word) } noexcept -> std::same_as<std::string_view>;
      { C::can_be(bytes, bytes) } noexcept -> std::same_as<bool>;
      { C::can_be_key(bytes) } noexcept -> std::same_as<bool>;
      { codec.probe_of_bytes(bytes) } -> std::same_as<typename C::probe>;
      { codec.make_of_bytes(probe, bytes) } noexcept -> made_result<std::uint64_t>;
      { codec.begin_reading() } noexcept -> std::same_as<bool>;
      { codec.parts() } noexcept -> std::same_as<std::uint64_t>;
      { codec.read_part(word) } noexcept;
      { codec.is_noted(codec.find_note(word), word, word) } noexcept -> std::same_as<bool>;
      { codec.claim_noted(codec.find_note(word), word) } noexcept -> std::same_as<bool>;
      { codec.end_reading_part(word) } noexcept;
      { codec.end_reading() } noexcept;
      { codec.for_each_older(older) } noexcept;
      { codec.blank_unused() } noexcept -> std::same_as<bool>;
      { codec.note_inserted(word) } noexcept;
      { codec.note_erased(word) } noexcept;
      { codec.note_replaced(word, word) } noexcept;
    };

/// A codec of tables in files. `durable` is true, and `mode` the number that the file has for it.
///  - `home()`: the file. `shared()`: that, its blocks and its log.
///  - `is_whole(key words, value words)`, in recovery: whether these words of a slot are an entry. `claim` of the same, once for each entry that
///    stays: its block is in use. False: another entry has it.
///  - `begin_sync()`, before the file is synced, and `end_sync(what that has returned, whether the sync was done)`: give back what no entry
///    reaches any more on the disk. True: another sync has to make that durable.
template <class C>
concept durable_codec =
    codec<C> && kept_in_file<C> && (!C::in_records || durable_records<C>) &&
    requires(const C& codec, const typename C::stored_key& key, const typename C::stored_value& value) {
      { C::mode } -> std::convertible_to<std::uint32_t>;
      codec.home();
      codec.shared();
      { codec.is_whole(key, value) } noexcept -> std::same_as<bool>;
      { codec.claim(key, value) } noexcept -> std::same_as<bool>;
      { codec.end_sync(codec.begin_sync(), bool{}) } noexcept -> std::same_as<bool>;
    };

/// An engine over a file. Its policy is a `durable_codec`, and leads to the file (`policy.shared()`).
///  - `code`, `has_log`: which engine the file names, and whether tables of this one can have a log of changes.
///  - `file_options`: the options of this engine alone, a base of `options_type`.
///  - `describe(identity, options)`, before there is a file: adds what the engine has to know of a new one. False: no table can have this capacity.
///  - The constructor recovers what is in the file (`makeable`). `ok` is false as well if the disk has no space or cannot be written.
///  - `sync(thread_record)`: all changes that were made before are durable when it returns. Blocks while the system writes. False: the system
///    could not write; that is final.
///  - `checkpoint(thread_record)`: the same, so that no log is needed for what was done before.
///  - `end_move(thread_record)`: ends a growth or a shrink that is under way. False: no memory, or no disk space.
/// The three may be called outside or inside a guard, for whose end they never wait.
template <class E>
concept durable = engine<E> && iterable<E> && retiring<E> && durable_codec<typename E::policy> && requires {
  { E::code } -> std::convertible_to<pool_layout::engine_code>;
  { E::has_log } -> std::convertible_to<bool>;
  requires std::derived_from<typename E::options_type, typename E::file_options>;
} && requires(E& e, thread_record& s, pool_layout::identity& out, const typename E::options_type& wanted) {
  { E::describe(out, wanted) } noexcept -> std::same_as<bool>;
  { e.sync(s) } -> std::same_as<bool>;
  { e.checkpoint(s) } noexcept -> std::same_as<bool>;
  { e.end_move(s) } noexcept -> std::same_as<bool>;
};

} // namespace cubby::inline v0::detail::contract
