// SPDX-License-Identifier: Apache-2.0
// What scenarios are put together from.
#pragma once

#include "explore/scenario.hpp"

namespace cubby_test {

/// DLHT's: scenarios that know its bins and link buckets.
inline constexpr table_kind our_tables[] = {table_kind::words, table_kind::records};
inline constexpr table_kind dramhit_tables[] = {table_kind::dramhit_words, table_kind::dramhit_records};
inline constexpr table_kind tuple_tables[] = {table_kind::tuple_words, table_kind::tuple_lines};
inline constexpr table_kind iceberg_tables[] = {table_kind::iceberg_words, table_kind::iceberg_pairs,
                                                table_kind::iceberg_texts};
inline constexpr table_kind relativistic_tables[] = {table_kind::relativistic_words, table_kind::relativistic_records};
/// Where nothing moves, all engines.
inline constexpr table_kind shared_tables[] = {
    table_kind::words,       table_kind::records,     table_kind::dramhit_words,      table_kind::dramhit_records,
    table_kind::tuple_words, table_kind::tuple_lines, table_kind::relativistic_words, table_kind::relativistic_records};
inline constexpr table_kind every_table[] = {table_kind::words,
                                             table_kind::records,
                                             table_kind::reference_words,
                                             table_kind::reference_records,
                                             table_kind::dramhit_words,
                                             table_kind::dramhit_records,
                                             table_kind::tuple_words,
                                             table_kind::tuple_lines,
                                             table_kind::relativistic_words,
                                             table_kind::relativistic_records};

/// Keys that share a bin of every index.
inline constexpr std::uint64_t k1 = key_at(0, 1), k2 = key_at(0, 2), k3 = key_at(0, 3), k4 = key_at(0, 4);

/// The verbs that are about one key; the last one is a batch of two.
inline constexpr std::size_t verbs_of_one_key = scripted_acts + 1;
inline call verb_number(std::size_t n, std::uint64_t key, std::uint64_t value) {
  if (n < scripted_acts) return {static_cast<act>(n), key, value};
  return {act::execute, 0, 0, {{act::erase, key}, {act::insert, key, value}}};
}

/// A table of 8 bins, or of 64 buckets, that moves one at a time and doubles.
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

/// Entries that use up all link buckets of 8 bins, far from the hot bin: it has space for three, and grows at the fourth.
inline std::vector<entry> without_links() {
  std::vector<entry> all;
  const std::uint64_t places[] = {0x8000, 0xa000, 0xc000, 0xe000};
  const std::uint64_t counts[] = {8, 8, 4, 4};
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::uint64_t n = 0; n < counts[i]; ++n) all.emplace_back(key_at(places[i], 10 + n), 50 + n);
  }
  return all;
}

/// `here` entries in the first bin of any index, `apart` in the bin beside it in one of 32 bins (the same in 16 and 8).
inline std::vector<entry> full_bin(std::uint64_t here, std::uint64_t apart) {
  std::vector<entry> all;
  for (std::uint64_t n = 0; n < here; ++n) all.emplace_back(key_at(0, 10 + n), 50 + n);
  for (std::uint64_t n = 0; n < apart; ++n) all.emplace_back(key_at(0x0800, 30 + n), 70 + n);
  return all;
}

inline std::string short_name(table_kind table) {
  static const char* const names[table_kinds] = {"w",  "r",  "rw", "rr", "dw", "dr", "tw", "tl", "lw", "lr", "iw",
                                                 "ip", "it", "sw", "sr", "dp", "hw", "hl", "p",  "pl", "ph"};
  return names[static_cast<std::size_t>(table)];
}

inline bool can(const cubby::capability_set& engine, const script& calls) {
  for (const call& c : calls) {
    if ((c.what == act::commit || c.what == act::abort) && !engine.shadow_insert) return false;
    if (c.what == act::snapshot && !engine.snapshot) return false;
    if (c.what == act::pipeline && !engine.pipelined) return false;
  }
  return true;
}

/// Adds a scenario under a name that says what its threads do; not one with a verb that the table's engine lacks.
inline void add(std::vector<scenario>& all, const std::string& group, scenario s) {
  const cubby::capability_set engine = capabilities_of(s.table);
  for (const script& calls : s.threads) {
    if (!can(engine, calls)) return;
  }
  std::string name = group + " " + short_name(s.table) + ":";
  for (const call& c : s.before) name += " " + describe(c) + ";";
  if (!s.still.empty()) name += " " + std::to_string(s.still.size()) + " still;";
  if (!s.passing.empty()) name += " " + std::to_string(s.passing.size()) + " passing;";
  if (s.gone != 0) name += " " + std::to_string(s.gone) + " gone;";
  for (const call& c : s.at_last) name += " " + describe(c) + ";";
  if (s.under_way) name += " under way;";
  for (std::size_t t = 0; t < s.threads.size(); ++t) {
    name += t == 0 ? " " : " | ";
    for (std::size_t i = 0; i < s.threads[t].size(); ++i) name += (i == 0 ? "" : ", ") + describe(s.threads[t][i]);
  }
  if (s.ends) name += " | then ended";
  s.name = std::move(name);
  all.push_back(std::move(s));
}

/// The other entries of a list, each of which is in it once, unless it may be met again where it has moved to. Those
/// that no script touches must all be there.
template <class Complain>
std::vector<entry> others_in(const std::vector<entry>& all, const std::vector<entry>& still, bool may_repeat,
                             Complain complain) {
  std::vector<entry> rest;
  std::size_t met = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    bool is_still = false, again = false;
    for (const entry& one : still) is_still |= one == all[i];
    for (std::size_t j = 0; j < i; ++j) again |= all[j].first == all[i].first;
    if (again && !may_repeat) complain(" shows key " + std::to_string(all[i].first) + " twice");
    if (!is_still) rest.push_back(all[i]);
    else met += again ? 0 : 1;
  }
  if (met != still.size()) complain(" misses an entry that was there throughout");
  return rest;
}

} // namespace cubby_test
