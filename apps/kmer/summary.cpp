// SPDX-License-Identifier: Apache-2.0
// The fields of the JSON are described in docs/kmer.md.
#include "summary.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "../bench/machine.hpp"
#include "../console.hpp"
#include "../counted.hpp"
#include "json_text.hpp"

namespace kmer {

namespace {

using console::counted;

double rate(const count_figures& f) { return static_cast<double>(f.kmers) * 1e-6 / std::max(f.seconds, 1e-6); }

double gigabytes(std::uint64_t bytes) { return static_cast<double>(bytes) * 1e-9; }

} // namespace

void print_summary(const count_options& options, const count_figures& f) {
  console::say("{}: {} different of {}, from {} with {}\n", options.output, f.file.distinct,
               counted(f.kmers, "k-mer", "k-mers"), counted(f.records, "record", "records"),
               counted(f.bases, "base", "bases"));
  console::say("{:.2f} s, {:.1f} M k-mers/s, {:.2f} GB of memory of which {:.0f} % in huge pages, {:.2f} GB spilled\n",
               f.seconds, rate(f), gigabytes(f.peak_bytes), f.huge_percent, gigabytes(f.spilled_bytes));
  if (f.file.left_out != 0)
    console::say("{} with a count below {} {} left out\n", counted(f.file.left_out, "k-mer", "k-mers"),
                 options.bounds.min_count, f.file.left_out == 1 ? "was" : "were");
  if (f.file.saturated != 0)
    console::say("{} the largest count, {}, and may occur more often\n",
                 counted(f.file.saturated, "k-mer has", "k-mers have"), options.bounds.count_limit);
}

void write_summary(output_file& to, const count_options& options, const count_figures& f) {
  nlohmann::ordered_json all;
  all["output"] = options.output;
  all["output_bytes"] = f.file_bytes;
  all["k"] = options.of.k;
  all["canonical"] = options.of.canonical;
  all["records"] = f.records;
  all["bases"] = f.bases;
  all["kmers"] = f.kmers;
  all["distinct"] = f.file.distinct;
  all["total"] = f.file.total;
  all["left_out"] = f.file.left_out;
  all["saturated"] = f.file.saturated;
  all["min_count"] = options.bounds.min_count;
  all["count_limit"] = options.bounds.count_limit;
  all["engine"] = options.of.dense() ? "array" : std::string(name_of(options.engine, options.of.k));
  all["threads"] = options.threads;
  all["seconds"] = f.seconds;
  all["reading_seconds"] = f.reading_seconds;
  all["million_kmers_per_second"] = rate(f);
  all["memory_limit"] = options.memory;
  all["peak_bytes"] = f.peak_bytes;
  all["waiting_bytes"] = f.pool_bytes;
  all["spilled_bytes"] = f.spilled_bytes;
  all["huge_pages_setting"] = bench::describe_machine().huge_pages;
  all["huge_pages_percent"] = f.huge_percent;
  all["warnings"] = f.warnings;
  to.write(json_text(all));
  to.commit();
}

} // namespace kmer
