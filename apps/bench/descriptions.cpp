// SPDX-License-Identifier: Apache-2.0
// The table of descriptions, in the order of engine_id.
#include "descriptions.hpp"

#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "features.hpp"

namespace bench {

namespace {

constexpr std::array<std::string_view, named_engine_count> descriptions = {
    "cubby's default map: lookups and updates without locks, one cache line for most of them",
    "cubby's table for bulk work: open addressing, made for batches and pipelines",
    "cubby's dramhit, asked through its pipeline, which may answer in another order",
    "cubby's dramhit with keys and values of at most 32 bytes in the array",
    "cubby's DRAMHiT-P: each worker owns a share of the table, and other workers send it their writes",
    "cubby's reference: std::unordered_map behind one mutex, the least that a table has to reach",
    "rival: concurrent_hash_map of oneTBB, chains with a lock for each entry",
    "rival: cuckoohash_map of libcuckoo, cuckoo hashing with striped locks",
    "rival: cds_lfht of liburcu, chains without locks under read-copy-update",
    "std::unordered_map in one thread, without any lock; not counted as a rival",
    "the machine: random cache lines fetched with the same batch, threads and pages; no table",
    "cubby's table for many readers: a resize never holds up a lookup",
    "the paper's comparison for relativistic: lookups read the old and the new table; not counted as a rival",
    "the paper's comparison for relativistic: a table behind a reader-writer lock; not counted as a rival",
    "the machine: as limit, and one compare-and-swap for each write; no table",
    "cubby's read section, through a look-up of the thread's record",
    "cubby's read section, through a thread record that the thread holds",
    "rival: read section of liburcu's memb flavour",
    "rival: read section of liburcu's bp flavour",
    "rival: liburcu's qsbr flavour, which reports a quiescent state after each load",
    "rival: concurrent_flat_map of Boost, open addressing with a lock for each group of 15 slots",
    "rival: parallel_flat_hash_map of phmap, 64 parts with a lock each",
    "rival: open addressing after the paper on folklore and growt, written again here",
    "rival: one cache line and one lock for each bucket after the paper on CLHT, written again here",
    "cubby's table for high load: entries stay in their slot",
    "cubby's iceberg with a bound and no growth, 96.5 % full",
    "cubby's iceberg in a file that survives the end of the process",
    "cubby's iceberg in a file that survives a power cut, by writing lines back",
    "cubby's iceberg in a file that survives a power cut, by syncing its log",
    "cubby's seph in a file that survives the end of the process",
    "cubby's seph in a file that survives a power cut, by writing lines back",
    "cubby's table that splits one third of a segment at a time",
    "cubby's iceberg with slots of 64 bytes for text keys"};

bool has_batches(engine_id e, const workload& w) {
  if (e == engine_id::boost) return only_finds(w);
  if (is_section(w) || is_rival(e) || is_flavour(e)) return false;
  if (e == engine_id::std_map || e == engine_id::ddds || e == engine_id::rwlock) return false;
  // A batch has no read-modify-write; a pipeline has.
  const bool modifies = w.what == kind::add || w.what == kind::add_zipf || w.what == kind::ycsb_f;
  return !modifies || !keeps_order(e) || is_limit(e);
}

bool has_batches(const run_spec& run) {
  return std::any_of(run.engines.begin(), run.engines.end(), [&](engine_id e) {
    return !is_limit(e) && std::any_of(run.workloads.begin(), run.workloads.end(),
                                       [&](const workload& w) { return has_batches(e, w); });
  });
}

} // namespace

std::string_view description_of(engine_id engine) {
  if (is_feature_engine(engine)) return "cubby's dlht with one feature switched on, or (-to-) with those before it";
  return descriptions[static_cast<std::size_t>(engine)];
}

bool in_batches(engine_id engine, const workload& w, std::size_t batch) { return batch > 1 && has_batches(engine, w); }

std::string calls_of(const result& r) {
  if (is_section(r.what)) return "one section at a time";
  return in_batches(r.engine, r.what, r.batch) ? fmt::format("batches of {}", r.batch) : "single calls";
}

std::string heading_of(const chapter& c) {
  if (std::ranges::all_of(c.run.workloads, is_section)) return c.title + ", one section at a time";
  std::vector<std::size_t> sizes = c.run.batch;
  const bool single = std::erase(sizes, 1) != 0;
  if (sizes.empty() || !has_batches(c.run)) return c.title + ", in single calls";
  return fmt::format("{}, in {}batches of {}", c.title, single ? "single calls and " : "", fmt::join(sizes, ", "));
}

} // namespace bench
