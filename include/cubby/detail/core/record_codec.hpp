// SPDX-License-Identifier: Apache-2.0
// The codec of tables whose entries are records: DLHT's Allocator mode (section 3.1), with variable-size keys (3.4.1), namespaces (3.4.2) and
// addresses of any width. A record never changes once it is published: a new value is a new record, so no reader ever sees half of one. Each
// record is one allocation of the user's allocator, which is called from every thread, like the hash and the keys' equality, which must not throw.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include <cubby/detail/core/record.hpp>
#include <cubby/detail/core/record_space.hpp>
#include <cubby/detail/core/word_codec.hpp>
#include <cubby/detail/platform/prefetch.hpp>

namespace cubby::inline v0::detail {

/// What a record codec's probe carries beside hash and word. `tag` is compared with near words as they stand.
struct word_key_probe : word_probe {
  std::uint32_t tag;
};
struct bytes_probe : word_probe {
  std::uint32_t tag;
  std::uint64_t size;
  const char* data; // read only for keys of more than 8 bytes
};
template <class K> struct object_probe : word_probe {
  std::uint32_t tag;
  const void* asked;
  bool (*equal)(const void* asked, const K& stored) noexcept;
};

template <class K, key_kind Kind>
using record_probe = std::conditional_t<Kind == key_kind::word, word_key_probe,
                                        std::conditional_t<Kind == key_kind::bytes, bytes_probe, object_probe<K>>>;

/// `Front`: bytes in each record that an engine has for itself (`front_of`). With an equality that is not the type's own, each key is an object.
/// `Pages`: see record_space.hpp.
template <class K, class V, class Hash, class Allocator, unsigned AddressBits = 48, std::size_t Front = 0,
          class Equal = equal<K>, block_pages Pages = block_pages::huge>
class record_codec {
  using split = name_split<K>;
  using inner = inner_key<K>;
  static constexpr bool spaced = is_spaced<K>;
  static constexpr bool own_equality = has_own_equality<K, Equal>;
  static constexpr key_kind kind = own_equality ? kind_of_key<inner, Hash>() : key_kind::object;
  using record_type = record<inner, V, kind, spaced, Front>;
  using packed = record_word<AddressBits>;
  static constexpr std::size_t unit_size = alignof(record_type) > 8 ? alignof(record_type) : 8;
  struct alignas(unit_size) unit {
    std::byte raw[unit_size];
  };
  using unit_allocator = typename std::allocator_traits<Allocator>::template rebind_alloc<unit>;
  using unit_traits = std::allocator_traits<unit_allocator>;

  using shown_key = std::conditional_t<spaced || kind != key_kind::object, K, const inner&>;

  template <class Q> static constexpr bool asks_for_bytes() {
    return kind == key_kind::bytes && std::is_convertible_v<const inner_key<Q>&, std::string_view>;
  }
  template <class Q> static constexpr bool asks_for_object() {
    if constexpr (kind == key_kind::object && transparent_hash<Hash>) {
      return requires(const inner_key<Q>& q, const Hash& h) {
        { h(q) } -> std::convertible_to<std::uint64_t>;
        requires compares_with<inner_key<Q>>();
      };
    }
    return false;
  }
  template <class Q> static constexpr bool compares_with() {
    if constexpr (!own_equality)
      return transparent_hash<Equal> && std::is_invocable_r_v<bool, Equal, const inner&, const Q&>;
    else return comparable<const inner, const Q>;
  }

public:
  using key_type = K;
  using mapped_type = V;
  using hasher = Hash;
  using allocator_type = Allocator;
  using stored_key = std::uint64_t;
  using stored_value = std::uint64_t;
  using probe = record_probe<inner, kind>;
  static constexpr bool in_records = true;
  static constexpr bool has_values = !std::is_same_v<V, no_value>;
  static constexpr bool unique_words = true;
  static constexpr bool keys_can_differ = kind == key_kind::object; // although they are equal
  static constexpr bool disposes_plainly = !may_call_back<V> && !(kind == key_kind::object && may_call_back<inner>);
  static constexpr bin_mapping mapping = seeded_hash<Hash>::mapping;
  template <class Q>
  static constexpr bool accepts = null_text<Q, K> || (!std::is_same_v<Q, K> && is_spaced<Q> == spaced &&
                                                      (asks_for_bytes<Q>() || asks_for_object<Q>()));

  /// The same codec with space for the engine in its records.
  template <std::size_t Bytes, block_pages Chosen = block_pages::huge>
  using with_front = record_codec<K, V, Hash, Allocator, AddressBits, Bytes, Equal, Chosen>;

  record_codec(const Hash& h, const Allocator& a, std::uint64_t seed) : hash_(h, seed), allocator_(a) {}
  void reseed(std::uint64_t difference) noexcept { hash_.reseed(difference); }

  [[nodiscard]] const Hash& hash_function() const noexcept { return hash_.user(); }
  [[nodiscard]] const Allocator& allocator() const noexcept { return allocator_; }

  template <class Q> [[nodiscard]] CUBBY_ALWAYS_INLINE probe probe_of(const Q& asked) const {
    return make_probe(name_split<Q>::key(asked), name_split<Q>::space(asked));
  }
  template <null_text<K> Q> probe probe_of(const Q&) const { return refuse_null<probe, Q>(); }
  /// The probe of an entry; it may refer to the record, so use it inside the pin that showed the words.
  [[nodiscard]] probe probe_of_slot(std::uint64_t key_word, std::uint64_t value_word) const {
    const std::uint16_t space = space_of(value_word);
    if constexpr (kind == key_kind::bytes) {
      const std::uint32_t tag = tag_of_word(value_word);
      const std::uint64_t size = (tag & 15) == key_elsewhere ? at(value_word).info.size() : tag & 15;
      return {{hash_of(key_word, value_word), key_word}, tag, size, at(value_word).bytes()};
    } else if constexpr (kind == key_kind::word) {
      return {{hash_of(key_word, value_word), key_word}, tag_of(space, 0)};
    } else {
      const inner& key = at(value_word).key;
      return {{key_word, key_word}, tag_of(space, key_elsewhere), std::addressof(key), is_equal_to<inner>};
    }
  }
  static constexpr bool is_legal(const probe& p) noexcept { return p.tag != impossible_tag; }

  /// A new record, not yet visible to anyone. Not `ok` without memory; what K's or V's constructor throws passes. It moves from a key
  /// that is handed over (`K&&`); then the probe no longer serves, and `aimed_at` gives one that does.
  template <class Q, class... A> [[nodiscard]] made_word make(const probe& p, Q&& key, A&&... args) const {
    std::uint64_t size = p.tag & 15;
    std::size_t extra = 0;
    if constexpr (kind == key_kind::bytes) {
      size = p.size;
      extra = bytes_behind(size);
    }
    if constexpr (by_operator_new && kind != key_kind::object && std::is_nothrow_constructible_v<V, A...>) {
      unit* const units = take_space(extra);
      if (units == nullptr) [[unlikely]]
        return {false, 0};
      auto* const made = begin_record(units, p, size);
      unit_allocator a(allocator_);
      unit_traits::construct(a, std::addressof(made->value), std::forward<A>(args)...);
      return {true, packed::pack(made, p.tag)};
    }
    fresh space(*this, extra);
    if (space.units == nullptr) return {false, 0};
    auto* const made = begin_record(space.units, p, size);
    unit_allocator a(allocator_);
    if constexpr (kind == key_kind::object) {
      make_key(a, std::addressof(made->key), name_split<std::remove_cvref_t<Q>>::key(std::forward<Q>(key)));
      space.key = std::addressof(made->key);
    }
    unit_traits::construct(a, std::addressof(made->value), std::forward<A>(args)...);
    space.units = nullptr;
    return {true, packed::pack(made, p.tag)};
  }

  /// The same probe, but it refers to the key in this record instead of the caller's. Use it inside the pin that showed the word.
  [[nodiscard]] static probe aimed_at(const probe& p, [[maybe_unused]] std::uint64_t word) noexcept {
    probe out = p;
    if constexpr (kind == key_kind::bytes) out.data = at(word).bytes();
    if constexpr (kind == key_kind::object) {
      out.asked = std::addressof(at(word).key);
      out.equal = is_equal_to<inner>;
    }
    return out;
  }

  /// The key of an entry, as the user gave it; refers to the record where it can.
  [[nodiscard]] shown_key key([[maybe_unused]] std::uint64_t key_word, std::uint64_t value_word) const {
    if constexpr (spaced) {
      static_assert(std::is_copy_constructible_v<inner>, "a key in a namespace is shown as a copy");
      return K{space_of(value_word), inner(inner_of(key_word, value_word))};
    } else {
      return inner_of(key_word, value_word);
    }
  }
  [[nodiscard]] const V& value(std::uint64_t word) const noexcept { return at(word).value; }
  /// The key to put in the record that replaces this one: equal keys may differ, and the first one stays.
  template <class Q>
  [[nodiscard]] decltype(auto) kept_key([[maybe_unused]] std::uint64_t word, const Q& asked) const noexcept {
    if constexpr (kind == key_kind::object) return (static_cast<const inner&>(at(word).key));
    else return (asked);
  }

  // slot_policy
  [[nodiscard]] CUBBY_ALWAYS_INLINE bool matches(const probe& p, std::uint64_t value_word) const noexcept {
    if constexpr (record_type::has_info) {
      if (tag_of_word(value_word) != p.tag) return false;
    }
    if constexpr (kind == key_kind::bytes) {
      if (p.size <= bytes_in_slot) return true;
      const record_type& r = at(value_word);
      return r.info.bits == info_of(p).bits && is_same_text(r.bytes(), p.data, p.size);
    } else if constexpr (kind == key_kind::object) {
      // A scan asks for the stored key itself, which may be equal to no key: a NaN.
      return p.asked == std::addressof(at(value_word).key) || p.equal(p.asked, at(value_word).key);
    }
    return true;
  }
  /// From the words alone; a wide word of a byte key or of a key with a namespace has to read its record.
  [[nodiscard]] std::uint64_t hash_of(std::uint64_t key_word, std::uint64_t value_word) const noexcept {
    if constexpr (kind == key_kind::object) return key_word;
    if constexpr (kind == key_kind::bytes) {
      const std::uint32_t tag = tag_of_word(value_word);
      const std::uint32_t size = tag & 15;
      if (size > bytes_in_slot) return key_word;
      const std::uint64_t bits = key_word ^ mask_of(tag);
      return hash_(bytes_of_word(bits, size)) ^ hash_.salt_of(static_cast<std::uint16_t>(tag >> 4));
    }
    if constexpr (kind == key_kind::word) {
      return hash_(word_key_of(key_word, value_word)) ^ hash_.salt_of(space_of(value_word));
    }
  }
  /// What readers need of a record behind the engine's part: they do not read its link. Of an empty slot it is an address that nothing lies at.
  [[nodiscard]] const void* record_of(std::uint64_t word) const noexcept {
    return std::bit_cast<const void*>(std::bit_cast<std::uint64_t>(packed::address(word)) + sizeof(link_part) + Front);
  }
  /// The size of that, in a record whose key is the probe's.
  [[nodiscard]] static constexpr std::size_t record_size(const probe& p) noexcept {
    constexpr std::size_t read = sizeof(record_type) - sizeof(link_part) - Front;
    if constexpr (kind == key_kind::bytes) return read + bytes_behind(p.size);
    return read;
  }
  /// `Front` bytes, aligned to 8. They are the first ones that readers need.
  [[nodiscard]] static void* front_of(std::uint64_t word) noexcept
    requires(Front != 0)
  {
    return static_cast<record_type*>(packed::address(word))->front;
  }
  [[nodiscard]] std::uint64_t& retire_link(std::uint64_t word) const noexcept {
    return static_cast<record_type*>(packed::address(word))->link;
  }
  /// Asks for what `dispose` reads behind the record: of a text that is the value, what free() keeps in front of its bytes.
  void prefetch_owned(std::uint64_t word) const noexcept
    requires is_standard_text<V>
  {
    prefetch_line(static_cast<record_type*>(packed::address(word))->value.data() - sizeof(std::size_t));
  }
  void dispose(std::uint64_t word) const noexcept {
    auto& r = *static_cast<record_type*>(packed::address(word));
    unit_allocator a(allocator_);
    std::size_t extra = 0;
    if constexpr (kind == key_kind::bytes) extra = bytes_behind(r.info.size());
    unit_traits::destroy(a, std::addressof(r.value));
    if constexpr (kind == key_kind::object) unit_traits::destroy(a, std::addressof(r.key));
    r.~record_type();
    give_back(reinterpret_cast<unit*>(&r), extra);
  }

private:
  template <class Q> static bool is_equal_to(const void* asked, const inner& stored) noexcept {
    const Q& other = *static_cast<const Q*>(asked);
    if constexpr (!own_equality) return Equal{}(stored, other);
    else if constexpr (comparable<const inner, const Q>) return stored == other;
    else return false; // `checked_key` says so
  }
  template <class Q> static void make_key(unit_allocator& a, inner* to, Q&& from) {
    constexpr bool copied = std::is_copy_constructible_v<inner> || !std::is_same_v<Q, const inner&>;
    static_assert(copied,
                  "this call stores a copy of the key, and keys of this type only move: insert the key by std::move, "
                  "and erase it instead of changing its value");
    if constexpr (copied) unit_traits::construct(a, to, std::forward<Q>(from));
  }
  /// A record without its value and its key object.
  CUBBY_ALWAYS_INLINE static record_type* begin_record(unit* units, const probe& p,
                                                       [[maybe_unused]] std::uint64_t size) noexcept {
    auto* const made = ::new (static_cast<void*>(units)) record_type;
    if constexpr (kind == key_kind::bytes) {
      made->info = info_of(p);
      if (size > bytes_in_slot) copy_text(made->bytes(), p.data, size);
    } else if constexpr (record_type::has_info) {
      made->info = record_info::of(static_cast<std::uint16_t>(p.tag >> 4), size);
    }
    return made;
  }
  /// Memory under construction: given back, and the key destroyed, unless `units` is taken out.
  struct fresh {
    const record_codec& codec;
    std::size_t extra;
    unit* units;
    inner* key = nullptr;

    fresh(const record_codec& c, std::size_t behind) : codec(c), extra(behind), units(c.take_space(behind)) {}
    ~fresh() {
      if (units == nullptr) return;
      unit_allocator a(codec.allocator_);
      if (key != nullptr) unit_traits::destroy(a, key);
      codec.give_back(units, extra);
    }
    fresh(const fresh&) = delete;
    fresh& operator=(const fresh&) = delete;
  };

  [[nodiscard]] static constexpr std::size_t bytes_behind(std::uint64_t key_size) noexcept {
    return key_size > bytes_in_slot ? key_size : 0;
  }
  [[nodiscard]] static constexpr std::size_t units_for(std::size_t extra) noexcept {
    return (sizeof(record_type) + extra + unit_size - 1) / unit_size;
  }
  static constexpr bool by_operator_new = is_plain_allocator<unit_allocator>;

  [[nodiscard]] unit* take_space(std::size_t extra) const {
    return allocate_units(space_, unit_allocator(allocator_), units_for(extra));
  }
  void give_back(unit* record, std::size_t extra) const noexcept {
    deallocate_units(space_, unit_allocator(allocator_), record, units_for(extra));
  }

  /// Of the record of a byte key that a table may hold.
  [[nodiscard]] static constexpr record_info info_of(const probe& p) noexcept {
    return record_info::of(spaced ? static_cast<std::uint16_t>(p.tag >> 4) : 0, p.size);
  }
  [[nodiscard]] static const record_type& at(std::uint64_t word) noexcept {
    return *static_cast<const record_type*>(packed::address(word));
  }
  [[nodiscard]] static std::uint32_t tag_of_word(std::uint64_t word) noexcept {
    if constexpr (record_type::has_info) {
      if (packed::is_wide(word)) [[unlikely]]
        return at(word).info.tag();
    }
    return packed::near_tag(word);
  }
  [[nodiscard]] static std::uint16_t space_of([[maybe_unused]] std::uint64_t word) noexcept {
    if constexpr (spaced) return static_cast<std::uint16_t>(tag_of_word(word) >> 4);
    return 0;
  }
  /// What a slot's key word is covered with. Without it "no bytes" and every run of zero bytes, in every namespace,
  /// would have the same few words. Engines may keep these words for themselves, and have little space for such keys.
  static constexpr std::uint64_t mask_of(std::uint32_t tag) noexcept { return tag * mix_a; }
  [[nodiscard]] static inner word_key_of(std::uint64_t key_word, std::uint64_t value_word) noexcept {
    if constexpr (spaced) return from_bits<inner>(key_word ^ mask_of(tag_of_word(value_word)));
    return from_bits<inner>(key_word);
  }
  static std::string_view bytes_of_word(const std::uint64_t& key_word, std::size_t size) noexcept {
    return {reinterpret_cast<const char*>(&key_word), size};
  }

  [[nodiscard]] decltype(auto) inner_of(std::uint64_t key_word, std::uint64_t value_word) const {
    if constexpr (kind == key_kind::word) {
      return word_key_of(key_word, value_word);
    } else if constexpr (kind == key_kind::bytes) {
      const std::uint32_t tag = tag_of_word(value_word);
      const std::uint64_t bits = key_word ^ mask_of(tag);
      if (const std::uint32_t code = tag & 15; code <= bytes_in_slot) {
        return inner(reinterpret_cast<const char*>(&bits), code);
      }
      return inner(at(value_word).bytes(), at(value_word).info.size());
    } else {
      return (static_cast<const inner&>(at(value_word).key));
    }
  }

  template <class Q> [[nodiscard]] CUBBY_ALWAYS_INLINE probe make_probe(const Q& asked, std::uint16_t space) const {
    const bool known = space < namespace_count;
    const std::uint64_t salt = hash_.salt_of(space);
    if constexpr (kind == key_kind::word) {
      const std::uint64_t mask = spaced ? mask_of(tag_of(space, 0)) : 0;
      return {{hash_(asked) ^ salt, word_of(asked) ^ mask}, known ? tag_of(space, 0) : impossible_tag};
    } else if constexpr (kind == key_kind::bytes) {
      return make_bytes_probe(asked, space);
    } else {
      const std::uint64_t hashed = hash_(asked) ^ salt;
      return {{hashed, hashed},
              known ? tag_of(space, key_elsewhere) : impossible_tag,
              std::addressof(asked),
              is_equal_to<Q>};
    }
  }

  [[nodiscard]] CUBBY_ALWAYS_INLINE probe make_bytes_probe(std::string_view text, std::uint16_t space) const {
    const bool known = space < namespace_count;
    if (text.size() > bytes_in_slot) [[likely]] {
      const std::uint64_t hashed = hash_of_long(text) ^ hash_.salt_of(space);
      return {{hashed, hashed}, known ? tag_of(space, key_elsewhere) : impossible_tag, text.size(), text.data()};
    }
    const std::uint64_t bits = read_up_to_8(reinterpret_cast<const unsigned char*>(text.data()), text.size());
    const std::uint32_t tag = known ? tag_of(space, code_of_size(text.size())) : impossible_tag;
    return {{hash_of_short(bits, text) ^ hash_.salt_of(space), bits ^ mask_of(tag)}, tag, text.size(), text.data()};
  }
  [[nodiscard]] CUBBY_ALWAYS_INLINE std::uint64_t hash_of_long(std::string_view text) const {
    if constexpr (hashes_bytes<Hash>) return hash_.of_long_text(text.data(), text.size());
    else return hash_(text);
  }
  [[nodiscard]] CUBBY_ALWAYS_INLINE std::uint64_t hash_of_short([[maybe_unused]] std::uint64_t bits,
                                                                std::string_view text) const {
    if constexpr (hashes_bytes<Hash>) return hash_.of_short_text(bits, text.size());
    else return hash_(text.data() != nullptr ? text : std::string_view("", 0));
  }

  [[no_unique_address]] seeded_hash<Hash> hash_;
  [[no_unique_address]] Allocator allocator_;
  [[no_unique_address]] space_for<unit_allocator, Pages> space_;
};

} // namespace cubby::inline v0::detail
