// SPDX-License-Identifier: Apache-2.0
// Tables of the DRAMHiT room as subjects, and names for their words: `A.slot[5].key`, `B.cell[0]`, `table.root`.
#include <cubby/engine/dramhit/dramhit.hpp>

#include "explore/name_words.hpp"

namespace cubby_test {
namespace {

namespace room = cubby::engines::dramhit;
template <class Engine>
using dramhit_table = room::table<typename Engine::policy, cubby::sync::shared>;
using array_type = room::array<cubby::sync::shared>;

std::string name_in_array(const array_type& at, const void* address) {
  if (address == &at.next) return "next";
  if (address == &at.arriving) return "arriving";
  if (address == &at.cursor) return "cursor";
  if (address == &at.done) return "done";
  if (address == &at.side_taken) return "side_taken";
  if (address == &at.side_live) return "side_live";
  const auto from = reinterpret_cast<std::uintptr_t>(at.slots);
  const auto word = reinterpret_cast<std::uintptr_t>(address);
  const auto cells = from + at.all_slots() * sizeof(*at.slots);
  if (word < from || word >= cells + at.units() * sizeof(*at.cells)) return {};
  return word < cells ? slot_name(word - from) : "cell[" + std::to_string((word - cells) / sizeof(*at.cells)) + "]";
}

template <class Table>
std::string name_in_dramhit(const Table& t, const void* address) {
  if (address == &t.root) return "table.root";
  if (address == &t.grow_lock) return "table.grow_lock";
  if (address == &t.shape_lock) return "table.shape_lock";
  if (address == &t.retired.lock) return "table.retired_lock";
  if (address == &t.ticks) return "table.ticks";
  if (address == &t.unmanned) return "table.unmanned";
  if (address >= &t.worker && address < &t.worker + 1) return "table.worker";
  const auto word = reinterpret_cast<std::uintptr_t>(address);
  const auto claims = reinterpret_cast<std::uintptr_t>(&t.claims), erases = reinterpret_cast<std::uintptr_t>(&t.erases);
  if (word >= claims && word < claims + sizeof t.claims)
    return "claims of seat " + std::to_string((word - claims) / 64);
  if (word >= erases && word < erases + sizeof t.erases)
    return "erases of seat " + std::to_string((word - erases) / 64);
  std::vector<const array_type*> all;
  for (const auto* at = t.retired.newest(); at != nullptr; at = at->next_retired) all.insert(all.begin(), at);
  for (const auto* at = t.root.load(cubby::sync::acquire); at != nullptr; at = at->next.load(cubby::sync::acquire)) {
    if (all.empty() || all.back() != at) all.push_back(at);
  }
  const auto relaxed = cubby::sync::relaxed;
  const std::uint64_t made = 1 + t.growths.load(relaxed) + t.shrinks.load(relaxed) + t.rebuilds.load(relaxed);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = name_in_array(*all[i], address);
    const auto letter = static_cast<char>('A' + (made + i - all.size()) % 26);
    if (!name.empty()) return std::string(1, letter) + "." + name;
  }
  return {};
}

/// For a coding: names by way of the door of `Key`.
template <class Key>
struct with_room_names {
  template <class Map>
  static std::string name(const Map& m, const void* address) {
    return name_in_dramhit(m.engine().*table_member(Key{}), address);
  }
};

} // namespace

struct dramhit_words_key;
struct dramhit_records_key;
struct dramhit_words_coding : explored_words<cubby::dramhit> {
  static constexpr bool walks_may_repeat = true;
  template <class Map>
  static std::string name(const Map& m, const void* address) {
    return with_room_names<dramhit_words_key>::name(m, address);
  }
};
struct dramhit_records_coding : explored_records<cubby::dramhit> {
  static constexpr bool walks_may_repeat = true;
  template <class Map>
  static std::string name(const Map& m, const void* address) {
    return with_room_names<dramhit_records_key>::name(m, address);
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
