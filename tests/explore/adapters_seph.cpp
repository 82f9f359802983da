// SPDX-License-Identifier: Apache-2.0
// The tables of a program that explores seph alone: it builds in a minute, for the mutants of that engine.
#include <cstdio>
#include <cstdlib>

#include "explore/scenario.hpp"

namespace cubby_test {

run_state make_seph_words(const scenario& s);
run_state make_seph_records(const scenario& s);

run_state make_adapter(const scenario& s) {
  if (s.table == table_kind::seph_words) return make_seph_words(s);
  if (s.table == table_kind::seph_records) return make_seph_records(s);
  std::fprintf(stderr, "this program has no table for %s\n", s.name.c_str());
  std::abort();
}

} // namespace cubby_test
