// SPDX-License-Identifier: Apache-2.0
// The counts as JSON and as a table for people.
#include <cstdio>
#include <cstdlib>

#include "counting/cases.hpp"

namespace cubby_counting {
namespace {

struct column {
  const char* name;
  unsigned tally::* figure;
};
constexpr column columns[] = {
    {"lines", &tally::lines},      {"table", &tally::table}, {"thread record", &tally::thread_record},
    {"process", &tally::process},  {"index", &tally::index}, {"loads", &tally::loads},
    {"stores", &tally::stores},    {"rmw8", &tally::rmw8},   {"rmw16", &tally::rmw16},
    {"fences", &tally::fences},    {"waits", &tally::waits}, {"allocations", &tally::allocations},
    {"mappings", &tally::mappings}};

} // namespace

const row& row_of(const std::vector<row>& all, const std::string& table, const std::string& verb) {
  for (const row& r : all) {
    if (r.table == table && r.verb == verb) return r;
  }
  std::fprintf(stderr, "nothing counts %s of %s\n", verb.c_str(), table.c_str());
  std::abort();
}

std::string as_json(const std::vector<row>& all) {
  std::string out = "[\n";
  for (const row& r : all) {
    out += "{\"table\": \"" + r.table + "\", \"verb\": \"" + r.verb + "\"";
    for (const column& c : columns) out += std::string(", \"") + c.name + "\": " + std::to_string(r.counts.*c.figure);
    out += &r == &all.back() ? "}\n" : "},\n";
  }
  return out + "]\n";
}

std::string as_table(const std::vector<row>& all) {
  std::string out =
      "`lines` are of bins and link buckets; table, thread record and index are lines, process is words, that all"
      " keys share.\n"
      "Plain memory (the first line of the index, records) does not pass the seam and is not counted.\n\n";
  char cell[64];
  std::snprintf(cell, sizeof cell, "%-16s%-40s", "table", "verb");
  out += cell;
  for (const column& c : columns) out += std::string(" ") + c.name;
  out += "\n";
  for (const row& r : all) {
    std::snprintf(cell, sizeof cell, "%-16s%-40s", r.table.c_str(), r.verb.c_str());
    out += cell;
    for (const column& c : columns) {
      std::snprintf(cell, sizeof cell, " %*u", static_cast<int>(std::string(c.name).size()), r.counts.*c.figure);
      out += cell;
    }
    out += "\n";
  }
  return out;
}

} // namespace cubby_counting
