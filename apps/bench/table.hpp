// SPDX-License-Identifier: Apache-2.0
// A table under test, as the session sees it: filled, then asked to run one workload at a time. The types and the timed
// loops are behind it, one translation unit per engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "histogram.hpp"
#include "streams.hpp"
#include "worker_threads.hpp"
#include "workload.hpp"

namespace bench {

struct table_spec {
  engine_id engine = engine_id::dlht;
  bool text = false; // keys are lines of a file
  std::size_t key_size = 8;
  std::size_t value_size = 8;
  std::size_t capacity = 0;    // entries to make space for at the start
  bool shrinks = false;        // when erases have left it nearly empty
  std::size_t limit_bytes = 0; // what `limit` scans over
  std::uint64_t seed = 0;
  std::string dir; // of the file of a durable table; empty: folder_of chooses
};

struct job {
  workload of;
  const op_streams* streams = nullptr;
  std::size_t threads = 1;
  std::size_t updaters = 0; // of the threads: the first ones, while the others find
  std::size_t batch = 1;
  double seconds = 1;
  bool latency = false;   // time each operation by itself instead of all together
  std::size_t filled = 0; // keys that the table was filled with
};

struct sample {
  double milliseconds = 0;
  double find_mops = 0;
  double insert_mops = 0; // inserts, and erases where there are some
  double keys = 0;        // in the table, without what the last slices have done
};

inline constexpr double windows_a_second = 100;
// Rates of the windows of 10 ms of a population, in Mops/s: of all, or of those up to a time.
struct window_rates {
  double milliseconds = 0;
  double lowest = 0, mean = 0, highest = 0;
};

struct outcome {
  double mops = 0;
  std::uint64_t operations = 0;
  std::uint64_t wrong = 0; // answers that cannot be right: a present key missed, an absent one found
  histogram times;
  std::vector<sample> timeline;
  std::vector<double>
      windows; // of a population, each in Mops/s; without the last ones, in which not all threads were busy
};

class table {
public:
  table() = default;
  table(const table&) = delete;
  table& operator=(const table&) = delete;
  virtual ~table() = default;

  // Inserts keys number 0..count-1 with all workers.
  virtual void fill(worker_threads& workers, const key_source& keys, std::size_t count) = 0;
  virtual outcome run(worker_threads& workers, const job& j) = 0;
  // What the engine says it holds, 0 when it does not say.
  virtual std::size_t own_bytes() const = 0;
  // What a table in a file survives, as it says of itself (docs/durability.md); empty for others.
  virtual std::string_view domain() const { return {}; }
  // Threads that may use the table at once.
  virtual std::size_t most_threads() const = 0;
};

// Entries that a table of a growing workload makes space for at the start.
inline constexpr std::size_t small_capacity = 1024;

std::unique_ptr<table> make_dlht(const table_spec& spec);
std::unique_ptr<table> make_dramhit(const table_spec& spec);
std::unique_ptr<table> make_dramhit_pipe(const table_spec& spec);
std::unique_ptr<table> make_dramhit_tuples(const table_spec& spec);
std::unique_ptr<table> make_partitioned(const table_spec& spec);
std::unique_ptr<table> make_reference(const table_spec& spec);
std::unique_ptr<table> make_tbb(const table_spec& spec);
std::unique_ptr<table> make_cuckoo(const table_spec& spec);
std::unique_ptr<table> make_lfht(const table_spec& spec);
std::unique_ptr<table> make_std(const table_spec& spec);
std::unique_ptr<table> make_limit(const table_spec& spec);
std::unique_ptr<table> make_relativistic(const table_spec& spec);
std::unique_ptr<table> make_iceberg(const table_spec& spec);
std::unique_ptr<table> make_iceberg_full(const table_spec& spec);
std::unique_ptr<table> make_iceberg_wide(const table_spec& spec);
std::unique_ptr<table> make_seph(const table_spec& spec);
std::unique_ptr<table> make_durable(const table_spec& spec);
std::unique_ptr<table> make_durable_seph(const table_spec& spec);
std::unique_ptr<table> make_ddds(const table_spec& spec);
std::unique_ptr<table> make_rwlock(const table_spec& spec);
std::unique_ptr<table> make_folklore(const table_spec& spec);
std::unique_ptr<table> make_line_locks(const table_spec& spec);
// Null where their headers were not there.
std::unique_ptr<table> make_boost(const table_spec& spec);
std::unique_ptr<table> make_phmap(const table_spec& spec);
bool has_boost();
bool has_phmap();

std::unique_ptr<table> make_table(const table_spec& spec);

} // namespace bench
