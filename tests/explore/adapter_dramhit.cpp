// SPDX-License-Identifier: Apache-2.0
// Tables of the DRAMHiT engine as adapters, and names for their words: `A.slot[5].key`, `B.cell[0]`, `table.root`.
#include <cubby/dramhit.hpp>

#include "explore/name_arrays.hpp"

namespace cubby_test {
namespace {

namespace dramhit = cubby::detail::engines::dramhit;
template <class Engine>
using dramhit_table = dramhit::table<typename Engine::policy>;
using array_type = dramhit::word_array;

std::string name_in_array(const array_type& at, const void* address) {
  if (address == &at.side_taken) return "side_taken";
  if (address == &at.side_live) return "side_live";
  const auto from = reinterpret_cast<std::uintptr_t>(at.slots);
  const auto word = reinterpret_cast<std::uintptr_t>(address);
  const auto cells = from + at.all_slots() * sizeof(*at.slots);
  if (word < from || word >= cells + at.units() * sizeof(*at.cells)) return name_of_moves(at, address);
  return word < cells ? slot_name(word - from) : "cell[" + std::to_string((word - cells) / sizeof(*at.cells)) + "]";
}

/// For a coding: names by way of the door of `Key`.
template <class Key>
struct with_array_names {
  template <class Map>
  static std::string name(const Map& m, const void* address) {
    return name_in_arrays(cubby::detail::engine_access::of(m).*table_member(Key{}), address, name_in_array);
  }
};

} // namespace

struct dramhit_words_key;
struct dramhit_records_key;
struct dramhit_words_coding : explored_words<cubby::dramhit> {
  static constexpr bool scans_may_repeat = true;
  template <class Map>
  static std::string name(const Map& m, const void* address) {
    return with_array_names<dramhit_words_key>::name(m, address);
  }
};
struct dramhit_records_coding : explored_records<cubby::dramhit> {
  static constexpr bool scans_may_repeat = true;
  template <class Map>
  static std::string name(const Map& m, const void* address) {
    return with_array_names<dramhit_records_key>::name(m, address);
  }
};
using words_engine = explored_map<dramhit_words_coding>::engine_type;
using records_engine = explored_map<dramhit_records_coding>::engine_type;
struct dramhit_words_key {
  friend constexpr dramhit_table<words_engine> words_engine::* table_member(dramhit_words_key);
};
struct dramhit_records_key {
  friend constexpr dramhit_table<records_engine> records_engine::* table_member(dramhit_records_key);
};
template struct open_door<dramhit_words_key, &words_engine::table_>;
template struct open_door<dramhit_records_key, &records_engine::table_>;

run_state make_dramhit_words(const scenario& s) { return make_map<dramhit_words_coding>(s); }
run_state make_dramhit_records(const scenario& s) { return make_map<dramhit_records_coding>(s); }

} // namespace cubby_test
