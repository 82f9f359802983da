// SPDX-License-Identifier: Apache-2.0
// Tables of the iceberg engine as adapters, and names for their words: `front[0].state`, `front[1].slot[3].key[0]`, `back[0].tags`,
// `chain[2].first`. Buckets are numbered over all segments. Keys are words, pairs of words, or texts: even numbers become texts that
// lie in the slot, odd ones texts with a key record.
#include <cstdlib>
#include <string_view>

#include <cubby/iceberg.hpp>

#include "explore/name_words.hpp"

namespace cubby_test {
namespace {

namespace iceberg = cubby::detail::engines::iceberg;
template <class Engine>
using iceberg_table = iceberg::table<typename Engine::policy>;

/// The index of the object of `all` that has the address in it; `count` if none has.
template <class T>
std::uint64_t index_in(const T* all, std::uint64_t count, const void* address) {
  const auto from = reinterpret_cast<std::uintptr_t>(all);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return at < from || at >= from + count * sizeof(T) ? count : (at - from) / sizeof(T);
}

template <class Slot>
std::string name_in_slot(const Slot& s, const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto key = reinterpret_cast<std::uintptr_t>(&s.key), value = reinterpret_cast<std::uintptr_t>(&s.value);
  return at >= value ? "value[" + std::to_string((at - value) / 8) + "]"
                     : "key[" + std::to_string((at - key) / 8) + "]";
}
template <class Slot>
std::string name_in_yard(const Slot* slots, std::uint64_t buckets, unsigned size, const void* address) {
  const std::uint64_t i = index_in(slots, buckets * size, address);
  if (i == buckets * size) return {};
  return std::to_string(i / size) + "].slot[" + std::to_string(i % size) + "]." + name_in_slot(slots[i], address);
}

template <class Segment>
std::string name_in_segment(const Segment& s, const void* address) {
  if (const auto i = index_in(s.lines, s.fronts, address); i != s.fronts) {
    const std::string name = "front[" + std::to_string(i) + "].";
    return address == &s.lines[i].state ? name + "state" : name + "tags";
  }
  if (const auto i = index_in(s.back_lines, s.backs, address); i != s.backs)
    return "back[" + std::to_string(i) + "].tags";
  if (s.back_versions != nullptr) {
    if (const auto i = index_in(s.back_versions, s.backs, address); i != s.backs)
      return "back[" + std::to_string(i) + "].version";
  }
  constexpr unsigned in_front = iceberg::front_slots<std::remove_pointer_t<decltype(s.slots)>>;
  if (std::string name = name_in_yard(s.slots, s.fronts, in_front, address); !name.empty()) return "front[" + name;
  if (std::string name = name_in_yard(s.behind, s.backs, iceberg::back_slots, address); !name.empty())
    return "back[" + name;
  return {};
}

template <class Table>
std::string name_in_iceberg(const Table& t, const void* address) {
  if (address == &t.root) return "table.root";
  if (address == &t.duty) return "table.duty";
  if (address == &t.resize_lock) return "table.resize_lock";
  if (address == &t.holds_lock) return "table.holds_lock";
  if (address == &t.work.cursor) return "table.cursor";
  if (address == &t.work.done) return "table.done";
  if (address == &t.merges) return "table.merges";
  if (address >= &t.worker && address < &t.worker + 1) return "table.worker";
  if (const auto i = index_in(t.segments, iceberg::most_levels + 1, address); i <= iceberg::most_levels)
    return "segments[" + std::to_string(i) + "]";
  if (address == &t.chain_arrays) return "table.chain_arrays";
  std::string chain;
  iceberg::for_each_chain_array(t, [&](const iceberg::chain_array& in) {
    if (const auto i = index_in(in.heads, in.count, address); i < in.count)
      chain = "chain[" + std::to_string(i) + (address == &in.heads[i].first ? "].first" : "].lock");
  });
  if (!chain.empty()) return chain;
  const auto relaxed = cubby::detail::sync::relaxed;
  for (unsigned n = 0; n <= iceberg::first_root(t).level(); ++n) {
    const auto* const s = t.segments[n].load(relaxed);
    if (std::string name = s != nullptr ? name_in_segment(*s, address) : ""; !name.empty())
      return std::string(1, static_cast<char>('A' + n)) + "." + name;
  }
  return {};
}

template <class Key>
struct of_iceberg {
  static constexpr bool scans_may_repeat = true;
  template <class Map>
  static std::string name(const Map& m, const void* address) {
    return name_in_iceberg(cubby::detail::engine_access::of(m).*table_member(Key{}), address);
  }
  /// Begins a growth or a shrink to so many front buckets, unless a move is under way. False: no memory.
  template <class Map>
  static bool resize(const Map& m, std::uint64_t fronts) {
    auto& t = cubby::detail::engine_access::of(m).*table_member(Key{});
    const iceberg::root_word r = iceberg::first_root(t);
    const std::uint64_t now = t.fronts << r.level();
    return r.moving() || now == fronts || iceberg::begin_move(t, r, fronts < now);
  }
  /// Moves one unit. False: there is none.
  template <class Map>
  static bool pass(const Map& m, cubby::detail::thread_record& mine) {
    auto& t = cubby::detail::engine_access::of(m).*table_member(Key{});
    const cubby::detail::thread_pin stay(mine);
    return iceberg::move_share(t, mine, 1) == iceberg::share::more;
  }
};

/// Both words come from one number, and different numbers share one of them.
struct pair_key {
  std::array<std::uint64_t, 2> at{};
  bool operator==(const pair_key&) const = default;
};
struct hash_of_pairs {
  using is_avalanching = void;
  std::uint64_t operator()(const pair_key& key) const noexcept { return scattered_hash()(key.at[0] | key.at[1] << 8); }
};

struct hash_of_texts {
  using is_avalanching = void;
  using is_transparent = void;
  std::uint64_t operator()(std::string_view text) const noexcept {
    std::uint64_t number = 0;
    for (const char c : text.substr(0, text.find('-'))) number = number * 10 + static_cast<unsigned char>(c - '0');
    return scattered_hash()(number);
  }
};

} // namespace
} // namespace cubby_test

template <> inline constexpr bool cubby::bits_are_equality<cubby_test::pair_key> = true;

namespace cubby_test {

struct iceberg_words_key;
struct iceberg_pairs_key;
struct iceberg_texts_key;
struct iceberg_words_coding : explored_words<cubby::iceberg>, of_iceberg<iceberg_words_key> {
  using of_iceberg<iceberg_words_key>::scans_may_repeat;
  using of_iceberg<iceberg_words_key>::name;
  using hash = scattered_hash;
};
struct iceberg_pairs_coding : explored_words<cubby::iceberg>, of_iceberg<iceberg_pairs_key> {
  using of_iceberg<iceberg_pairs_key>::scans_may_repeat;
  using of_iceberg<iceberg_pairs_key>::name;
  using hash = hash_of_pairs;
  using key_type = pair_key;
  using value = wide_value;
  static key_type encode_key(std::uint64_t n) { return {{n & 0xff, n >> 8}}; }
  static std::uint64_t decode_key(const key_type& key) { return key.at[0] | key.at[1] << 8; }
  static value encode(std::uint64_t n) { return {n, ~n, n * 3}; }
  static std::uint64_t decode(const value& v) { return v == encode(v.number) ? v.number : torn; }
};
struct iceberg_texts_coding : explored_words<cubby::iceberg>, of_iceberg<iceberg_texts_key> {
  using of_iceberg<iceberg_texts_key>::scans_may_repeat;
  using of_iceberg<iceberg_texts_key>::name;
  using hash = hash_of_texts;
  using key_type = std::string;
  static key_type encode_key(std::uint64_t n) { return std::to_string(n) + (n % 2 == 0 ? "" : std::string(30, '-')); }
  static std::uint64_t decode_key(const key_type& key) { return std::strtoull(key.c_str(), nullptr, 10); }
};
using words_engine = explored_map<iceberg_words_coding>::engine_type;
using pairs_engine = explored_map<iceberg_pairs_coding>::engine_type;
using texts_engine = explored_map<iceberg_texts_coding>::engine_type;
static_assert(iceberg::slot_of<pairs_engine::policy>::wide_key && iceberg::wide_value<pairs_engine::policy>);
static_assert(cubby::detail::key_owning_policy<texts_engine::policy>);
struct iceberg_words_key {
  friend constexpr iceberg_table<words_engine> words_engine::* table_member(iceberg_words_key);
};
struct iceberg_pairs_key {
  friend constexpr iceberg_table<pairs_engine> pairs_engine::* table_member(iceberg_pairs_key);
};
struct iceberg_texts_key {
  friend constexpr iceberg_table<texts_engine> texts_engine::* table_member(iceberg_texts_key);
};
template struct open_door<iceberg_words_key, &words_engine::table_>;
template struct open_door<iceberg_pairs_key, &pairs_engine::table_>;
template struct open_door<iceberg_texts_key, &texts_engine::table_>;

run_state make_iceberg_words(const scenario& s) { return make_map<iceberg_words_coding>(s); }
run_state make_iceberg_pairs(const scenario& s) { return make_map<iceberg_pairs_coding>(s); }
run_state make_iceberg_texts(const scenario& s) { return make_map<iceberg_texts_coding>(s); }

} // namespace cubby_test
