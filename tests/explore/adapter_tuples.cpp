// SPDX-License-Identifier: Apache-2.0
// Tables of DRAMHiT's tuples as adapters, and names for their words: `A.tuple[5].header`, `B.tuple[0].value[3]`. Tuples of
// words are half a line, and their keys of one place have one tag; the others fill a line, and each key has a tag of its own.
#include <cubby/dramhit_tuples.hpp>

#include "explore/name_arrays.hpp"

namespace cubby_test {
namespace {

namespace dramhit = cubby::detail::engines::dramhit;
template <class Engine>
using tuple_table = dramhit::table<typename Engine::policy>;

template <class Policy>
std::string name_in_tuples(const dramhit::tuple_array<Policy>& at, const void* address) {
  constexpr std::size_t size = sizeof(*at.slots);
  const auto from = reinterpret_cast<std::uintptr_t>(at.slots);
  const auto word = reinterpret_cast<std::uintptr_t>(address);
  if (word < from || word >= from + at.slot_count() * size) return name_of_moves(at, address);
  const std::string name = "tuple[" + std::to_string((word - from) / size) + "].";
  const std::size_t number = (word - from) % size / 8;
  if (number == 0) return name + "header";
  constexpr std::size_t keys = Policy::stored_key::count;
  return number <= keys ? name + "key" : name + "value[" + std::to_string(number - 1 - keys) + "]";
}

/// For a coding: names by way of the door of `Key`, and scans that may meet an entry again where it has moved to.
template <class Key>
struct of_tuples {
  static constexpr bool scans_may_repeat = true;
  template <class Map>
  static std::string name(const Map& m, const void* address) {
    return name_in_arrays(cubby::detail::engine_access::of(m).*table_member(Key{}), address,
                          [](const auto& at, const void* one) { return name_in_tuples(at, one); });
  }
};

/// As placed_hash; the low bits, which choose no line, tell keys of one place apart, so that their tags differ.
struct placed_and_told_apart {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key << 48 | key >> 16; }
};
constexpr std::uint64_t tag_of_key(std::uint64_t key) { return dramhit::tag_of_hash(key << 48 | key >> 16); }
static_assert(tag_of_key(key_at(0, 1)) != tag_of_key(key_at(0, 2)) && tag_of_key(key_at(0, 1)) != tag_of_key(1));

/// With an 8-byte key and the header, a line. Every word comes from one number, so that half of another value is seen.
struct line_value {
  std::array<std::uint64_t, 6> at{};
  // One by one: of the default g++ 12 believes at -O1 that it may be handed no address.
  bool operator==(const line_value& other) const {
    std::uint64_t differ = 0;
    for (std::size_t i = 0; i < at.size(); ++i) differ |= at[i] ^ other.at[i];
    return differ == 0;
  }
};

} // namespace

struct tuple_words_key;
struct tuple_lines_key;
struct tuple_words_coding : explored_words<cubby::dramhit_tuples>, of_tuples<tuple_words_key> {
  using of_tuples<tuple_words_key>::scans_may_repeat;
  using of_tuples<tuple_words_key>::name;
};
struct tuple_lines_coding : explored_words<cubby::dramhit_tuples>, of_tuples<tuple_lines_key> {
  using of_tuples<tuple_lines_key>::scans_may_repeat;
  using of_tuples<tuple_lines_key>::name;
  using hash = placed_and_told_apart;
  using value = line_value;
  static value encode(std::uint64_t n) { return {{n, ~n, n * 3, n * 5, n * 7, n * 9}}; }
  static std::uint64_t decode(const value& v) { return v == encode(v.at[0]) ? v.at[0] : torn; }
};
using words_engine = explored_map<tuple_words_coding>::engine_type;
using lines_engine = explored_map<tuple_lines_coding>::engine_type;
static_assert(dramhit::tuple_words<lines_engine::policy> + 1 == cubby::detail::cpu::cache_line / 8);
struct tuple_words_key {
  friend constexpr tuple_table<words_engine> words_engine::* table_member(tuple_words_key);
};
struct tuple_lines_key {
  friend constexpr tuple_table<lines_engine> lines_engine::* table_member(tuple_lines_key);
};
template struct open_door<tuple_words_key, &words_engine::table_>;
template struct open_door<tuple_lines_key, &lines_engine::table_>;

run_state make_tuple_words(const scenario& s) { return make_map<tuple_words_coding>(s); }
run_state make_tuple_lines(const scenario& s) { return make_map<tuple_lines_coding>(s); }

} // namespace cubby_test
