// SPDX-License-Identifier: Apache-2.0
// The table of capabilities in docs/choose.md, read from the source tree, is what the tables say of themselves: each cell, and a row
// for each capability that an engine has.
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cubby/durable_map.hpp>

#include "engines.hpp"

namespace cubby_test::capability_tests {
namespace {

using cubby::capability_set;
using flag = bool capability_set::*;

/// What a column says: the capabilities of the tables, and whether they are in a file.
struct column {
  capability_set has;
  bool survives = false;
};

/// Whether a table can be made durable by a call, and says what it survives.
template <class Table>
constexpr bool survives = requires(Table& t) {
  { t.sync() } -> std::same_as<bool>;
  { t.close() } -> std::same_as<bool>;
  { t.domain() } -> std::same_as<cubby::persistence>;
};
template <class Engine>
constexpr bool engine_survives() {
  if constexpr (std::is_same_v<Engine, cubby::partitioned>)
    return survives<cubby::delegated_map<std::uint64_t, std::uint64_t>>;
  else return survives<cubby::map<std::uint64_t, std::uint64_t, Engine>>;
}

/// The columns, by the name in the page.
template <class... Lines> std::map<std::string, column> columns(::testing::Types<Lines...>) {
  using durable = cubby::durable_map<std::uint64_t, std::uint64_t>;
  return {{std::string("`") + Lines::name + "`", {Lines::capabilities, engine_survives<typename Lines::engine>()}}...,
          {"`durable_map`", {durable::capabilities, survives<durable>}}};
}

/// The row that is about no capability of an engine.
constexpr const char* survival = "survives its process, and with `sync` a power cut";

/// What a row is about, by its words in the page.
std::map<std::string, flag> meanings() {
  return {{"finds take no lock", &capability_set::lock_free_find},
          {"inserts take no lock", &capability_set::lock_free_insert},
          {"an erased slot is free at once", &capability_set::slots_freed_at_once},
          {"ordered batches of mixed verbs", &capability_set::ordered_batch},
          {"prefetch, coroutines", &capability_set::prefetch},
          {"pipelines: tagged, in any order", &capability_set::pipelined},
          {"grows", &capability_set::grows},
          {"grows without stopping others", &capability_set::grows_without_blocking},
          {"shrinks", &capability_set::shrinks},
          {"a scan meets no entry twice", &capability_set::scans_once},
          {"snapshot of one point in time", &capability_set::snapshot},
          {"shadow inserts", &capability_set::shadow_insert},
          {"exclusive changes (`modify`)", &capability_set::exclusive_modify},
          {"refuses too many keys of one hash", &capability_set::bounded_bins},
          {"one thread only", &capability_set::one_thread_only},
          {"writes are delegated, not answered", &capability_set::delegates}};
}

/// The cells of a line `| a | b |`.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> all;
  for (std::size_t begin = line.find('|'), end; (end = line.find('|', begin + 1)) != std::string::npos; begin = end) {
    const std::string cell = line.substr(begin + 1, end - begin - 1);
    const std::size_t first = cell.find_first_not_of(' ');
    all.push_back(first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
  }
  return all;
}

/// The lines of the page's table whose columns are engines, the ruler left out.
std::vector<std::vector<std::string>> table_of_page() {
  std::ifstream page(CUBBY_SOURCE_DIR "/docs/choose.md");
  EXPECT_TRUE(page.good());
  std::vector<std::vector<std::string>> all;
  for (std::string line; std::getline(page, line);) {
    if (all.empty() && line.rfind("| | `", 0) != 0) continue;
    if (line.empty() || line[0] != '|') break;
    if (line[1] != '-') all.push_back(cells_of(line));
  }
  return all;
}

TEST(capabilities, each_has_a_meaning) {
  const auto all = meanings();
  std::set<std::size_t> places;
  for (const auto& [words, what] : all) {
    capability_set one;
    one.*what = true;
    const auto bytes = std::bit_cast<std::array<unsigned char, sizeof one>>(one);
    for (std::size_t i = 0; i < sizeof one; ++i)
      if (bytes[i] != 0) places.insert(i);
  }
  EXPECT_EQ(places.size(), sizeof(capability_set)) << "a capability has no words for its row";
}

TEST(capabilities, the_page_says_of_each_engine_what_it_says_of_itself) {
  const auto table = table_of_page();
  ASSERT_GT(table.size(), 1u) << "docs/choose.md has no table of engines";
  const auto all = columns(cubby_test::listed_engines{});
  const auto words = meanings();
  ASSERT_EQ(table[0].size(), all.size() + 1) << "a column for each engine, and for durable maps";
  std::set<std::string> rows;
  for (std::size_t r = 1; r < table.size(); ++r) {
    const std::string& row = table[r][0];
    ASSERT_TRUE(row == survival || words.contains(row)) << "docs/choose.md has an unknown row: " << row;
    EXPECT_TRUE(rows.insert(row).second) << row << " is there twice";
    ASSERT_EQ(table[r].size(), table[0].size()) << row;
    for (std::size_t c = 1; c < table[0].size(); ++c) {
      ASSERT_TRUE(all.contains(table[0][c])) << "docs/choose.md has an unknown engine: " << table[0][c];
      const column& said = all.at(table[0][c]);
      const bool has = row == survival ? said.survives : said.has.*words.at(row);
      EXPECT_EQ(table[r][c], has ? "yes" : "-") << row << ", " << table[0][c];
    }
  }
  EXPECT_EQ(rows.size(), words.size() + 1) << "docs/choose.md lacks a row";
}

} // namespace
} // namespace cubby_test::capability_tests
