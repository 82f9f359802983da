// SPDX-License-Identifier: Apache-2.0
// The codecs of durable tables of words and of tuples: the same words as in memory, and the pool in which their slots lie
// (docs/format.md, Slots). core/durable_records.hpp has the codec of records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <cubby/detail/core/codec.hpp>
#include <cubby/detail/core/pool_heap.hpp>
#include <cubby/detail/core/recovery_report.hpp>
#include <cubby/detail/core/redo_log.hpp>

namespace cubby::inline v0 {

/// The identity of a hash that gives the same numbers in every build and for ever. 0: unknown, and no durable table takes it. Specialize
/// it for your own hash with a number of yours, and change the number whenever the function changes.
template <class Hash> inline constexpr std::uint64_t hash_is_stable = 0;
template <detail::mixes_words Hash> inline constexpr std::uint64_t hash_is_stable<Hash> = 0x6375626279'01;
template <detail::hashes_bytes Hash> inline constexpr std::uint64_t hash_is_stable<Hash> = 0x6375626279'04;
template <detail::hashes_plain Hash> inline constexpr std::uint64_t hash_is_stable<Hash> = 0x6375626279'05;

namespace detail {

/// The identity of the hash that files of these keys had up to version 0.2.0: one whose mask does not depend on the seed. 0: no other.
template <class Hash> inline constexpr std::uint64_t seedless_identity = 0;
template <hashes_bytes Hash> inline constexpr std::uint64_t seedless_identity<Hash> = 0x6375626279'02;
template <hashes_plain Hash> inline constexpr std::uint64_t seedless_identity<Hash> = 0x6375626279'03;

/// What the codecs of a durable table share: the file, and its blocks.
struct durable_home {
  pool file;
  pool_heap heap{file};
  redo_log log{file};
  small_lock<> sync_lock; // one sync of the table at a time
  std::uint64_t sync_every =
      0; // nanoseconds between the syncs of the table's own thread; 0: only where a move needs one
  std::uint64_t log_bytes = 0;     // that the log is to have; 0: none
  small_lock<> marks;              // the four below, and marks of records
  sync::word<std::uint64_t> epoch; // grows when a sync begins; no two openings of a file share one
  std::uint64_t blank = 0;         // a list of blocks, by their links: without a record since the last sync began
  std::uint64_t replaced = 0;      // a list of records, by their epochs: replaced since the last sync began
  std::uint64_t marked = 0; // where records are the entries: the last epoch of whose replaced records none is live
  sync::word<std::uint32_t> unmarked; // 1: recovery has taken the mark from a record
  bool has_foreign_hashes = false;    // recovery has found that the hash is not that with which the file was made
  recovery_report report;

  /// Whether the file was made with the hash whose mask does not depend on the seed.
  template <class Hash> [[nodiscard]] bool has_seedless_mask() const noexcept {
    return seedless_identity<Hash> != 0 && file.state().what.hash == seedless_identity<Hash>;
  }
};

/// Key and value in a word each.
template <class K, class V, class Hash> class durable_words : public word_codec<K, V, Hash, std::allocator<std::byte>> {
  using base = word_codec<K, V, Hash, std::allocator<std::byte>>;

public:
  static constexpr bool durable = true;
  static constexpr std::uint32_t mode = base::has_values ? 0 : 1;
  durable_words(const Hash& h, std::uint64_t seed, durable_home& home)
      : base(h, std::allocator<std::byte>(), seed), home_(&home) {}
  [[nodiscard]] durable_home& shared() const noexcept { return *home_; }
  [[nodiscard]] pool& home() const noexcept { return home_->file; }
  /// Recovery: whether the words of a slot are an entry; and then, once for each entry, that it stays.
  [[nodiscard]] static bool is_whole(std::uint64_t, std::uint64_t) noexcept { return true; }
  [[nodiscard]] static bool claim(std::uint64_t, std::uint64_t) noexcept { return true; }
  /// A sync: what is given back before it can be used after it. Here nothing is.
  [[nodiscard]] static std::uint64_t begin_sync() noexcept { return 0; }
  [[nodiscard]] static bool end_sync(std::uint64_t, bool) noexcept { return false; }

private:
  durable_home* home_;
};

/// A key of several words with a value of at most one. A last key word that is always 1 is the commit word.
template <class K, class V, class Hash>
class durable_tuples : public tuple_codec<K, V, Hash, std::allocator<std::byte>> {
  using base = tuple_codec<K, V, Hash, std::allocator<std::byte>>;
  static constexpr std::size_t key_words = base::stored_key::count;

public:
  using stored_key = words<key_words + 1>;
  using stored_value = typename base::stored_value;
  using probe = tuple_probe<stored_key>;
  static constexpr bool durable = true;
  static constexpr std::uint32_t mode = 3;
  durable_tuples(const Hash& h, std::uint64_t seed, durable_home& home)
      : base(h, std::allocator<std::byte>(), seed, home.has_seedless_mask<Hash>()), home_(&home) {}
  [[nodiscard]] durable_home& shared() const noexcept { return *home_; }
  [[nodiscard]] pool& home() const noexcept { return home_->file; }

  [[nodiscard]] probe probe_of(const K& key) const {
    const auto plain = base::probe_of(key);
    return {plain.hash, marked(plain.key)};
  }
  [[nodiscard]] probe probe_of_slot(const stored_key& key, const stored_value&) const { return {hash_of(key), key}; }
  static constexpr bool is_legal(const probe&) noexcept { return true; }
  template <class... A> [[nodiscard]] made_as<stored_value> make(const probe& p, const K& key, A&&... args) const {
    return base::make({p.hash, plain(p.key)}, key, std::forward<A>(args)...);
  }
  [[nodiscard]] static K key(const stored_key& word, const stored_value& value) noexcept {
    return base::key(plain(word), value);
  }
  [[nodiscard]] std::uint64_t hash_of(const stored_key& key) const noexcept { return base::hash_of(plain(key)); }
  [[nodiscard]] static bool is_whole(const stored_key& key, const stored_value&) noexcept {
    return key.at[key_words] == 1;
  }
  [[nodiscard]] static bool claim(const stored_key&, const stored_value&) noexcept { return true; }
  /// A sync: what is given back before it can be used after it. Here nothing is.
  [[nodiscard]] static std::uint64_t begin_sync() noexcept { return 0; }
  [[nodiscard]] static bool end_sync(std::uint64_t, bool) noexcept { return false; }

private:
  static stored_key marked(const typename base::stored_key& key) noexcept {
    stored_key out{};
    for (std::size_t i = 0; i < key_words; ++i) out.at[i] = key.at[i];
    out.at[key_words] = 1;
    return out;
  }
  static typename base::stored_key plain(const stored_key& key) noexcept {
    typename base::stored_key out{};
    for (std::size_t i = 0; i < key_words; ++i) out.at[i] = key.at[i];
    return out;
  }

  durable_home* home_;
};

} // namespace detail

} // namespace cubby::inline v0
