// SPDX-License-Identifier: Apache-2.0
// What scenarios are put together from.
#pragma once

#include "explore/scenario.hpp"

namespace cubby_test {

inline constexpr table_kind our_tables[] = {table_kind::words, table_kind::records};
inline constexpr table_kind every_table[] = {table_kind::words, table_kind::records, table_kind::reference_words,
                                             table_kind::reference_records};

/// Keys that share a bin of every index.
inline constexpr std::uint64_t k1 = key_at(0, 1), k2 = key_at(0, 2), k3 = key_at(0, 3), k4 = key_at(0, 4);

/// The verbs that are about one key; the last one is a batch of two.
inline constexpr std::size_t verbs_of_one_key = scripted_acts + 1;
inline call verb_number(std::size_t n, std::uint64_t key, std::uint64_t value) {
  if (n < scripted_acts) return {static_cast<act>(n), key, value};
  return {act::execute, 0, 0, {{act::erase, key}, {act::insert, key, value}}};
}

/// A table of 8 bins that moves one bin at a time and doubles.
inline scenario tiny(table_kind table, script before) {
  scenario s;
  s.table = table;
  s.options.capacity = 1;
  s.options.chunk_bins = 1;
  s.options.move_bins = 1;
  s.options.growth_factor = 2;
  s.before = std::move(before);
  return s;
}

inline std::string short_name(table_kind table) {
  static const char* const names[table_kinds] = {"w", "r", "rw", "rr", "p", "pl", "ph"};
  return names[static_cast<std::size_t>(table)];
}

/// Adds a scenario under a name that says what its threads do.
inline void add(std::vector<scenario>& all, const std::string& group, scenario s) {
  std::string name = group + " " + short_name(s.table) + ":";
  for (const call& c : s.before) name += " " + describe(c) + ";";
  if (!s.still.empty()) name += " " + std::to_string(s.still.size()) + " still;";
  for (std::size_t t = 0; t < s.threads.size(); ++t) {
    name += t == 0 ? " " : " | ";
    for (std::size_t i = 0; i < s.threads[t].size(); ++i) name += (i == 0 ? "" : ", ") + describe(s.threads[t][i]);
  }
  s.name = std::move(name);
  all.push_back(std::move(s));
}

} // namespace cubby_test
