// SPDX-License-Identifier: Apache-2.0
// The README's table of capabilities is what the engines say of themselves; a failure prints the table to paste.
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engines.hpp"

namespace {

struct column {
  std::string name;
  cubby::capability_set set;
};

/// The engines of the list, the default one first and `reference`, the lesson and the oracle, last.
template <class... Lines> std::vector<column> columns(::testing::Types<Lines...>) {
  std::vector<column> all{{Lines::name, Lines::capabilities}...};
  std::rotate(all.begin(), all.begin() + 1, all.end());
  return all;
}

std::string table() {
  struct line {
    const char* what;
    bool cubby::capability_set::* flag;
  };
  const std::vector<line> lines = {
      {"finds take no lock", &cubby::capability_set::lock_free_find},
      {"inserts take no lock", &cubby::capability_set::lock_free_insert},
      {"an erased slot is free at once", &cubby::capability_set::slots_freed_at_once},
      {"ordered batches of mixed verbs", &cubby::capability_set::ordered_batch},
      {"prefetch, coroutines", &cubby::capability_set::prefetch},
      {"pipelines: tagged, in any order", &cubby::capability_set::pipelined},
      {"grows", &cubby::capability_set::grows},
      {"grows without stopping others", &cubby::capability_set::grows_without_blocking},
      {"shrinks", &cubby::capability_set::shrinks},
      {"a walk meets no entry twice", &cubby::capability_set::walks_once},
      {"snapshot of one point in time", &cubby::capability_set::snapshot},
      {"shadow inserts", &cubby::capability_set::shadow_insert},
      {"refuses too many keys of one hash", &cubby::capability_set::bounded_bins},
      {"one thread only", &cubby::capability_set::one_thread_only},
      {"writes are delegated, not answered", &cubby::capability_set::delegates},
  };
  const std::vector<column> engines = columns(cubby_test::listed_engines{});
  std::ostringstream out;
  out << "| |";
  for (const column& c : engines) out << " `" << c.name << "` |";
  out << "\n|---|";
  for (std::size_t n = 0; n < engines.size(); ++n) out << "---|";
  out << "\n";
  for (const line& l : lines) {
    out << "| " << l.what << " |";
    for (const column& c : engines) out << " " << (c.set.*l.flag ? "yes" : "-") << " |";
    out << "\n";
  }
  return out.str();
}

TEST(capabilities, readme_says_what_the_engines_say) {
  std::ifstream file(CUBBY_SOURCE_DIR "/README.md");
  ASSERT_TRUE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find(table()), std::string::npos) << "the README should have:\n" << table();
}

} // namespace
