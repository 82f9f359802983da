// SPDX-License-Identifier: Apache-2.0
// From flags to what they ask for.
#include <cerrno>
#include <cstdio>
#include <fmt/core.h>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <unistd.h>

#include "../console.hpp"
#include "../kmer/options.hpp"
#include "bench.hpp"
#include "command.hpp"
#include "error.hpp"
#include "flags.hpp"
#include "load.hpp"
#include "table.hpp"
#include "views.hpp"

namespace store {

namespace {

using flags = commands::flags;

constexpr std::uint64_t longest_pause = 3'600'000; // milliseconds

bool survives_power_cut(const flags& f) {
  if (f.survives != "power-cut" && f.survives != "process")
    throw refused(fmt::format("--survive '{}': give process or power-cut", f.survives));
  return f.survives == "power-cut";
}

table_engine engine_of(const flags& f) {
  for (const table_engine e : {table_engine::iceberg, table_engine::seph})
    if (f.engine == name_of(e)) return e;
  throw refused(fmt::format("--engine '{}': give iceberg or seph", f.engine));
}

std::optional<record_format> format_of(const flags& f, bool may_be_auto) {
  if (f.format.empty() || (may_be_auto && f.format == "auto")) return std::nullopt;
  if (f.format == "tsv") return record_format::tsv;
  if (f.format == "jsonl") return record_format::jsonl;
  throw refused(fmt::format("--format '{}': give tsv{} jsonl", f.format, may_be_auto ? ", auto or" : " or"));
}

std::chrono::milliseconds pause_of(const flags& f, std::uint64_t usual) {
  if (f.sync_every.empty()) return std::chrono::milliseconds(usual);
  return std::chrono::milliseconds(kmer::number_between("--sync-every", f.sync_every, 1, longest_pause));
}

int run_create(const flags& f) {
  table_shape shape;
  if (!f.capacity.empty()) shape.capacity = kmer::number_between("--capacity", f.capacity, 1, std::uint64_t{1} << 40);
  shape.fixed = f.fixed;
  if (f.fixed && f.capacity.empty()) throw refused("--fixed: give --capacity as well");
  shape.survives_power_cut = survives_power_cut(f);
  shape.engine = engine_of(f);
  table::create(f.file, shape).close();
  return 0;
}

std::string value_of(const flags& f) {
  if (f.has_value) return f.value;
  std::string all;
  char block[65536];
  while (true) {
    const ssize_t got = ::read(STDIN_FILENO, block, sizeof block);
    if (got == 0) return all;
    if (got > 0) all.append(block, static_cast<std::size_t>(got));
    else if (errno != EINTR) throw refused(fmt::format("standard input: cannot be read: {}", std::strerror(errno)));
  }
}

int run_put(const flags& f) {
  const std::string value = value_of(f); // before the table is opened, which others may wait for
  table to(f.file, table::access::write);
  to.put(f.key, value);
  to.close();
  return 0;
}

int run_get(const flags& f) {
  const table from(f.file, table::access::read);
  const auto print = [&](std::string_view value) {
    std::string text(value);
    if (!f.exact) text.push_back(f.null ? '\0' : '\n');
    console::print("{}", text);
  };
  if (!from.get(f.key, print)) return 1;
  console::flush();
  return 0;
}

int run_del(const flags& f) {
  table to(f.file, table::access::write);
  const bool was_there = to.erase(f.key);
  to.close();
  return was_there ? 0 : 1;
}

int run_load(const flags& f) {
  load_request asked;
  asked.table = f.file;
  asked.inputs = f.inputs.empty() ? std::vector<std::string>{"-"} : f.inputs;
  asked.format = format_of(f, true);
  const std::map<std::string, duplicate_policy> policies = {
      {"replace", duplicate_policy::replace}, {"keep", duplicate_policy::keep}, {"fail", duplicate_policy::fail}};
  const auto policy = policies.find(f.on_duplicate);
  if (policy == policies.end())
    throw refused(fmt::format("--on-duplicate '{}': give replace, keep or fail", f.on_duplicate));
  asked.on_duplicate = policy->second;
  asked.sync_every = pause_of(f, 2000);
  asked.quiet = f.quiet;
  load(asked);
  return 0;
}

int run_dump(const flags& f) {
  dump(f.file, format_of(f, false).value_or(record_format::tsv), f.output);
  return 0;
}

int run_stats(const flags& f) {
  print_stats(f.file, f.json);
  return 0;
}

int run_bench(const flags& f) {
  bench_request asked;
  asked.beside = f.file;
  asked.entries = kmer::number_between("--entries", f.entries, 100, 1'000'000'000);
  asked.sync_every = pause_of(f, 10);
  asked.survives_power_cut = survives_power_cut(f);
  asked.engine = engine_of(f);
  asked.json = f.json;
  bench(asked);
  return 0;
}

const std::map<std::string, std::function<int(const flags&)>>& actions() {
  static const std::map<std::string, std::function<int(const flags&)>> all = {
      {"create", run_create}, {"put", run_put},     {"get", run_get},
      {"del", run_del},       {"load", run_load},   {"dump", run_dump},
      {"stats", run_stats},   {"bench", run_bench}, {"check", [](const flags& f) { return check(f.file); }},
  };
  return all;
}

} // namespace

int commands::run() const {
  const std::string name = app_->get_subcommands().front()->get_name();
  flags_->has_value = value_->count() != 0;
  try {
    return actions().at(name)(*flags_);
  } catch (const std::bad_alloc&) {
    console::say("cubby store {}: memory ran out\n", name);
  } catch (const std::exception& e) {
    console::say("cubby store {}: {}\n", name, e.what());
  }
  return 2;
}

} // namespace store
