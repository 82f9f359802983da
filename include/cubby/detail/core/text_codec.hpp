// SPDX-License-Identifier: Apache-2.0
// The codec of tables that keep text keys in their slots, beside small values. A key of up to `short_bytes` bytes lies in the slot.
// A longer one lies in a key record, and the slot has its address, its hash and its size.
//   short   words 0 ..      the bytes, zero-filled          last byte: the size
//   long    word 0: address of the key record   word 1: hash   last word: size, last byte: 255
// An engine that stores such keys makes, retires and disposes of the key records (`owns_keys`).
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include <cubby/detail/core/key.hpp>
#include <cubby/detail/core/record_space.hpp>
#include <cubby/detail/core/tuple_codec.hpp>
#include <cubby/detail/platform/prefetch.hpp>

namespace cubby::inline v0::detail {

/// The hashed key of a text. For a short text `key` is what a slot has; for a long one, all but its first word.
template <class Key> struct text_probe {
  std::uint64_t hash;
  Key key;
  std::uint64_t size;
  const char* data; // read only for long texts
};

/// The same for a lookup, which needs the words of a key only where a tag agrees. It refers to the text of the caller.
struct text_query {
  std::uint64_t hash;
  std::uint64_t word; // of a text of up to 8 bytes: its bytes
  std::uint64_t size;
  const char* data;
};

/// A long key outside the table. Its bytes follow it.
struct key_record {
  std::uint64_t link; // of the retire bag
  std::uint64_t size;
  [[nodiscard]] char* bytes() noexcept { return reinterpret_cast<char*>(this) + sizeof(key_record); }
  [[nodiscard]] const char* bytes() const noexcept { return reinterpret_cast<const char*>(this) + sizeof(key_record); }
};

/// Values of at most so many words leave 23 bytes or more for the key in a slot of 64 bytes.
template <class V>
inline constexpr std::size_t text_value_words = std::is_same_v<V, no_value> ? 0 : words_of<V>;
template <class V> concept text_value = std::is_same_v<V, no_value> || (tuple_value<V> && words_of<V> <= 5);
/// Text keys that lie in slots: those that are their bytes and nothing else.
template <class K, class V, class Hash> concept texts_in_slots = !is_spaced<K> && owns_bytes<K, Hash> && text_value<V>;

/// `Wide`: the slots have 64 bytes also where the value leaves 23 bytes for the key in one of 32.
template <class K, class V, class Hash, class Allocator, bool Wide = false> class text_codec {
  static constexpr std::size_t value_words = text_value_words<V>;
  static constexpr std::size_t key_words = (value_words <= 1 && !Wide ? 4 : 8) - value_words;
  static constexpr std::uint64_t long_mark = std::uint64_t{255} << 56;
  using unit_allocator = typename std::allocator_traits<Allocator>::template rebind_alloc<std::uint64_t>;

public:
  using key_type = K;
  using mapped_type = V;
  using hasher = Hash;
  using allocator_type = Allocator;
  using stored_key = words<key_words>;
  using stored_value = words<value_words>;
  using probe = text_probe<stored_key>;
  using query = text_query;
  static constexpr bool in_records = false;
  static constexpr bool has_values = !std::is_same_v<V, no_value>;
  static constexpr bool unique_words = false;
  static constexpr bool owns_keys = true;
  static constexpr bin_mapping mapping = seeded_hash<Hash>::mapping;
  /// The longest key that lies in a slot.
  static constexpr std::size_t short_bytes = key_words * 8 - 1;
  /// Whether a Q, which is not a K, can be used for lookups.
  template <class Q>
  static constexpr bool accepts =
      null_text<Q, K> || (!std::is_same_v<Q, K> && !is_spaced<Q> && std::is_convertible_v<const Q&, std::string_view>);

  text_codec(const Hash& h, const Allocator& a, std::uint64_t seed) : hash_(h, seed), allocator_(a) {}
  void reseed(std::uint64_t difference) noexcept { hash_.reseed(difference); }

  [[nodiscard]] const Hash& hash_function() const noexcept { return hash_.user(); }
  [[nodiscard]] const Allocator& allocator() const noexcept { return allocator_; }

  [[nodiscard]] CUBBY_ALWAYS_INLINE probe probe_of(std::string_view text) const {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
    const std::size_t size = text.size();
    if (size <= 8) { // one branch on the size for the words and the hash: it is often predicted wrongly
      const std::uint64_t word = read_up_to_8(bytes, size);
      return {hash_of_short(text, word), sized_key(size, {word}), size, text.data()};
    }
    const std::uint64_t hashed = hash_of_long(text);
    if (size <= short_bytes) [[likely]]
      return {hashed, key_of_many(bytes, size), size, text.data()};
    return {hashed, long_key(hashed, size), size, text.data()};
  }
  [[nodiscard]] CUBBY_ALWAYS_INLINE query query_of(std::string_view text) const {
    if (text.size() > 8) return {hash_of_long(text), 0, text.size(), text.data()};
    const std::uint64_t word = read_up_to_8(reinterpret_cast<const unsigned char*>(text.data()), text.size());
    return {hash_of_short(text, word), word, text.size(), text.data()};
  }
  template <null_text<K> Q> probe probe_of(const Q&) const { return refuse_null<probe, Q>(); }
  template <null_text<K> Q> query query_of(const Q&) const { return refuse_null<query, Q>(); }
  /// It may refer to the key record: use it only inside the guard that has shown the words.
  [[nodiscard]] probe probe_of_slot(const stored_key& key, const stored_value&) const {
    const std::string_view text = text_of(key);
    probe out{hash_of(key), key, text.size(), text.data()};
    if (is_long(key)) out.key.at[0] = 0;
    else out.data = nullptr; // the bytes are in `key`
    return out;
  }
  static constexpr bool is_legal(const probe&) noexcept { return true; }

  template <class Q, class... A>
  [[nodiscard]] made_as<stored_value> make(const probe&, const Q&, A&&... args) const {
    if constexpr (has_values) return {true, words_from<stored_value>(V(std::forward<A>(args)...))};
    else return {};
  }
  [[nodiscard]] static K key(const stored_key& key, const stored_value&) {
    const std::string_view text = text_of(key);
    return K(text.data(), text.size());
  }
  [[nodiscard]] static V value(const stored_value& word) noexcept {
    if constexpr (has_values) return object_from<V>(word);
    else return V{};
  }
  template <class Q> static const Q& kept_key(const stored_value&, const Q& asked) noexcept { return asked; }

  // tuple_policy
  [[nodiscard]] std::uint64_t hash_of(const stored_key& key) const noexcept {
    return is_long(key) ? key.at[1] : hash_text(text_of(key));
  }

  // Engines that own the keys.
  /// Whether a slot has the words of the probe's key, the address of a key record left out.
  [[nodiscard]] CUBBY_ALWAYS_INLINE static bool has_words(const probe& p, const stored_key& key) noexcept {
    std::uint64_t differ = 0;
    for_each_word<key_words - 1>([&](std::size_t i) CUBBY_INLINED { differ |= key.at[i + 1] ^ p.key.at[i + 1]; });
    return differ == 0 && (key.at[0] == p.key.at[0] || is_long(p.key));
  }
  [[nodiscard]] CUBBY_ALWAYS_INLINE static bool has_words(const query& q, const stored_key& key) noexcept {
    if (q.size <= 8) return key == sized_key(q.size, {q.word});
    if (!needs_record(q)) return key == key_of_many(reinterpret_cast<const unsigned char*>(q.data), q.size);
    return key.at[1] == q.hash && key.at[key_words - 1] == (long_mark | q.size);
  }
  /// For a long key whose words agree: whether its key record has the same text. The words must be those of one entry.
  template <class Asked> [[nodiscard]] static bool has_text(const Asked& asked, const stored_key& key) noexcept {
    return is_same_text(record_of(key).bytes(), asked.data, asked.size);
  }
  /// Asks for the text of the long key that has this first word, or for `otherwise` if the key asked for is short. Only a hint: the word may be
  /// of another key. Without a branch on the size, because no processor can predict it.
  template <class Asked>
  CUBBY_ALWAYS_INLINE static void prefetch_text(const Asked& asked, std::uint64_t first_word,
                                                const void* otherwise) noexcept {
    const bool is_far = needs_record(asked);
    const std::uint64_t first = is_far ? first_word : std::bit_cast<std::uint64_t>(otherwise);
    const std::uint64_t last = is_far ? sizeof(key_record) + asked.size - 1 : 0;
    prefetch_line(std::bit_cast<const void*>(first + sizeof(key_record) * std::uint64_t{is_far}));
    prefetch_line(std::bit_cast<const void*>(first + last));
  }
  /// Asks for the text of a key that is long.
  CUBBY_ALWAYS_INLINE static void prefetch_text_of(const stored_key& key) noexcept {
    if (is_long(key)) prefetch_line(record_of(key).bytes());
  }
  [[nodiscard]] static constexpr bool needs_record(const probe& p) noexcept { return is_long(p.key); }
  [[nodiscard]] static constexpr bool needs_record(const query& q) noexcept { return q.size > short_bytes; }
  /// The words of a new entry's key. False: no memory for a key record.
  [[nodiscard]] bool make_key(const probe& p, stored_key& out) const {
    out = p.key;
    if (!is_long(p.key)) return true;
    key_record* const made = take_space(p.size);
    if (made == nullptr) return false;
    made->size = p.size;
    std::memcpy(made->bytes(), p.data, p.size);
    out.at[0] = std::bit_cast<std::uint64_t>(made);
    return true;
  }
  /// The word that the engine retires when the entry has left, or 0 for a short key.
  [[nodiscard]] static constexpr std::uint64_t key_word_to_retire(const stored_key& key) noexcept {
    return is_long(key) ? key.at[0] : 0;
  }
  [[nodiscard]] static std::uint64_t& key_link(std::uint64_t word) noexcept {
    return std::bit_cast<key_record*>(word)->link;
  }
  void dispose_key(std::uint64_t word) const noexcept {
    auto* const gone = std::bit_cast<key_record*>(word);
    give_back(gone, units_for(gone->size));
  }

private:
  static constexpr bool is_long(const stored_key& key) noexcept { return key.at[key_words - 1] >> 56 == 255; }
  static const key_record& record_of(const stored_key& key) noexcept {
    return *std::bit_cast<const key_record*>(key.at[0]);
  }
  /// Refers to `key`, or to its record.
  static std::string_view text_of(const stored_key& key) noexcept {
    if (is_long(key)) return {record_of(key).bytes(), record_of(key).size};
    return {reinterpret_cast<const char*>(key.at.data()), key.at[key_words - 1] >> 56};
  }
  CUBBY_ALWAYS_INLINE static stored_key sized_key(std::size_t size, stored_key key) noexcept {
    key.at[key_words - 1] |= std::uint64_t{size} << 56;
    return key;
  }
  /// Its first word is left to the address of the record.
  CUBBY_ALWAYS_INLINE static stored_key long_key(std::uint64_t hashed, std::size_t size) noexcept {
    stored_key key{};
    key.at[1] = hashed;
    key.at[key_words - 1] = long_mark | size;
    return key;
  }
  /// The key words of a text of more than 8 bytes that lies in the slot. Its last word is read where the text ends. Without branches,
  /// because no processor can predict which word is the last one.
  CUBBY_ALWAYS_INLINE static stored_key key_of_many(const unsigned char* bytes, std::size_t size) noexcept {
    stored_key key{{read_as<std::uint64_t>(bytes)}};
    const std::size_t last = (size - 1) / 8; // the word of the last byte
    const std::uint64_t rest = read_as<std::uint64_t>(bytes + size - 8) >> ((0 - size) * 8 % 64);
    for_each_word<key_words - 1>([&](std::size_t i) CUBBY_INLINED {
      const std::size_t from = 8 * (i + 1);
      const std::uint64_t whole = read_as<std::uint64_t>(bytes + (from < size - 8 ? from : size - 8));
      key.at[i + 1] = i + 1 < last ? whole : i + 1 == last ? rest : 0;
    });
    return sized_key(size, key);
  }
  [[nodiscard]] CUBBY_ALWAYS_INLINE std::uint64_t hash_of_short(std::string_view text, std::uint64_t word) const {
    if constexpr (hashes_bytes<Hash>) return hash_.of_short_text(word, text.size());
    else return hash_(text.data() != nullptr ? text : std::string_view("", 0));
  }
  [[nodiscard]] CUBBY_ALWAYS_INLINE std::uint64_t hash_of_long(std::string_view text) const {
    if constexpr (hashes_bytes<Hash>) return hash_.of_long_text(text.data(), text.size());
    else return hash_(text);
  }
  [[nodiscard]] std::uint64_t hash_text(std::string_view text) const { return query_of(text).hash; }

  static constexpr std::size_t units_for(std::uint64_t size) noexcept { return (sizeof(key_record) + size + 7) / 8; }
  [[nodiscard]] key_record* take_space(std::uint64_t size) const {
    std::uint64_t* const space = allocate_units(space_, unit_allocator(allocator_), units_for(size));
    return space == nullptr ? nullptr : ::new (static_cast<void*>(space)) key_record;
  }
  void give_back(key_record* gone, std::size_t units) const noexcept {
    deallocate_units(space_, unit_allocator(allocator_), reinterpret_cast<std::uint64_t*>(gone), units);
  }

  [[no_unique_address]] seeded_hash<Hash> hash_;
  [[no_unique_address]] Allocator allocator_;
  [[no_unique_address]] space_for<unit_allocator, block_pages::huge> space_;
};

} // namespace cubby::inline v0::detail
