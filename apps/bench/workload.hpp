// SPDX-License-Identifier: Apache-2.0
// The names of engines and workloads, and what a workload asks of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Behind the named ones come those of features.hpp.
enum class engine_id : std::uint8_t {
  dlht,
  dramhit,
  dramhit_pipe,
  dramhit_tuples,
  partitioned,
  reference,
  tbb,
  cuckoo,
  lfht,
  std_map,
  limit,
  relativistic,
  ddds,
  rwlock,
  limit_swap,
  rcu,
  rcu_record,
  urcu_memb,
  urcu_bp,
  urcu_qsbr,
  boost,
  phmap,
  folklore,
  line_locks,
  iceberg,
  iceberg_full,
  durable,
  durable_line,
  durable_page,
  durable_seph,
  durable_seph_line,
  seph,
  iceberg_wide
};
inline constexpr std::size_t named_engine_count = 33;
inline constexpr std::size_t feature_engine_count = 12;
inline constexpr std::size_t engine_count = named_engine_count + feature_engine_count;

enum class kind : std::uint8_t {
  get,
  miss,
  insdel,
  put,
  upsert,
  add,
  add_zipf,
  populate,
  resize,
  grow_shrink,
  ycsb_a,
  ycsb_b,
  ycsb_c,
  ycsb_d,
  ycsb_f,
  skew,
  read_section
};

struct workload {
  kind what = kind::get;
  int hot_percent = 0; // of `skew`: the share of finds that ask for one of the hot keys
  bool operator==(const workload&) const = default;
};

inline constexpr std::size_t hot_keys = 1000;

enum class verb : std::uint8_t { find, insert, erase, assign, modify, upsert };

std::string_view name_of(engine_id engine);
std::string name_of(const workload& w);
std::string engine_names();
std::string workload_names();
// One name may stand for several engines (`dlht-features`); none for an unknown name. `_` may stand for `-`, as in C++.
std::vector<engine_id> engines_named(std::string_view name);
// One name may stand for several workloads (`skew`); none for an unknown name. `_` may stand for `-` here too.
std::vector<workload> workloads_named(std::string_view name);

// Workloads in which some threads update while the others find.
inline bool updates_beside_finds(const workload& w) { return w.what == kind::resize || w.what == kind::grow_shrink; }
// Of them: keys, the first ones, that are there before and stay. So few that each engine has to grow: `dlht` made for half
// of the keys takes all of them into its link buckets.
inline std::size_t keys_that_stay(const workload& w, std::size_t keys) {
  return w.what == kind::resize ? keys / 4 : keys / 32;
}

// Not tables but the machine.
inline bool is_limit(engine_id e) { return e == engine_id::limit || e == engine_id::limit_swap; }
// Not tables but ways into a read section, of read-copy-update: ours, and the flavours of liburcu.
inline bool is_flavour(engine_id e) { return e >= engine_id::rcu && e <= engine_id::urcu_qsbr; }
// Tables in files, one for each domain of docs/durability.md that any file has.
inline bool is_durable(engine_id e) { return e >= engine_id::durable && e <= engine_id::durable_seph_line; }
// Designs that are re-stated here from their papers, for 8-byte keys and values.
inline bool is_design(engine_id e) { return e == engine_id::folklore || e == engine_id::line_locks; }
inline bool is_rival(engine_id e) {
  return e == engine_id::tbb || e == engine_id::cuckoo || e == engine_id::lfht || e == engine_id::boost ||
         e == engine_id::phmap || is_design(e) || e == engine_id::urcu_memb || e == engine_id::urcu_bp ||
         e == engine_id::urcu_qsbr;
}
// The workload without keys, and the engines that take part in it.
inline bool is_section(const workload& w) { return w.what == kind::read_section; }
inline bool has_sections(engine_id e) { return is_flavour(e) || e == engine_id::limit; }
// Not engines whose requests on one key may take effect in another order than they came, or later than a find that follows:
// no pair of them can be asked for.
inline bool keeps_order(engine_id e) { return e != engine_id::dramhit_pipe && e != engine_id::partitioned; }
inline bool wants_order(const workload& w) {
  return w.what == kind::insdel || w.what == kind::ycsb_d || updates_beside_finds(w);
}
// Whether this program holds the engine; and if not, why and what to do.
bool is_built_in(engine_id e);
std::string_view why_not_built_in(engine_id e);
// Engines that give space back without being asked.
bool shrinks(engine_id e);
// Workloads that start from an empty table of their own.
inline bool wants_fresh_table(const workload& w) { return w.what == kind::populate || updates_beside_finds(w); }
// Workloads that only ask for keys; they run through find_batch.
inline bool only_finds(const workload& w) {
  return w.what == kind::get || w.what == kind::miss || w.what == kind::skew || w.what == kind::ycsb_c;
}

} // namespace bench
