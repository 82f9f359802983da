// SPDX-License-Identifier: Apache-2.0
// The words of a slot: how they are read, written and compared with a query. One word or several.
#pragma once

#include <cubby/detail/engines/iceberg/table.hpp>
#include <cubby/detail/platform/texts.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

template <class Policy> inline constexpr bool wide_value = word_count<typename Policy::stored_value> > 1;
/// Whether a lookup has to wait for a change that is under way: words of a value, or a change that is not durable yet.
template <class Policy> inline constexpr bool waits_for_writer = wide_value<Policy> || durable<Policy>;

/// The value words. Each is read at once; `lookup` proves that they belong together.
template <class Policy> CUBBY_ALWAYS_INLINE typename Policy::stored_value
value_in([[maybe_unused]] const slot_of<Policy>& s) noexcept {
  using stored = typename Policy::stored_value;
  if constexpr (word_count<stored> == 0) {
    return {};
  } else if constexpr (requires { stored::count; }) {
    stored out{};
    // [value-word] acquire: pairs with [put-value]
    for_each_word<stored::count>([&](std::size_t i) CUBBY_INLINED { out.at[i] = s.value[i].load(sync::acquire); });
    return out;
  } else {
    // [value-word] acquire: pairs with [put-value]
    return s.value[0].load(sync::acquire);
  }
}
template <class Policy> CUBBY_ALWAYS_INLINE typename Policy::stored_key key_in(const slot_of<Policy>& s) noexcept {
  using stored = typename Policy::stored_key;
  if constexpr (requires { stored::count; }) {
    stored out{};
    // [key-word] acquire: pairs with [put-key]
    for_each_word<stored::count>([&](std::size_t i) CUBBY_INLINED { out.at[i] = s.key[i].load(sync::acquire); });
    return out;
  } else {
    // [key-word] acquire: pairs with [put-key]
    return s.key[0].load(sync::acquire);
  }
}
template <class Probe> CUBBY_ALWAYS_INLINE auto key_asked(const Probe& p) noexcept {
  if constexpr (requires { p.word; }) return p.word;
  else return p.key;
}

template <class Policy>
CUBBY_ALWAYS_INLINE void put_value([[maybe_unused]] slot_of<Policy>& s,
                                   [[maybe_unused]] const typename Policy::stored_value& value) noexcept {
  if constexpr (word_count<typename Policy::stored_value> == 0) {
    return;
  } else if constexpr (requires { value.at; }) {
    // [put-value] release: pairs with [value-word]
    for_each_word<Policy::stored_value::count>([&](std::size_t i)
                                                   CUBBY_INLINED { s.value[i].store(value.at[i], sync::release); });
  } else {
    // [put-value] release: pairs with [value-word]
    s.value[0].store(value, sync::release);
  }
}
/// Writes an entry into an empty slot: value words first (I4).
template <class Policy>
CUBBY_ALWAYS_INLINE void put_entry(slot_of<Policy>& s, const typename Policy::stored_key& key,
                                   const typename Policy::stored_value& value) noexcept {
  put_value<Policy>(s, value);
  if constexpr (requires { key.at; }) {
    // [put-key] release: pairs with [key-word]; a lookup that reads it sees the value words
    for_each_word<Policy::stored_key::count>([&](std::size_t i)
                                                 CUBBY_INLINED { s.key[i].store(key.at[i], sync::release); });
  } else {
    // [put-key] release: pairs with [key-word]; a lookup that reads it sees the value words
    s.key[0].store(key, sync::release);
  }
}

/// Whether a lookup has the text of its key at hand, and not in words.
template <class Policy, class Probe> inline constexpr bool is_text_query = [] {
  if constexpr (key_owning_policy<Policy>) return std::is_same_v<Probe, typename Policy::query>;
  else return false;
}();
/// Whether the key of a slot is the text of the query, which fits in a slot. The words of the slot are read as `key_in` reads them.
template <class Policy, class Query>
CUBBY_ALWAYS_INLINE bool has_short_text(const slot_of<Policy>& s, const Query& q) noexcept {
  constexpr std::size_t count = Policy::stored_key::count;
  if (!texts::fills<count * 8>(&s.key[0], q.data, q.size)) return false;
  // [key-word] acquire: pairs with [put-key]
  return s.key[count - 1].load(sync::acquire) >> 56 == q.size;
}

/// Whether the key of a slot is that of the query. Of records only the word of the hash is compared here; `matches` compares whole keys.
/// `is_whole()`: whether the words that were read are those of one entry. A key outside the slot is read only if they are. If they are
/// not, the answer is true, and the caller finds the changed version and looks again.
template <class Policy, class Probe, class Whole>
CUBBY_ALWAYS_INLINE bool has_key_words([[maybe_unused]] const table<Policy>& t, const slot_of<Policy>& s,
                                       const Probe& p, const Whole& is_whole) noexcept {
  if constexpr (is_text_query<Policy, Probe> && sizeof(typename Policy::stored_key) > cpu::cache_line / 2) {
    if (texts::compares_whole(t.unit, p.data, p.size) && !Policy::needs_record(p)) [[likely]]
      return has_short_text<Policy>(s, p);
  }
  auto key = key_in<Policy>(s);
  if constexpr (key_owning_policy<Policy>) {
    if (!Policy::has_words(p, key)) return false;
    return !Policy::needs_record(p) || !is_whole() || Policy::has_text(p, key);
  } else {
    return key == key_asked(p);
  }
}
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE bool matches(const Policy& policy, const Probe& p,
                                 const typename Policy::stored_value& value) noexcept {
  if constexpr (requires { policy.matches(p, value); }) return policy.matches(p, value);
  else return true;
}

template <class Policy>
std::uint64_t hash_of_words(const Policy& policy, const typename Policy::stored_key& key,
                            const typename Policy::stored_value& value) noexcept {
  if constexpr (tuple_policy<Policy>) return policy.hash_of(key);
  else return policy.hash_of(key, value);
}
template <class Policy> std::uint64_t hash_of_slot(const Policy& policy, const slot_of<Policy>& s) noexcept {
  return hash_of_words(policy, key_in<Policy>(s), value_in<Policy>(s));
}

/// Whether a key cannot be in a slot, because its commit word would say that the slot is empty.
template <class Policy>
CUBBY_ALWAYS_INLINE bool is_zero_key([[maybe_unused]] const typename Policy::stored_key& key) noexcept {
  if constexpr (durable<Policy> && std::is_same_v<typename Policy::stored_key, std::uint64_t>)
    return key == 0 && !Policy::in_records;
  else return false;
}
/// Whether these words of a node were read while its entry was erased. The commit word is read last, so the others are whole if it is.
template <class Policy>
CUBBY_ALWAYS_INLINE bool is_being_erased([[maybe_unused]] const typename Policy::stored_key& key) noexcept {
  if constexpr (!durable<Policy>) return false;
  else if constexpr (requires { key.at; }) return key.at[key.count - 1] == 0;
  else return key == 0 && !is_zero_key<Policy>(key);
}

} // namespace cubby::inline v0::detail::engines::iceberg
