// SPDX-License-Identifier: Apache-2.0
// Flags, then checks that allocate nothing, then chapters one by one.
#include "bench.hpp"

#include <filesystem>
#include <fmt/core.h>
#include <memory>
#include <optional>

#include "../console.hpp"
#include "../kmer/error.hpp"
#include "../kmer/output_place.hpp"
#include "demonstration.hpp"
#include "descriptions.hpp"
#include "durable_files.hpp"
#include "kmers.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "session.hpp"

namespace bench {

namespace {

std::vector<chapter> chapters_of(const bench_options& options) {
  if (options.default_run) return demonstration(options.run.seed, options.full);
  return {{"Results", "Every combination that was asked for.", options.run, {}}};
}

// Results must not overwrite the file of the keys.
void keep_keys(const run_spec& run, const bench_options& options) {
  if (run.keys_from.empty()) return;
  const auto check = [&](const char* flag, const std::string& output) {
    std::error_code none;
    if (std::filesystem::equivalent(run.keys_from, output, none))
      throw bad_request(
          fmt::format("{} '{}': it is the file of --keys-from as well; give {} another name", flag, output, flag));
  };
  check("--json", options.json);
  check("--report", options.report + "/index.html");
}

void keep_outputs_apart(const bench_options& options) {
  if (options.json.empty()) return;
  if (options.json == "-" || kmer::is_one_output(options.json, "/dev/stdout"))
    throw bad_request(fmt::format("--json '{}': standard output has the tables; give a file", options.json));
  if (!options.report.empty() && kmer::is_one_output(options.json, options.report + "/index.html"))
    throw bad_request(
        fmt::format("--json '{}': it is the page of --report as well; give --json another name", options.json));
}

void print_chapter(const chapter& c) {
  console::print("\n{}\n{}\n\n", heading_of(c), command_of(c.run));
  print_results(c.results);
  print_absences(c);
  print_files(c);
}

void run_all(const bench_options& options) {
  std::vector<chapter> chapters = chapters_of(options);
  for (const chapter& c : chapters) {
    check_run(c.run);
    check_folders(c.run);
    keep_keys(c.run, options);
  }
  keep_outputs_apart(options);
  std::unique_ptr<kmer::output_file> json; // opened before the work begins
  if (!options.json.empty()) json = open_output("--json", options.json);
  if (!options.report.empty()) check_report(options.report);

  const machine_info machine = describe_machine();
  print_machine(machine);
  progress shown;
  session measured(shown);
  for (std::size_t i = 0; i < chapters.size(); ++i) {
    chapter& c = chapters[i];
    shown.stage(fmt::format("{} of {}: {}", i + 1, chapters.size(), heading_of(c)));
    c.results = measured.run(c.run);
    print_chapter(c);
  }
  std::optional<exhibit> kmers;
  if (options.default_run && !options.report.empty()) {
    shown.stage("k-mers of real reads");
    kmers = count_real_reads();
    if (!kmers) shown.stage("no reads: the package bowtie2-examples is not installed");
  }
  print_conclusion(chapters);
  if (json) {
    json->write(json_of(machine, options.run.seed, chapters));
    json->commit();
  }
  if (!options.report.empty()) {
    shown.stage("drawing the report");
    write_report(options.report, machine, chapters, kmers);
    console::print("\nreport: {}/index.html\n", options.report);
  }
  console::flush();
}

} // namespace

CLI::App& add_command(CLI::App& program, raw_options& raw) {
  CLI::App& app =
      *program.add_subcommand("bench", "Run workloads over engines side by side and say who wins by how much");
  app.footer("Without flags (but --report, --json, --seed and --full): a demonstration of at most two minutes on two "
             "cores, and of four with --full.\n"
             "Sizes take lists: each combination is measured. docs/bench.md explains method and fields.");
  app.add_option("--engine", raw.engine, "LIST of " + engine_names());
  app.add_option("--workload", raw.workload, "LIST of " + workload_names());
  app.add_option("--keys", raw.keys, "LIST: keys in the table (20000000 or 20M); default 10M");
  app.add_option("--threads", raw.threads, "LIST: worker threads; default one for each core");
  app.add_option(
      "--updaters", raw.updaters,
      "threads that update under resize and grow-shrink, while those of --threads find; default: half of those");
  app.add_option("--batch", raw.batch, "LIST: operations in a batch, 1 for no batches; default 32");
  app.add_option("--value-size", raw.value_size, "LIST: bytes of a value; default 8");
  app.add_option("--key-size", raw.key_size, "LIST: bytes of a key; default 8");
  app.add_option("--seconds", raw.seconds, "length of a round; default 1");
  app.add_option("--rounds", raw.rounds, "rounds, engines taking turns; the median counts; default 3");
  app.add_option("--space", raw.space, "space that a table is made with, percent of the keys; default 100");
  app.add_flag("--latency", raw.latency, "also time each operation by itself");
  app.add_option("--seed", raw.seed, "seed of keys, operations and hashes; default 1");
  app.add_option("--keys-from", raw.keys_from, "FILE whose lines are the keys");
  app.add_option("--key-kind", raw.key_kind, "made-up texts as keys: words, 12-40 or uuids");
  app.add_option("--dir", raw.dir,
                 "folder for the files of durable tables, removed at the end; default: /dev/shm, and for "
                 "durable-page the system's temporary folder");
  app.add_option("--json", raw.json, "FILE for the results");
  app.add_flag("--full", raw.full,
               "the demonstration with all its chapters: sweeps of sizes and threads, latencies, YCSB");
  app.add_option("--report", raw.report, "DIR for one HTML page with plots");
  // An empty value is an empty variable of a script. It does not mean the default.
  const auto not_empty = [](const std::string& given) {
    return std::string(given.empty() ? "the value is empty" : "");
  };
  for (CLI::Option* const option : app.get_options({}))
    if (option->get_items_expected_max() > 0) option->check(not_empty, "");
  return app;
}

int run_command(const raw_options& raw) {
  try {
    run_all(parse(raw));
    return 0;
  } catch (const bad_request& e) {
    console::say("cubby bench: {}\n", e.what());
    return 2;
  } catch (const kmer::bad_input& e) {
    console::say("cubby bench: {}\n", e.what());
    return 2;
  } catch (const console::results_lost& e) {
    console::say("cubby bench: {}\n", e.what());
    return 2;
  } catch (const std::bad_alloc&) {
    console::say("cubby bench: memory ran out in the middle of the run; give fewer --keys\n");
    return 1;
  } catch (const std::exception& e) {
    console::say("cubby bench: {}\n", e.what());
    return 1;
  }
}

} // namespace bench
