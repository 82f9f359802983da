// SPDX-License-Identifier: Apache-2.0
// Flags as they were typed, checked before anything is opened.
#include "command.hpp"

#include "flags.hpp"

namespace store {

namespace {

// An empty value is an empty variable of a script. It does not mean the default. Keys and values may be empty.
void check_not_empty(CLI::App& app) {
  const auto not_empty = [](const std::string& given) {
    return std::string(given.empty() ? "the value is empty" : "");
  };
  for (CLI::Option* const option : app.get_options({}))
    if (option->get_items_expected_max() > 0 && option->get_name() != "KEY" && option->get_name() != "VALUE")
      option->check(not_empty, "");
}

} // namespace

CLI::App& commands::add(const char* name, const char* what, const char* file) {
  CLI::App& one = *app_->add_subcommand(name, what);
  one.add_option("FILE", flags_->file, file)->required();
  return one;
}

void commands::add_entry_commands() {
  flags& f = *flags_;
  CLI::App& create = add("create", "Make a table without entries", "file to make; it must not be there");
  create.add_option("--capacity", f.capacity, "entries to make space for at once, as 10M; the table grows by itself");
  create.add_flag("--fixed", f.fixed, "never grow: refuse entries beyond --capacity");
  create.add_option("--survive", f.survives,
                    "what synced entries survive: power-cut (default), or process, the end of the program alone");
  create.add_option("--engine", f.engine, "iceberg (default), or seph, whose growth writes nothing to the file");
  CLI::App& put = add("put", "Give a key a value", "table");
  put.add_option("KEY", f.key, "any text; behind -- it may begin with -")->required();
  value_ = put.add_option("VALUE", f.value, "default: all bytes of standard input");
  CLI::App& get = add("get", "Print the value of a key; status 1 if the key is absent", "table");
  get.add_option("KEY", f.key, "any text; behind -- it may begin with -")->required();
  CLI::Option* const null = get.add_flag("--null", f.null, "end the value with a zero byte, not with a line end");
  get.add_flag("--exact", f.exact, "print the bytes of the value and nothing behind them")->excludes(null);
  CLI::App& del = add("del", "Erase a key; status 1 if the key is absent", "table");
  del.add_option("KEY", f.key, "any text; behind -- it may begin with -")->required();
}

void commands::add_file_commands() {
  flags& f = *flags_;
  CLI::App& load = add("load", "Add the records of files; goes on where a killed load has stopped", "table");
  load.add_option("INPUT", f.inputs, "TSV or JSON lines, gzip or plain; - is standard input, the default");
  load.add_option("--format", f.format, "tsv, jsonl, or auto (default): JSON lines if an input begins with {");
  load.add_option("--on-duplicate", f.on_duplicate, "for keys that are there: replace (default), keep or fail");
  load.add_option("--sync-every", f.sync_every, "milliseconds between syncs; default 2000");
  load.add_flag("--quiet", f.quiet, "no summary");
  CLI::App& dump = add("dump", "Print all entries, in no order, as load reads them", "table");
  dump.add_option("--format", f.format, "tsv (default), or jsonl for entries that are UTF-8");
  dump.add_option("-o,--output", f.output, "FILE to write; default: standard output");
  add("check", "Look at every entry; status 1 if the file is not sound", "table");
  CLI::App& stats = add("stats", "Print the figures of a table", "table");
  stats.add_option("--json", f.json, "FILE for the figures; - is standard output");
  CLI::App& bench = add("bench", "Measure the medium with a temporary table beside FILE",
                        "name beside which it is made, or a folder; a table there is not opened");
  bench.add_option("--entries", f.entries, "entries of the temporary table; default 300k");
  bench.add_option("--sync-every", f.sync_every, "milliseconds between syncs; default 10");
  bench.add_option("--survive", f.survives, "as in create");
  bench.add_option("--engine", f.engine, "as in create");
  bench.add_option("--json", f.json, "FILE for the figures; - is standard output");
}

commands::commands(CLI::App& program) : flags_(std::make_unique<flags>()) {
  app_ = program.add_subcommand("store", "Keep texts by their keys in a file that survives a crash");
  app_->require_subcommand(1);
  app_->footer("docs/store.md explains everything, docs/format.md the file.");
  add_entry_commands();
  add_file_commands();
  for (CLI::App* const one : app_->get_subcommands({})) check_not_empty(*one);
}

commands::~commands() = default;

bool commands::chosen() const { return app_->parsed(); }

std::string commands::help() const {
  const auto given = app_->get_subcommands();
  return given.empty() ? "cubby store --help" : "cubby store " + given.front()->get_name() + " --help";
}

} // namespace store
