// SPDX-License-Identifier: Apache-2.0
// Names for the words of a table of arrays (engines/dramhit/arrays.hpp), so that a trace can be read: `table.root`, `A.cursor`. What
// lies in an array is named by its engine.
#pragma once

#include "explore/name_words.hpp"

namespace cubby_test {

/// What every array has beside its slots or tuples.
template <class Array>
std::string name_of_moves(const Array& at, const void* address) {
  if (address == &at.next) return "next";
  if (address == &at.arriving) return "arriving";
  if (address == &at.cursor) return "cursor";
  if (address == &at.done) return "done";
  return {};
}

template <class Table>
std::string name_of_state(const Table& t, const void* address) {
  if (address == &t.root) return "table.root";
  if (address == &t.maintenance) return "table.maintenance";
  if (address == &t.grow_lock) return "table.grow_lock";
  if (address == &t.shape_lock) return "table.shape_lock";
  if (address == &t.retired.lock) return "table.retired_lock";
  if (address == &t.ticks) return "table.ticks";
  if (address == &t.looks) return "table.looks";
  if (address == &t.has_no_worker) return "table.has_no_worker";
  if (address >= &t.worker && address < &t.worker + 1) return "table.worker";
  const auto word = reinterpret_cast<std::uintptr_t>(address);
  const auto claims = reinterpret_cast<std::uintptr_t>(&t.claims), erases = reinterpret_cast<std::uintptr_t>(&t.erases);
  if (word >= claims && word < claims + sizeof t.claims)
    return "claims of thread record " + std::to_string((word - claims) / 64);
  if (word >= erases && word < erases + sizeof t.erases)
    return "erases of thread record " + std::to_string((word - erases) / 64);
  return {};
}

/// `name_inside(array, address)`: empty when it is not of that array.
template <class Table, class NameInside>
std::string name_in_arrays(const Table& t, const void* address, NameInside name_inside) {
  if (std::string name = name_of_state(t, address); !name.empty()) return name;
  std::vector<const typename Table::array_type*> all;
  for (const auto* at = t.retired.newest(); at != nullptr; at = at->next_retired) all.insert(all.begin(), at);
  for (const auto* at = t.root.load(cubby::detail::sync::acquire); at != nullptr;
       at = at->next.load(cubby::detail::sync::acquire)) {
    if (all.empty() || all.back() != at) all.push_back(at);
  }
  const auto relaxed = cubby::detail::sync::relaxed;
  const std::uint64_t made = 1 + t.growths.load(relaxed) + t.shrinks.load(relaxed) + t.rebuilds.load(relaxed);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = name_inside(*all[i], address);
    const auto letter = static_cast<char>('A' + (made + i - all.size()) % 26);
    if (!name.empty()) return std::string(1, letter) + "." + name;
  }
  return {};
}

} // namespace cubby_test
