// SPDX-License-Identifier: Apache-2.0
// The engines of the whole program.
#include "features.hpp"
#include "table.hpp"

namespace bench {

std::unique_ptr<table> make_table(const table_spec& spec) {
  if (is_feature_engine(spec.engine)) return make_dlht_with_features(spec);
  switch (spec.engine) {
  case engine_id::dlht: return make_dlht(spec);
  case engine_id::dramhit: return make_dramhit(spec);
  case engine_id::dramhit_pipe: return make_dramhit_pipe(spec);
  case engine_id::dramhit_tuples: return make_dramhit_tuples(spec);
  case engine_id::partitioned: return make_partitioned(spec);
  case engine_id::reference: return make_reference(spec);
  case engine_id::tbb: return make_tbb(spec);
  case engine_id::cuckoo: return make_cuckoo(spec);
  case engine_id::lfht: return make_lfht(spec);
  case engine_id::std_map: return make_std(spec);
  case engine_id::limit:
  case engine_id::limit_swap: return make_limit(spec);
  case engine_id::relativistic: return make_relativistic(spec);
  case engine_id::iceberg: return make_iceberg(spec);
  case engine_id::iceberg_full: return make_iceberg_full(spec);
  case engine_id::iceberg_wide: return make_iceberg_wide(spec);
  case engine_id::seph: return make_seph(spec);
  case engine_id::durable:
  case engine_id::durable_line:
  case engine_id::durable_page: return make_durable(spec);
  case engine_id::durable_seph:
  case engine_id::durable_seph_line: return make_durable_seph(spec);
  case engine_id::ddds: return make_ddds(spec);
  case engine_id::rwlock: return make_rwlock(spec);
  case engine_id::boost: return make_boost(spec);
  case engine_id::phmap: return make_phmap(spec);
  case engine_id::folklore: return make_folklore(spec);
  case engine_id::line_locks: return make_line_locks(spec);
  case engine_id::rcu:
  case engine_id::rcu_record:
  case engine_id::urcu_memb:
  case engine_id::urcu_bp:
  case engine_id::urcu_qsbr: break; // no tables
  }
  return nullptr;
}

bool is_built_in(engine_id e) {
  if (e == engine_id::boost) return has_boost();
  return e != engine_id::phmap || has_phmap();
}

std::string_view why_not_built_in(engine_id) {
  return "its headers were not there when this program was built; run tools/unpack_rivals.sh and build again, or leave "
         "it out";
}

} // namespace bench
