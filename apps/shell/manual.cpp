// SPDX-License-Identifier: Apache-2.0
// The pages are written with the macros of man(7). What no option says, as the exit status and examples, stands in `known` below.
#include "manual.hpp"

#include <algorithm>
#include <cctype>
#include <cubby/version.hpp>
#include <fmt/format.h>
#include <sstream>
#include <utility>
#include <vector>

namespace shell {

namespace {

using texts = std::vector<std::pair<const char*, const char*>>;

struct page_text {
  const char* description;
  texts statuses;
  texts examples;
};

constexpr const char* by_one_line =
    "Everything else: bad input, or what the system refuses. One line on standard error says "
    "what was wrong, where, and what to do.";

// Null: the command has no page of its own; the one above describes it.
const page_text* known(const std::string& page) {
  static const std::map<std::string, page_text> all = {
      {"cubby",
       {"The program measures the tables of the library beside others, counts k-mers, and keeps texts in files.",
        {{"0", "Done."}, {"1", "The answer is no, or an engine answered wrong."}, {"2", by_one_line}},
        {{"source <(cubby completion bash)", "Complete commands and options in this bash."}}}},
      {"cubby-bench",
       {"Engines take turns in each round, on the same keys and operations. The median of the rounds counts.",
        {{"0", "Done."},
         {"1", "An engine answered wrong, or the medium of a durable table failed."},
         {"2", by_one_line}},
        {{"cubby bench", "A demonstration on this machine, which ends with who is first by how much."},
         {"cubby bench --engine dlht,tbb --workload get,insdel --keys 1M", "Two engines and two workloads."}}}},
      {"cubby-kmer",
       {"Counts are exact. Counting stays within the memory that is given, and spills to a file where that is too "
        "little.",
        {{"0", "Done."}, {"1", "The system failed, for want of memory for example."}, {"2", by_one_line}},
        {{"cubby kmer count -k 31 -o reads.kc reads.fq.gz", "Count the 31-mers of reads."},
         {"cubby kmer histo reads.kc", "Show how many k-mers have each count."}}}},
      {"cubby-store",
       {"A table is one file. A command that changes it has synced and closed it before it ends with status 0.",
        {{"0", "Done."}, {"1", "An answer: the key is absent, or the file is not sound."}, {"2", by_one_line}},
        {{"cubby store create names.cubby", "Make a table."},
         {"cubby store load names.cubby names.tsv.gz", "Add records; the same command goes on after a kill."}}}}};
  const auto found = all.find(page);
  return found == all.end() ? nullptr : &found->second;
}

std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') out += "\\e";
    else if (c == '-') out += "\\-";
    else if (c == '\'') out += "\\(aq";
    else if (c == '.' && out.empty()) out += "\\&.";
    else out += c;
  }
  return out;
}

// Text in lines of at most 78 characters, none of which looks like a macro.
std::string filled(const std::string& text) {
  std::string out, line;
  std::istringstream words(roff(text));
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > 78) {
      out += line + "\n";
      line.clear();
      if (word.starts_with(".")) word.insert(0, "\\&");
    }
    line += line.empty() ? word : " " + word;
  }
  return out + line;
}

// A sentence of its own, with a full stop.
std::string sentence(std::string text) {
  if (!text.empty() && text.back() != '.') text += '.';
  return filled(text);
}

std::string synopsis(const command_entry& c) {
  std::string out = fmt::format(".B {}\n", roff(joined(c, " ")));
  out += c.commands.empty() ? "[\\fIOPTIONS\\fR]" : "\\fICOMMAND\\fR [\\fIOPTIONS\\fR]";
  for (const option_entry& one : c.options)
    if (one.flags.empty())
      out += fmt::format(" {}\\fI{}\\fR{}{}", one.required ? "" : "[", roff(one.name), one.several ? "..." : "",
                         one.required ? "" : "]");
  return out + "\n";
}

std::string option_lines(const command_entry& c, bool with_help) {
  std::string out;
  for (const option_entry& one : c.options) {
    if (!with_help && !one.flags.empty() && one.flags.back() == "--help") continue;
    std::string names;
    for (const std::string& flag : one.flags)
      names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff(flag));
    if (!one.name.empty()) names += fmt::format("{}\\fI{}\\fR", names.empty() ? "" : " ", roff(one.name));
    out += fmt::format(".TP\n{}\n{}\n", names, sentence(one.what));
  }
  return out;
}

std::string list(const char* heading, const texts& entries) {
  std::string out = fmt::format(".SH {}\n", heading);
  for (const auto& [name, what] : entries) out += fmt::format(".TP\n.B {}\n{}\n", roff(name), filled(what));
  return out;
}

std::string section_of(const command_entry& c) {
  std::string out = fmt::format(".SS {}\n{}\n", roff(joined(c, " ")), sentence(c.what));
  const std::string name = joined(c, "-");
  if (known(name)) return out + fmt::format(".PP\n.BR {} (1)\ndescribes it.\n", roff(name));
  return out + ".PP\n" + synopsis(c) + option_lines(c, false);
}

std::string see_also(const std::string& name, const command_entry& top) {
  std::string out = ".SH SEE ALSO\n";
  std::vector<std::string> others;
  for (const command_entry* const c : flat(top))
    if (const std::string other = joined(*c, "-"); other != name && known(other)) others.push_back(other);
  for (const std::string& other : others)
    out += fmt::format(".BR {} (1){}\n", roff(other), other == others.back() ? "" : " ,");
  return out;
}

std::string page_of(const command_entry& c, const command_entry& top, const std::string& date) {
  const std::string name = joined(c, "-");
  const page_text& text = *known(name);
  std::string title = name;
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  const std::string what = c.what.substr(c.what.starts_with(name + ": ") ? name.size() + 2 : 0);
  std::string out = ".\\\" SPDX-License-Identifier: Apache-2.0\n.\\\" Made by: cubby manual\n";
  out += fmt::format(".TH {} 1 {} \"cubby {}\" \"User Commands\"\n", roff(title), date, cubby::version_text);
  out += fmt::format(".SH NAME\n{}\n.SH SYNOPSIS\n{}", filled(name + " - " + what), synopsis(c));
  out += fmt::format(".SH DESCRIPTION\n{}\n", filled(text.description));
  if (!c.footer.empty()) out += fmt::format(".PP\n{}\n", filled(c.footer));
  out += ".SH OPTIONS\n" + option_lines(c, true);
  if (!c.commands.empty()) out += ".SH COMMANDS\n";
  for (const command_entry& below : c.commands) out += section_of(below);
  return out + list("EXIT STATUS", text.statuses) + list("EXAMPLES", text.examples) + see_also(name, top);
}

} // namespace

std::map<std::string, std::string> manual_pages(const command_entry& top, const std::string& date) {
  std::map<std::string, std::string> pages;
  for (const command_entry* const c : flat(top))
    if (const std::string name = joined(*c, "-"); known(name)) pages[name + ".1"] = page_of(*c, top, date);
  return pages;
}

} // namespace shell
