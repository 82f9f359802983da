// SPDX-License-Identifier: Apache-2.0
// They open the table for reading, beside other readers.
#include "views.hpp"

#include <fmt/core.h>
#include <optional>

#include "../console.hpp"
#include "../counted.hpp"
#include "../kmer/ends.hpp"
#include "../kmer/output_file.hpp"
#include "error.hpp"
#include "table.hpp"

namespace store {

using console::counted;

void dump(const std::string& path, record_format format, const std::string& output) {
  kmer::keep_inputs({{}, {path}}, output);
  const table from(path, table::access::read);
  kmer::output_file out(output);
  std::string line;
  from.each([&](std::string_view key, std::string_view value) {
    line.clear();
    if (format == record_format::tsv) write_tsv(line, key, value);
    else if (!write_json(line, key, value))
      throw refused(fmt::format("{}: the entry of the key '{}' is not UTF-8, so JSON cannot hold it; dump as tsv", path,
                                shown(key)));
    out.write(line);
  });
  out.commit();
}

int check(const std::string& path) {
  try {
    const table of(path, table::access::read);
    const check_result found = of.check();
    if (!found.sound()) {
      console::say("cubby store check: {}: not sound: {} damaged, {} not found by key; restore a copy of the file\n",
                   path, counted(found.damaged, "entry is", "entries are"), counted(found.lost, "is", "are"));
      return 1;
    }
    console::print("{}: sound: {}\n", path, counted(found.entries, "entry", "entries"));
    console::flush();
    return 0;
  } catch (const broken_file& e) {
    console::say("cubby store check: not sound: {}\n", e.what());
    return 1;
  }
}

void print_figures(const nlohmann::ordered_json& all, const std::string& json) {
  if (json == "-") {
    console::print("{}\n", all.dump(2));
    return console::flush();
  }
  std::optional<kmer::output_file> told;
  if (!json.empty()) told.emplace(json);
  const auto print = [](const std::string& name, const nlohmann::ordered_json& value) {
    console::print("{:<30} {}\n", name, value.is_string() ? value.get<std::string>() : value.dump());
  };
  for (const auto& [name, value] : all.items())
    if (value.is_object())
      for (const auto& [part, figure] : value.items()) print(name + "." + part, figure);
    else print(name, value);
  console::flush();
  if (!told) return;
  told->write(all.dump(2) + "\n");
  told->commit();
}

void print_stats(const std::string& path, const std::string& json) {
  if (!json.empty() && json != "-") kmer::keep_inputs({{}, {path}}, json, kmer::output_kind::summary);
  const table of(path, table::access::read);
  const table_figures now = of.figures();
  const table_identity is = of.identity();
  nlohmann::ordered_json all;
  all["file"] = path;
  all["engine"] = name_of(is.engine);
  all["entries"] = now.entries;
  all["slots"] = now.slots;
  all["fixed_capacity"] = is.fixed_capacity;
  all["survives"] = is.survives_power_cut ? "power-cut" : "process";
  all["file_bytes"] = now.file_bytes;
  all["record_bytes"] = now.block_bytes;
  all["chained"] = now.chained;
  all["closed"] = now.clean;
  all["power_cut"] = now.power_cut;
  all["moves_finished"] = now.finished;
  all["copies_dropped"] = now.duplicates;
  all["torn"] = now.torn;
  all["damaged"] = now.damaged;
  all["seconds_to_open"] = now.seconds_to_open;
  print_figures(all, json);
}

} // namespace store
