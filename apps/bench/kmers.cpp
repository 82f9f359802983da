// SPDX-License-Identifier: Apache-2.0
// Reads of phage lambda that come with bowtie2, 45 and more on each place of the genome: seconds at most.
#include "kmers.hpp"

#include <filesystem>
#include <fmt/core.h>
#include <unistd.h>

#include "../console.hpp"
#include "../kmer/count.hpp"
#include "../kmer/reader.hpp"
#include "machine.hpp"

namespace bench {

namespace {

constexpr const char* folder = "/usr/share/doc/bowtie2/examples/reads";
constexpr std::uint64_t rows = 120; // of the plot; what lies above is said below it

struct removed_file {
  std::string path;
  explicit removed_file(std::string p) : path(std::move(p)) {}
  ~removed_file() { ::unlink(path.c_str()); }
  removed_file(const removed_file&) = delete;
  removed_file& operator=(const removed_file&) = delete;
};

kmer::count_options reads_of_lambda(const std::string& output) {
  kmer::count_options o;
  for (const char* const name : {"reads_1.fq.gz", "reads_2.fq.gz", "longreads.fq.gz"})
    o.inputs.push_back(fmt::format("{}/{}", folder, name));
  o.output = output;
  o.of = {21, true};
  o.threads = describe_machine().cores;
  o.memory = std::uint64_t{512} << 20;
  o.spill_folder = std::filesystem::temp_directory_path();
  return o;
}

exhibit exhibit_of(const kmer::kmer_file& file, const std::string& command) {
  exhibit e;
  e.title = "k-mers of real reads";
  e.command = command;
  e.drawn.title = "how often 21-mers of the lambda reads occur";
  e.drawn.x_label = "count";
  e.drawn.y_label = "different k-mers";
  e.drawn.drawn = plot::form::curve;
  e.drawn.log_y = true;
  e.drawn.all.push_back({"k-mers", engine_id::dlht, false, {}});
  std::uint64_t above = 0;
  for (const kmer::histogram_entry& h : file.counts()) {
    if (h.count <= rows) e.drawn.all[0].points.emplace_back(static_cast<double>(h.count), static_cast<double>(h.kmers));
    else above += h.kmers;
  }
  e.says = fmt::format("{} different among {} k-mers. What occurs once is mostly an error of the sequencer; the places "
                       "of the genome stand at their coverage. {} k-mers occur more than {} times and are not drawn.",
                       file.footer().distinct, file.footer().total, above, rows);
  return e;
}

} // namespace

std::optional<exhibit> count_real_reads() {
  const removed_file output(
      fmt::format("{}/cubby-lambda-{}.kc", std::filesystem::temp_directory_path().string(), ::getpid()));
  const kmer::count_options o = reads_of_lambda(output.path);
  for (const std::string& input : o.inputs)
    if (::access(input.c_str(), R_OK) != 0) return std::nullopt;
  const std::string command =
      fmt::format("cubby kmer count -k 21 -o lambda.kc {0}/reads_*.fq.gz {0}/longreads.fq.gz &&\n"
                  "cubby kmer histo lambda.kc",
                  folder);
  console::print("\nk-mers of real reads\n{}\n\n", command);
  const kmer::count_figures figures = kmer::count(o);
  exhibit e = exhibit_of(kmer::kmer_file(output.path), command);
  console::print(
      "{} records, {} bases, {} different of {} k-mers, {:.2f} s, {:.1f} M k-mers/s, {:.0f} % in huge pages\n",
      figures.records, figures.bases, figures.file.distinct, figures.kmers, figures.seconds,
      static_cast<double>(figures.kmers) * 1e-6 / figures.seconds, figures.huge_percent);
  return e;
}

} // namespace bench
