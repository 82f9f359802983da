// SPDX-License-Identifier: Apache-2.0
// Turns flags into a run, or into one line that says why not.
#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "absence.hpp"
#include "build_kind.hpp"
#include "features.hpp"
#include "machine.hpp"
#include "made_texts.hpp"
#include "table_of.hpp"

namespace bench {

namespace {

std::vector<std::string> pieces(const std::string& flag, const std::string& text) {
  std::vector<std::string> all;
  std::size_t from = 0;
  while (true) {
    const std::size_t comma = text.find(',', from);
    all.push_back(text.substr(from, comma - from));
    if (all.back().empty())
      throw bad_request(fmt::format("{} '{}': the list has an empty entry; give one comma between two entries, and "
                                    "none before the first or behind the last",
                                    flag, text));
    if (comma == std::string::npos) return all;
    from = comma + 1;
  }
}

std::size_t count_in(const std::string& flag, const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit(end, text.data() + text.size());
  std::uint64_t scale = unit.empty()  ? 1
                        : unit == "k" ? 1000
                        : unit == "M" ? 1'000'000
                        : unit == "G" ? 1'000'000'000
                                      : 0;
  if (error == std::errc::result_out_of_range || (error == std::errc() && scale != 0 && value > UINT64_MAX / 2 / scale))
    throw bad_request(fmt::format("{} '{}': the number is too large", flag, text));
  if (error != std::errc() || scale == 0)
    throw bad_request(fmt::format("{} '{}': not a count; give digits, with k, M or G if you like", flag, text));
  return value * scale;
}

std::vector<std::size_t> counts_in(const std::string& flag, const std::string& text, const std::string& why) {
  std::vector<std::size_t> all;
  for (const std::string& piece : pieces(flag, text)) {
    const std::size_t count = count_in(flag, piece);
    if (count == 0) throw bad_request(fmt::format("{} 0: {}", flag, why));
    if (std::find(all.begin(), all.end(), count) == all.end()) all.push_back(count);
  }
  return all;
}

template <class Sizes> std::string size_list(const Sizes& known) {
  return fmt::format("give one of {}", fmt::join(std::begin(known), std::end(known), ", "));
}

template <class Sizes> void check_sizes(const std::string& flag, const std::vector<std::size_t>& got,
                                        const Sizes& known) {
  for (const std::size_t size : got)
    if (std::find(std::begin(known), std::end(known), size) == std::end(known))
      throw bad_request(fmt::format("{} {}: no engine is built for this size; {}", flag, size, size_list(known)));
    else if (!is_whole_program && size > 8)
      throw bad_request(fmt::format("{} {}: {}", flag, size, how_to_get_the_rest));
}

std::vector<engine_id> engines_in(const std::string& text) {
  std::vector<engine_id> all;
  for (const std::string& name : pieces("--engine", text)) {
    const auto found = engines_named(name);
    if (found.empty())
      throw bad_request(fmt::format("--engine '{}': unknown engine; give some of {}", name, engine_names()));
    for (const engine_id e : found) {
      if (!is_built_in(e)) throw bad_request(fmt::format("--engine {}: {}", name, why_not_built_in(e)));
      if (std::find(all.begin(), all.end(), e) == all.end()) all.push_back(e);
    }
  }
  return all;
}

std::vector<workload> workloads_in(const std::string& text) {
  std::vector<workload> all;
  for (const std::string& name : pieces("--workload", text)) {
    const auto found = workloads_named(name);
    if (found.empty())
      throw bad_request(fmt::format("--workload '{}': unknown workload; give some of {}", name, workload_names()));
    for (const workload w : found)
      if (std::find(all.begin(), all.end(), w) == all.end()) all.push_back(w);
  }
  return all;
}

double seconds_in(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0) || value > 3600)
    throw bad_request(fmt::format("--seconds '{}': give the length of a round, more than 0 and at most 3600", text));
  return value;
}

std::size_t one_in(const std::string& flag, const std::string& text, const std::string& why) {
  const std::vector<std::size_t> all = counts_in(flag, text, why);
  if (pieces(flag, text).size() > 1) throw bad_request(fmt::format("{} '{}': takes no list; {}", flag, text, why));
  return all.front();
}

bool asks_for(const run_spec& run, engine_id engine) {
  return std::find(run.engines.begin(), run.engines.end(), engine) != run.engines.end();
}

void check_partitioned(const run_spec& run) {
  if (!asks_for(run, engine_id::partitioned)) return;
  if (run.value_sizes != std::vector<std::size_t>{8} || run.key_sizes != std::vector<std::size_t>{8} || is_text(run))
    throw bad_request("--engine partitioned: holds 8-byte keys and values alone; leave it out of this run");
}

// Engines for words and texts.
void check_small(const run_spec& run, engine_id engine) {
  if (!asks_for(run, engine)) return;
  if (run.value_sizes != std::vector<std::size_t>{8} || run.key_sizes != std::vector<std::size_t>{8})
    throw bad_request(fmt::format(
        "--engine {}: built for 8-byte values, and 8-byte keys or lines; leave it out of this run", name_of(engine)));
}

void check_tuples(const run_spec& run) {
  if (std::find(run.engines.begin(), run.engines.end(), engine_id::dramhit_tuples) == run.engines.end()) return;
  const auto above_32 = [](std::size_t n) { return n > 32; };
  if (is_text(run) || std::any_of(run.key_sizes.begin(), run.key_sizes.end(), above_32) ||
      std::any_of(run.value_sizes.begin(), run.value_sizes.end(), above_32))
    throw bad_request("--engine dramhit-tuples: built for keys and values of at most 32 bytes, and no lines; leave it "
                      "out of this run");
}

void check_texts(const run_spec& run) {
  if (asks_for(run, engine_id::iceberg_wide) && !is_text(run))
    throw bad_request(
        "--engine iceberg-wide: built for text keys alone; give --key-kind or --keys-from, or take iceberg");
}

void check_features(const run_spec& run) {
  const auto first = std::find_if(run.engines.begin(), run.engines.end(), is_feature_engine);
  if (first == run.engines.end()) return;
  if (run.value_sizes != std::vector<std::size_t>{feature_value_size} || run.key_sizes != std::vector<std::size_t>{8} ||
      is_text(run))
    throw bad_request(
        fmt::format("--engine {}: built for 8-byte keys and values of {} bytes alone; give --value-size {}",
                    name_of(*first), feature_value_size, feature_value_size));
}

void check_chains(const run_spec& run) {
  for (const engine_id e : run.engines)
    if ((e == engine_id::ddds || e == engine_id::rwlock || is_design(e)) &&
        (run.value_sizes != std::vector<std::size_t>{8} || run.key_sizes != std::vector<std::size_t>{8} ||
         is_text(run)))
      throw bad_request(
          fmt::format("--engine {}: holds 8-byte keys and values alone; leave it out of this run", name_of(e)));
}

// The flags about tables that a run without tables was given.
void check_table_flags(const raw_options& raw, const run_spec& run) {
  if (!tables_of(run).workloads.empty()) return;
  const std::pair<const char*, bool> given[] = {{"--keys", !raw.keys.empty()},
                                                {"--keys-from", !raw.keys_from.empty()},
                                                {"--key-kind", !raw.key_kind.empty()},
                                                {"--batch", !raw.batch.empty()},
                                                {"--value-size", !raw.value_size.empty()},
                                                {"--key-size", !raw.key_size.empty()},
                                                {"--space", !raw.space.empty()},
                                                {"--seed", !raw.seed.empty()},
                                                {"--dir", !raw.dir.empty()},
                                                {"--latency", raw.latency}};
  for (const auto& [flag, is_given] : given)
    if (is_given)
      throw bad_request(
          fmt::format("{}: does not apply to read-section, which has no table and is not timed one by one; "
                      "leave it out, or add a workload such as get",
                      flag));
}

// All tables except those that run only by name; or the read sections, if the run measures nothing else.
std::string default_engines(const run_spec& run) {
  const bool tables = !tables_of(run).workloads.empty();
  const bool sections =
      std::any_of(run.workloads.begin(), run.workloads.end(), [](const workload& w) { return is_section(w); });
  return std::string(tables ? "dlht,dramhit,reference,tbb,cuckoo,lfht," : "") +
         (tables && is_built_in(engine_id::boost) ? "boost," : "") +
         (sections ? "rcu,rcu-record,urcu-memb,urcu-bp,urcu-qsbr," : "") + "limit";
}

void check_engines(const run_spec& run) {
  check_features(run);
  check_small(run, engine_id::dramhit_pipe);
  check_small(run, engine_id::iceberg_full);
  check_tuples(run);
  check_texts(run);
  check_partitioned(run);
  check_chains(run);
}

void check_kind(const run_spec& run, bool sizes) {
  if (text_of_kind(run.key_kind) == nullptr)
    throw bad_request(fmt::format("--key-kind '{}': unknown kind; give one of {}", run.key_kind, key_kinds));
  if (sizes || !run.keys_from.empty())
    throw bad_request("--key-kind: the keys are made-up texts with 8-byte values; leave --key-size and --value-size at "
                      "8, and --keys-from out");
}

void check_together(const run_spec& run) {
  const auto above_8 = [](std::size_t n) { return n > 8; };
  const bool keys = std::any_of(run.key_sizes.begin(), run.key_sizes.end(), above_8);
  const bool values = std::any_of(run.value_sizes.begin(), run.value_sizes.end(), above_8);
  if (!run.keys_from.empty() && (keys || values))
    throw bad_request("--keys-from: the keys are lines with 8-byte values; leave --key-size and --value-size at 8");
  if (!run.key_kind.empty()) check_kind(run, keys || values);
  if (keys && values) throw bad_request("--key-size and --value-size: one of the two stays 8; give two runs");
  const std::size_t most = *std::max_element(run.threads.begin(), run.threads.end());
  if (most > 512) throw bad_request(fmt::format("--threads {}: at most 512", most));
  if (run.updaters > 512 - most)
    throw bad_request(fmt::format("--updaters {}: at most 512 threads in all, and {} find", run.updaters, most));
  if (run.updaters != 0 && std::none_of(run.workloads.begin(), run.workloads.end(), updates_beside_finds))
    throw bad_request("--updaters: applies to no workload of this run; leave it out, or add grow-shrink or resize");
  if (run.rounds > 1000) throw bad_request(fmt::format("--rounds {}: at most 1000", run.rounds));
  const std::size_t largest = *std::max_element(run.batch.begin(), run.batch.end());
  if (largest > 65536) throw bad_request(fmt::format("--batch {}: at most 65536", largest));
  for (const workload& w : run.workloads)
    if (updates_beside_finds(w) && run.updaters == 0 && *std::min_element(run.threads.begin(), run.threads.end()) < 2)
      throw bad_request(fmt::format(
          "--workload {}: one thread updates while another finds; give --threads 2 or more, or --updaters 1",
          name_of(w)));
  if (!run.dir.empty() && std::none_of(run.engines.begin(), run.engines.end(), is_durable))
    throw bad_request("--dir: no engine of this run has a file; leave it out, or add a durable engine");
  check_figures(run);
}

bool says_nothing_of_a_run(const raw_options& raw) {
  return raw.engine.empty() && raw.workload.empty() && raw.keys.empty() && raw.threads.empty() &&
         raw.updaters.empty() && raw.batch.empty() && raw.value_size.empty() && raw.key_size.empty() &&
         raw.seconds.empty() && raw.rounds.empty() && raw.space.empty() && !raw.latency && raw.keys_from.empty() &&
         raw.key_kind.empty() && raw.dir.empty();
}

void choose_chapters(bench_options& all, const raw_options& raw) {
  all.default_run = says_nothing_of_a_run(raw);
  all.full = raw.full;
  if (all.full && !all.default_run)
    throw bad_request(
        "--full: chooses among the chapters of the default run, and other flags choose what to run; leave "
        "--full out, or all flags but --report, --json and --seed");
  if (all.full && !is_whole_program) throw bad_request(fmt::format("--full: {}", how_to_get_the_rest));
}

} // namespace

bench_options parse(const raw_options& raw) {
  bench_options all;
  run_spec& run = all.run;
  const auto or_else = [](const std::string& given, const char* otherwise) {
    return given.empty() ? otherwise : given;
  };
  choose_chapters(all, raw);
  run.workloads = workloads_in(or_else(raw.workload, "get,miss,insdel,put"));
  run.engines = engines_in(raw.engine.empty() ? default_engines(run) : raw.engine);
  // A file gives its own number of keys; 0 stands for all of them.
  run.keys = raw.keys.empty() && !raw.keys_from.empty()
                 ? std::vector<std::size_t>{0}
                 : counts_in("--keys", or_else(raw.keys, "10M"), "give the number of keys to store, 1 or more");
  run.threads = raw.threads.empty() ? std::vector<std::size_t>{describe_machine().cores}
                                    : counts_in("--threads", raw.threads, "give the number of threads, 1 or more");
  if (!raw.updaters.empty())
    run.updaters = one_in("--updaters", raw.updaters, "give the number of threads that update, 1 or more");
  run.batch = counts_in("--batch", or_else(raw.batch, "32"),
                        "a batch holds at least one operation; give 1 to run without batches");
  run.value_sizes = counts_in("--value-size", or_else(raw.value_size, "8"), size_list(value_sizes));
  run.key_sizes = counts_in("--key-size", or_else(raw.key_size, "8"), size_list(key_sizes));
  check_sizes("--value-size", run.value_sizes, value_sizes);
  check_sizes("--key-size", run.key_sizes, key_sizes);
  run.seconds = seconds_in(or_else(raw.seconds, "1"));
  run.rounds = one_in("--rounds", or_else(raw.rounds, "3"), "give the number of rounds, 1 or more");
  run.space = one_in("--space", or_else(raw.space, "100"), "give the space as percent of the keys, 10 to 1000");
  if (run.space < 10 || run.space > 1000)
    throw bad_request(fmt::format("--space {}: give the space as percent of the keys, 10 to 1000", run.space));
  run.seed = count_in("--seed", or_else(raw.seed, "1"));
  run.latency = raw.latency;
  run.keys_from = raw.keys_from;
  run.key_kind = raw.key_kind;
  run.dir = raw.dir;
  check_table_flags(raw, run);
  check_engines(run);
  check_together(run);
  all.json = raw.json;
  all.report = raw.report;
  return all;
}

run_spec tables_of(const run_spec& run) {
  run_spec tables = run;
  std::erase_if(tables.engines, is_flavour);
  std::erase_if(tables.workloads, [](const workload& w) { return is_section(w); });
  return tables;
}

thread_counts threads_of(const run_spec& run, const workload& w, std::size_t threads) {
  if (!updates_beside_finds(w)) return {threads, 0, 0};
  if (run.updaters == 0) return {threads, threads - threads / 2, threads / 2};
  return {threads + run.updaters, threads, run.updaters};
}

namespace {

std::string table_flags(const run_spec& run) {
  std::string text;
  if (!run.keys_from.empty()) text += fmt::format(" --keys-from {}", run.keys_from);
  if (!run.key_kind.empty()) text += fmt::format(" --key-kind {}", run.key_kind);
  if (!run.dir.empty()) text += fmt::format(" --dir {}", run.dir);
  if (run.keys.front() != 0) text += fmt::format(" --keys {}", fmt::join(run.keys, ","));
  text += fmt::format(" --batch {}", fmt::join(run.batch, ","));
  if (run.value_sizes != std::vector<std::size_t>{8})
    text += fmt::format(" --value-size {}", fmt::join(run.value_sizes, ","));
  if (run.key_sizes != std::vector<std::size_t>{8})
    text += fmt::format(" --key-size {}", fmt::join(run.key_sizes, ","));
  text += fmt::format(" --seed {}", run.seed);
  if (run.space != 100) text += fmt::format(" --space {}", run.space);
  if (run.updaters != 0) text += fmt::format(" --updaters {}", run.updaters);
  return run.latency ? text + " --latency" : text;
}

} // namespace

std::string command_of(const run_spec& run) {
  std::vector<std::string_view> engines;
  for (const engine_id e : run.engines) engines.push_back(name_of(e));
  std::vector<std::string> names;
  for (const workload& w : run.workloads) names.push_back(name_of(w));
  const std::string text =
      fmt::format("cubby bench --engine {} --workload {} --threads {} --seconds {} --rounds {}",
                  fmt::join(engines, ","), fmt::join(names, ","), fmt::join(run.threads, ","), run.seconds, run.rounds);
  return tables_of(run).workloads.empty() ? text : text + table_flags(run);
}

} // namespace bench
