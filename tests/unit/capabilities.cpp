// SPDX-License-Identifier: Apache-2.0
// The README's table of capabilities is what the engines say of themselves; a failure prints the table to paste.
#include <cubby/delegated_map.hpp>
#include <cubby/engine/dramhit/dramhit.hpp>
#include <cubby/engine/dramhit_tuples/dramhit_tuples.hpp>
#include <cubby/engine/reference/reference.hpp>
#include <cubby/engine/relativistic/relativistic.hpp>
#include <cubby/map.hpp>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

template <class Engine> constexpr cubby::capability_set of() {
  return cubby::map<std::uint64_t, std::uint64_t, Engine>::capabilities;
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
  std::ostringstream out;
  out << "| | `dlht` | `dlht_single` | `dramhit` | `dramhit_tuples` | `relativistic` | `partitioned` | `reference` "
         "|\n|---|---|---|---|---|---|---|---|\n";
  for (const line& l : lines) {
    const auto mark = [&](const cubby::capability_set& set) { return set.*l.flag ? "yes" : "-"; };
    out << "| " << l.what << " | " << mark(of<cubby::dlht>()) << " | " << mark(of<cubby::dlht_single>()) << " | "
        << mark(of<cubby::dramhit>()) << " | " << mark(of<cubby::dramhit_tuples>()) << " | "
        << mark(of<cubby::relativistic>()) << " | " << mark(of<cubby::partitioned>()) << " | "
        << mark(of<cubby::reference>()) << " |\n";
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
