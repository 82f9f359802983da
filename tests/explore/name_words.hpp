// SPDX-License-Identifier: Apache-2.0
// Names for the words of a DLHT table, so that a trace can be read: `A.bin[0].slot[1].key`, `B.cursor`, `table.grow_lock`.
// Traces alone look behind the API, by the one door that the language leaves open: an explicit instantiation may name
// a private member.
#pragma once

#include <string>
#include <vector>

#include "explore/map_adapter.hpp"

namespace cubby_test {

template <class Engine>
using table_in = cubby::detail::engines::dlht::table<typename Engine::policy, cubby::detail::sync::shared>;

/// Gives `table_member(Key)` its body; `Key` declares it as a friend.
template <class Key, auto Member>
struct open_door {
  friend constexpr decltype(Member) table_member(Key) { return Member; }
};

/// All indexes that have not been freed, the oldest first.
template <class Table>
std::vector<const typename Table::generation_type*> living_indexes(const Table& t) {
  std::vector<const typename Table::generation_type*> all;
  for (const auto* at = t.retired.newest(); at != nullptr; at = at->next_retired) all.insert(all.begin(), at);
  for (const auto* at = t.root.load(cubby::detail::sync::acquire); at != nullptr;
       at = at->next.load(cubby::detail::sync::acquire)) {
    if (all.empty() || all.back() != at) all.push_back(at);
  }
  return all;
}

inline std::string slot_name(std::size_t offset) {
  return "slot[" + std::to_string(offset / 16) + "]" + (offset % 16 == 0 ? ".key" : ".value");
}

template <class Index>
std::string name_in_index(const Index& at, const void* address) {
  if (address == &at.next) return "next";
  if (address == &at.frozen) return "frozen";
  if (address == &at.links_used) return "links_used";
  if (address == &at.cursor) return "cursor";
  if (address == &at.done) return "done";
  if (address == &at.links_moved) return "links_moved";
  if (address == &at.missed) return "missed";
  const auto from = reinterpret_cast<std::uintptr_t>(at.bins);
  const auto word = reinterpret_cast<std::uintptr_t>(address);
  const auto lines = at.bin_count + 1 + at.link_count;
  if (word < from || word >= from + lines * 64) return {};
  const auto line = (word - from) / 64, offset = (word - from) % 64;
  if (line > at.bin_count) return "link[" + std::to_string(line - at.bin_count - 1) + "]." + slot_name(offset);
  const std::string bin = line == at.bin_count ? "side_bin." : "bin[" + std::to_string(line) + "].";
  return bin + (offset == 0 ? "header" : offset == 8 ? "links" : slot_name(offset - 16));
}

template <class Table>
std::string name_in_table(const Table& t, const void* address) {
  if (address == &t.root) return "table.root";
  if (address == &t.maintenance) return "table.maintenance";
  if (address == &t.grow_lock) return "table.grow_lock";
  if (address == &t.shape_lock) return "table.shape_lock";
  if (address == &t.retired.lock) return "table.retired_lock";
  if (address == &t.ticks) return "table.ticks";
  if (address == &t.looks) return "table.looks";
  if (address == &t.has_no_worker) return "table.has_no_worker";
  if (address >= &t.worker && address < &t.worker + 1) return "table.worker";
  const auto from = reinterpret_cast<std::uintptr_t>(&t.entries);
  const auto word = reinterpret_cast<std::uintptr_t>(address);
  if (word >= from && word < from + sizeof t.entries)
    return "size of thread record " + std::to_string((word - from) / 64);
  const auto all = living_indexes(t);
  const auto relaxed = cubby::detail::sync::relaxed;
  const std::uint64_t made = 1 + t.growths.load(relaxed) + t.shrinks.load(relaxed) + t.rebuilds.load(relaxed);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = name_in_index(*all[i], address);
    const auto letter = static_cast<char>('A' + (made + i - all.size()) % 26);
    if (!name.empty()) return std::string(1, letter) + "." + name;
  }
  return {};
}

/// For a coding: names by way of the door of `Key`.
template <class Key>
struct with_names {
  template <class Map>
  static std::string name(const Map& m, const void* address) {
    return name_in_table(cubby::detail::engine_access::of(m).*table_member(Key{}), address);
  }
};

} // namespace cubby_test
