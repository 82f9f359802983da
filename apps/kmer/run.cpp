// SPDX-License-Identifier: Apache-2.0
// From flags to what they ask for.
#include <fmt/core.h>
#include <functional>
#include <map>
#include <new>
#include <optional>

#include "../bench/machine.hpp"
#include "../console.hpp"
#include "../counted.hpp"
#include "command.hpp"
#include "count.hpp"
#include "ends.hpp"
#include "error.hpp"
#include "flags.hpp"
#include "operations.hpp"
#include "options.hpp"
#include "output_file.hpp"
#include "sizes.hpp"
#include "store.hpp"
#include "summary.hpp"

namespace kmer {

namespace {

using console::counted;
using flags = commands::flags;

count_range range_of(const flags& f) {
  count_range r;
  r.low = static_cast<std::uint32_t>(number_between("--min-count", f.min_count, 1, largest_count));
  if (!f.max_count.empty())
    r.high = static_cast<std::uint32_t>(number_between("--max-count", f.max_count, r.low, largest_count));
  return r;
}

count_bounds bounds_of(const flags& f) {
  count_bounds b;
  b.min_count = static_cast<std::uint32_t>(number_between("--min-count", f.min_count, 1, largest_count));
  if (!f.count_limit.empty())
    b.count_limit =
        static_cast<std::uint32_t>(number_between("--count-limit", f.count_limit, b.min_count, largest_count));
  return b;
}

std::uint64_t memory_of(const flags& f) {
  if (!f.memory.empty()) {
    const std::uint64_t memory = number_in("--memory", f.memory, 1024);
    const std::uint64_t present = bench::describe_machine().memory_bytes;
    if (present != 0 && memory > present)
      throw bad_input(fmt::format("--memory {}: this machine has {}M", f.memory, present / mebibyte));
    return memory;
  }
  return std::max<std::uint64_t>(bench::memory_available() / 2, 256 * mebibyte);
}

// How messages name that: as it was typed.
std::string memory_shown(const flags& f, std::uint64_t memory) {
  return f.memory.empty() ? fmt::format("the default, --memory {}M", memory / mebibyte) : "--memory " + f.memory;
}

// The default place of output.
std::string output_of(const flags& f) { return f.output.empty() ? "-" : f.output; }

void check_count_ends(const flags& f) {
  command_inputs inputs{f.files, {}};
  if (!f.reference.empty()) inputs.files.push_back(f.reference);
  keep_inputs(inputs, f.output);
  check_streams(f.files);
  if (!f.reference.empty()) check_reference(f.reference);
  if (f.json.empty()) return;
  keep_inputs(inputs, f.json, output_kind::summary);
  keep_apart(f.output, f.json);
}

// With --quiet, too: what was counted may not be everything.
void warn(const char* command, const std::vector<std::string>& warnings) {
  for (const std::string& one : warnings) console::say("cubby kmer {}: warning: {}\n", command, one);
}

void run_count(const flags& f) {
  check_count_ends(f);
  count_options o;
  o.inputs = f.files;
  o.output = f.output;
  o.of.k = static_cast<unsigned>(number_between("-k", f.k, 1, longest_k));
  o.of.canonical = !f.no_canonical;
  o.bounds = bounds_of(f);
  o.threads = f.threads.empty() ? std::max<std::size_t>(1, bench::describe_machine().cores)
                                : number_between("--threads", f.threads, 1, 512);
  o.memory = memory_of(f);
  o.memory_shown = memory_shown(f, o.memory);
  o.spill_folder = f.spill_to.empty() ? folder_beside(f.output) : f.spill_to;
  if (!f.spill_to.empty()) check_spill_folder(f.spill_to);
  o.reference = f.reference;
  if (!f.engine.empty()) {
    const engine_id* const engine = engine_named(f.engine);
    if (engine == nullptr)
      throw bad_input(fmt::format("--engine '{}': unknown engine; give one of {}", f.engine, engine_names()));
    if (!can_hold(*engine, o.of.k))
      throw bad_input(fmt::format("--engine {}: holds k-mers of up to {} bases, and -k is {}; give another engine",
                                  f.engine, longest_narrow_k, o.of.k));
    o.engine = *engine;
  }
  std::optional<output_file> json; // opened before the work begins
  if (!f.json.empty()) json.emplace(f.json);
  const count_figures figures = count(o);
  warn("count", figures.warnings);
  if (!f.quiet) print_summary(o, figures);
  if (json) write_summary(*json, o, figures);
}

void run_histo(const flags& f) {
  const count_range range = range_of(f);
  keep_inputs({{}, f.files}, output_of(f));
  const std::uint64_t above = print_histogram(f.files.front(), output_of(f), range);
  if (above != 0)
    console::say("cubby kmer histo: {} with a count above {} {} not in these rows\n", counted(above, "k-mer", "k-mers"),
                 range.high, above == 1 ? "is" : "are");
}

void run_query(const flags& f) {
  if (f.files.size() == 1 && f.sequence_files.empty())
    throw bad_input("no k-mers to ask for; give some behind the file, or sequences by -s");
  keep_inputs({f.sequence_files, {f.files.front()}}, output_of(f));
  check_streams(f.sequence_files);
  warn("query", query(f.files.front(), {f.files.begin() + 1, f.files.end()}, f.sequence_files, output_of(f)));
}

void tell(const flags& f, const file_figures& figures, const count_bounds& bounds) {
  console::say("{}: {}\n", f.output, counted(figures.distinct, "k-mer", "k-mers"));
  if (figures.left_out != 0)
    console::say("{} with a count below {} {} left out\n", counted(figures.left_out, "k-mer", "k-mers"),
                 bounds.min_count, figures.left_out == 1 ? "was" : "were");
  if (figures.saturated != 0)
    console::say("{} the largest count and may occur more often\n",
                 counted(figures.saturated, "k-mer has", "k-mers have"));
}

std::function<void(const flags&)> set_command(set_operation what, count_rule usual) {
  return [what, usual](const flags& f) {
    const count_bounds bounds = bounds_of(f);
    const count_rule* const named = f.counts.empty() ? &usual : count_rule_named(f.counts);
    if (named == nullptr)
      throw bad_input(fmt::format("--counts '{}': give sum, min, max, first or difference", f.counts));
    if (*named == count_rule::difference && what != set_operation::subtract)
      throw bad_input("--counts difference: only subtract has a difference");
    keep_inputs_until_named({{}, f.files}, f.output);
    tell(f, combine(what, *named, f.files, f.output, bounds), bounds);
  };
}

void run_from_kff(const flags& f) {
  const count_bounds bounds = bounds_of(f);
  keep_inputs({f.files, {}}, f.output);
  check_streams(f.files);
  const std::uint64_t memory = memory_of(f);
  tell(f, from_kff(f.files.front(), f.output, bounds, memory, memory_shown(f, memory)), bounds);
}

void run_to_kff(const flags& f) {
  const count_range range = range_of(f);
  keep_inputs({{}, f.files}, f.output);
  to_kff(f.files.front(), f.output, range);
}

void run_dump(const flags& f) {
  const count_range range = range_of(f);
  keep_inputs({{}, f.files}, output_of(f));
  dump(f.files.front(), output_of(f), range);
}

void run_stats(const flags& f) {
  keep_inputs({{}, f.files}, "-");
  if (!f.json.empty()) keep_inputs({{}, f.files}, f.json, output_kind::summary);
  if (!f.json.empty() && f.json != "-") keep_apart("-", f.json); // by - the summary is asked for instead
  print_stats(f.files.front(), f.json);
}

// What a user names; that a default is standard error's file, too, is the shell's doing. Quiet commands have warnings.
void keep_words_apart(const flags& f, const std::string& command) {
  if (!f.output.empty()) keep_from_words(f.output);
  const bool is_default = command == "stats" && f.json == "-"; // it chooses the form, and no place
  if (!f.json.empty() && !is_default) keep_from_words(f.json, output_kind::summary);
}

const std::map<std::string, std::function<void(const flags&)>>& actions() {
  static const std::map<std::string, std::function<void(const flags&)>> all = {
      {"count", run_count},
      {"histo", run_histo},
      {"dump", run_dump},
      {"query", run_query},
      {"stats", run_stats},
      {"merge", set_command(set_operation::merge, count_rule::sum)},
      {"union", set_command(set_operation::join, count_rule::sum)},
      {"intersect", set_command(set_operation::intersect, count_rule::least)},
      {"subtract", set_command(set_operation::subtract, count_rule::first)},
      {"to-kff", run_to_kff},
      {"from-kff", run_from_kff},
  };
  return all;
}

} // namespace

bool commands::chosen() const { return app_->parsed(); }

int commands::run() const {
  const std::string name = app_->get_subcommands().front()->get_name();
  try {
    keep_words_apart(*flags_, name);
    actions().at(name)(*flags_);
    return 0;
  } catch (const bad_input& e) {
    console::say("cubby kmer {}: {}\n", name, e.what());
    return 2;
  } catch (const std::bad_alloc&) {
    console::say("cubby kmer {}: memory ran out; give a smaller --memory\n", name);
    return 1;
  } catch (const std::exception& e) {
    console::say("cubby kmer {}: {}\n", name, e.what());
    return 1;
  }
}

} // namespace kmer
