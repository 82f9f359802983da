// SPDX-License-Identifier: Apache-2.0
// Flags as they were typed, checked before anything is opened.
#include "command.hpp"

#include <string_view>
#include <utility>

#include "counter.hpp"
#include "flags.hpp"

namespace kmer {

namespace {

void check_not_empty(CLI::App& app) {
  // An empty value is an empty variable of a script. It does not mean the default.
  const auto not_empty = [](const std::string& given) {
    return std::string(given.empty() ? "the value is empty" : "");
  };
  for (CLI::Option* const option : app.get_options({}))
    if (option->get_items_expected_max() > 0) option->check(not_empty, "");
}

CLI::App* add(CLI::App& to, std::vector<std::string>& into, const char* name, const char* what, const char* files,
              bool several) {
  CLI::App* const one = to.add_subcommand(name, what);
  CLI::Option* const given = one->add_option("FILE", into, files)->required();
  if (!several) given->expected(1);
  return one;
}

void add_output(CLI::App& to, std::string& into, bool required) {
  const char* const what = required ? "FILE to write" : "FILE to write; default: standard output";
  to.add_option("-o,--output", into, what)->required(required);
}

void add_min_count(CLI::App& to, std::string& into) {
  to.add_option("--min-count", into, "leave out k-mers with smaller counts; default 1");
}

void add_limit(CLI::App& to, std::string& into) {
  to.add_option("--count-limit", into,
                "largest count; the summary says how many k-mers reached it; default 4294967295");
}

} // namespace

void commands::add_count() {
  flags& f = *flags_;
  CLI::App& one = *add(*app_, f.files, "count", "Count the k-mers of sequences",
                       "FASTA or FASTQ (gzip or plain), BAM, CRAM; - is standard input", true);
  one.add_option("-k", f.k, "bases of a k-mer, 1 to 64; default 21");
  add_output(one, f.output, true);
  one.add_flag("--no-canonical", f.no_canonical, "count the two strands apart")->disable_flag_override();
  one.add_option("--threads", f.threads, "default one for each core");
  one.add_option("--memory", f.memory, "most memory to use, as 8G; default half of what is available");
  add_min_count(one, f.min_count);
  add_limit(one, f.count_limit);
  one.add_option("--spill-to", f.spill_to, "FOLDER of the spill file; default: that of the output");
  one.add_option("--reference", f.reference, "FASTA that a CRAM refers to");
  one.add_option("--engine", f.engine, "table that counts: " + engine_names());
  one.add_option("--json", f.json, "FILE for a summary; - is standard output");
  one.add_flag("--quiet", f.quiet, "no summary")->disable_flag_override();
}

void commands::add_views() {
  flags& f = *flags_;
  for (const auto& [name, what] :
       {std::pair("histo", "How many k-mers have each count: GenomeScope's two columns"),
        std::pair("dump", "Print each k-mer and its count"), std::pair("to-kff", "Write a file as KFF")}) {
    CLI::App& one = *add(*app_, f.files, name, what, "k-mer file", false);
    add_output(one, f.output, std::string_view(name) == "to-kff");
    add_min_count(one, f.min_count);
    one.add_option("--max-count", f.max_count, "leave out k-mers with larger counts");
  }
  CLI::App& ask = *add(*app_, f.files, "query", "Print the counts of some k-mers", "k-mer file, then k-mers", true);
  // One file for each -s, else it would take the k-mer file and the k-mers behind it.
  ask.add_option("-s,--sequences", f.sequence_files, "FASTA or FASTQ whose k-mers are asked for; may be repeated")
      ->allow_extra_args(false)
      ->option_text("FILE"); // without the three dots of several
  add_output(ask, f.output, false);
  CLI::App& stats = *add(*app_, f.files, "stats", "Check a file and print its figures", "k-mer file", false);
  stats.add_option("--json", f.json, "FILE for the figures; - is standard output");
}

void commands::add_makers() {
  flags& f = *flags_;
  for (const auto& [name, what] :
       {std::pair("merge", "Add up the counts of several files"), std::pair("union", "All k-mers of several files"),
        std::pair("intersect", "The k-mers that all files have"),
        std::pair("subtract", "The k-mers of the first file that no other has")}) {
    CLI::App& one = *add(*app_, f.files, name, what, "k-mer files of one k", true);
    add_output(one, f.output, true);
    add_min_count(one, f.min_count);
    add_limit(one, f.count_limit);
    if (std::string_view(name) != "merge")
      one.add_option("--counts", f.counts, "sum (union), min (intersect), max, first (subtract) or difference");
  }
  CLI::App& read_kff = *add(*app_, f.files, "from-kff", "Read KFF", "KFF file", false);
  add_output(read_kff, f.output, true);
  add_min_count(read_kff, f.min_count);
  add_limit(read_kff, f.count_limit);
  read_kff.add_option("--memory", f.memory, "most memory to use, as 8G; default half of what is available");
}

commands::commands(CLI::App& program) : flags_(std::make_unique<flags>()) {
  app_ = program.add_subcommand("kmer", "Count k-mers of sequences exactly, and work with the counts");
  app_->require_subcommand(1);
  app_->footer("docs/kmer.md explains everything, docs/format-kmer.md the file.");
  add_count();
  add_views();
  add_makers();
  for (CLI::App* const one : app_->get_subcommands({})) check_not_empty(*one);
}

commands::~commands() = default;

std::string commands::help() const {
  const auto given = app_->get_subcommands();
  return given.empty() ? "cubby kmer --help" : "cubby kmer " + given.front()->get_name() + " --help";
}

} // namespace kmer
