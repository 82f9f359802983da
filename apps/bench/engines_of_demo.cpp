// SPDX-License-Identifier: Apache-2.0
// The engines of the program of `make demo`: those of the default run, and the read sections, which compile in no time.
#include "build_kind.hpp"
#include "table.hpp"

namespace bench {

std::unique_ptr<table> make_table(const table_spec& spec) {
  switch (spec.engine) {
  case engine_id::dlht: return make_dlht(spec);
  case engine_id::dramhit: return make_dramhit(spec);
  case engine_id::dramhit_pipe: return make_dramhit_pipe(spec);
  case engine_id::iceberg: return make_iceberg(spec);
  case engine_id::reference: return make_reference(spec);
  case engine_id::tbb: return make_tbb(spec);
  case engine_id::cuckoo: return make_cuckoo(spec);
  case engine_id::lfht: return make_lfht(spec);
  case engine_id::boost: return make_boost(spec);
  case engine_id::limit: return make_limit(spec);
  case engine_id::folklore: return make_folklore(spec);
  case engine_id::line_locks: return make_line_locks(spec);
  default: return nullptr; // not built in, or no table
  }
}

bool is_built_in(engine_id e) {
  switch (e) {
  case engine_id::dlht:
  case engine_id::dramhit:
  case engine_id::dramhit_pipe:
  case engine_id::iceberg:
  case engine_id::reference:
  case engine_id::tbb:
  case engine_id::cuckoo:
  case engine_id::lfht:
  case engine_id::folklore:
  case engine_id::line_locks:
  case engine_id::limit: return true;
  case engine_id::boost: return has_boost();
  default: return is_flavour(e);
  }
}

std::string_view why_not_built_in(engine_id e) {
  if (e != engine_id::boost) return how_to_get_the_rest;
  return "its headers were not there when this program was built; run tools/unpack_rivals.sh and build again, or leave "
         "it out";
}

} // namespace bench
