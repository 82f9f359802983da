// SPDX-License-Identifier: Apache-2.0
// All tables that are explored.
#include "explore/scenario.hpp"

namespace cubby_test {

run_state make_words(const scenario& s);
run_state make_records(const scenario& s);
run_state make_reference_words(const scenario& s);
run_state make_reference_records(const scenario& s);
run_state make_paper(const scenario& s);
run_state make_dramhit_words(const scenario& s);
run_state make_dramhit_records(const scenario& s);
run_state make_tuple_words(const scenario& s);
run_state make_tuple_lines(const scenario& s);
run_state make_relativistic_words(const scenario& s);
run_state make_relativistic_records(const scenario& s);
run_state make_iceberg_words(const scenario& s);
run_state make_iceberg_pairs(const scenario& s);
run_state make_iceberg_texts(const scenario& s);
run_state make_seph_words(const scenario& s);
run_state make_seph_records(const scenario& s);
run_state make_partitioned(const scenario& s);

run_state make_adapter(const scenario& s) {
  switch (s.table) {
  case table_kind::words: return make_words(s);
  case table_kind::records: return make_records(s);
  case table_kind::reference_words: return make_reference_words(s);
  case table_kind::reference_records: return make_reference_records(s);
  case table_kind::dramhit_words: return make_dramhit_words(s);
  case table_kind::dramhit_records: return make_dramhit_records(s);
  case table_kind::tuple_words: return make_tuple_words(s);
  case table_kind::tuple_lines: return make_tuple_lines(s);
  case table_kind::relativistic_words: return make_relativistic_words(s);
  case table_kind::relativistic_records: return make_relativistic_records(s);
  case table_kind::iceberg_words: return make_iceberg_words(s);
  case table_kind::iceberg_pairs: return make_iceberg_pairs(s);
  case table_kind::iceberg_texts: return make_iceberg_texts(s);
  case table_kind::seph_words: return make_seph_words(s);
  case table_kind::seph_records: return make_seph_records(s);
  case table_kind::partitioned: return make_partitioned(s);
  default: return make_paper(s);
  }
}

} // namespace cubby_test
