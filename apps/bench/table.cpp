// SPDX-License-Identifier: Apache-2.0
// Chooses the engine, and samples the counters of a table that grows.
#include "table.hpp"

#include <algorithm>
#include <chrono>

#include "clock.hpp"
#include "features.hpp"
#include "table_of.hpp"

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

namespace {

// The keys that an updater has left in the table after so many updates.
std::uint64_t left_by(std::uint64_t updates, std::uint64_t share) {
  if (share == 0) return 0;
  const std::uint64_t in_round = updates % (2 * share);
  return std::min(in_round, 2 * share - in_round);
}

} // namespace

std::vector<sample> sample_until(const std::atomic<bool>& stop, const std::vector<progress_count>& counts,
                                 const update_plan& plan) {
  std::vector<sample> samples;
  double begin = seconds_now(); // with the first slice of work that is seen: before it the workers get ready
  double last = begin;
  std::uint64_t updated = 0;
  std::uint64_t found = 0;
  while (!stop) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const double now = seconds_now();
    std::uint64_t updates = 0;
    std::uint64_t finds = 0;
    std::uint64_t keys = plan.filled;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::uint64_t done = counts[i].done.load(std::memory_order_relaxed); // only a figure
      const bool update = i < plan.shares.size();
      (update ? updates : finds) += done;
      if (update) keys += left_by(done, plan.shares[i]);
    }
    if (finds + updates == 0) {
      begin = last = now;
      continue;
    }
    const double scale = 1e-6 / (now - last);
    samples.push_back({(now - begin) * 1e3, static_cast<double>(finds - found) * scale,
                       static_cast<double>(updates - updated) * scale, static_cast<double>(keys)});
    last = now;
    updated = updates;
    found = finds;
  }
  // The last one reaches beyond the end of the work.
  if (samples.size() > 1) samples.pop_back();
  return samples;
}

} // namespace bench
