// SPDX-License-Identifier: Apache-2.0
// Each script finds the command that was typed so far, then offers its commands or options. Anything else is a file. The shells
// need no run of the program for that.
#include "completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shell {

namespace {

constexpr const char* head = "# SPDX-License-Identifier: Apache-2.0\n"
                             "# Completion of cubby for {0}, made by: cubby completion {0}\n";

std::vector<std::string> words_of(const command_entry& c) {
  std::vector<std::string> all;
  for (const command_entry& below : c.commands) all.push_back(below.path.back());
  for (const option_entry& one : c.options) all.insert(all.end(), one.flags.begin(), one.flags.end());
  return all;
}

// Within single quotes.
std::string in_quotes(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') out += "'\\''";
    else out += c;
  }
  return out;
}

// Words that are commands go down the tree. The values of options are not looked at.
std::string bash_steps(const std::vector<const command_entry*>& all) {
  std::string out;
  for (const command_entry* const above : all)
    for (const command_entry& c : above->commands)
      out += fmt::format("      '{} {}') at='{}' ;;\n", joined(*above, " "), c.path.back(), joined(c, " "));
  return out;
}

std::string bash_script(const command_entry& top) {
  const auto all = flat(top);
  std::string words, values;
  for (const command_entry* const c : all) {
    words += fmt::format("    '{}') words='{}' ;;\n", joined(*c, " "), fmt::join(words_of(*c), " "));
    for (const option_entry& one : c->options)
      for (const std::string& flag : one.flags)
        if (!one.name.empty()) values += fmt::format("{}'{} {}'", values.empty() ? "" : "|", joined(*c, " "), flag);
  }
  return fmt::format(head, "bash") +
         "_cubby() {\n"
         "  local at=cubby i words=\n"
         "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
         "    case \"$at ${COMP_WORDS[i]}\" in\n" +
         bash_steps(all) +
         "    esac\n"
         "  done\n"
         "  COMPREPLY=()\n"
         "  case \"$at ${COMP_WORDS[COMP_CWORD - 1]}\" in\n" +
         fmt::format("    {}) return ;; # the value: a file\n", values) + "  esac\n  case $at in\n" + words +
         "  esac\n"
         "  # Options after a dash; without one, a command, or else a file.\n"
         "  [[ $words == -* && ${COMP_WORDS[COMP_CWORD]} != -* ]] && return\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\")\n"
         "}\n"
         "complete -o default -F _cubby cubby\n";
}

// For _arguments of zsh, within single quotes. Brackets and colons would end a description or a name.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return in_quotes(out);
}

// Keys and values are no files.
const char* zsh_action(const option_entry& one) { return one.name == "KEY" || one.name == "VALUE" ? " " : "_files"; }

std::string zsh_option(const option_entry& one) {
  if (one.flags.empty())
    return fmt::format("    '{}:{}:{}'", one.several ? "*" : "", zsh_text(one.name), zsh_action(one));
  std::string out;
  for (const std::string& flag : one.flags)
    out += fmt::format("{}    '*{}{}[{}]{}'", out.empty() ? "" : " \\\n", flag,
                       one.name.empty()         ? ""
                       : flag.starts_with("--") ? "="
                                                : "+",
                       zsh_text(one.what), one.name.empty() ? "" : fmt::format(":{}:_files", zsh_text(one.name)));
  return out;
}

std::string zsh_function(const command_entry& c) {
  std::string out = fmt::format("_{}() {{\n", joined(c, "_"));
  std::vector<std::string> lines;
  for (const option_entry& one : c.options) lines.push_back(zsh_option(one));
  if (c.commands.empty()) return out + fmt::format("  _arguments -S \\\n{}\n}}\n", fmt::join(lines, " \\\n"));
  out += "  local state line\n  local -a commands\n  commands=(\n";
  for (const command_entry& below : c.commands)
    out += fmt::format("    '{}:{}'\n", below.path.back(), zsh_text(below.what));
  out += "  )\n";
  out += fmt::format("  _arguments -C \\\n{} \\\n    '1:command:->command' '*::argument:->argument'\n",
                     fmt::join(lines, " \\\n"));
  out += "  case $state in\n    command) _describe command commands ;;\n    argument)\n      case $line[1] in\n";
  for (const command_entry& below : c.commands)
    out += fmt::format("        {0}) _{1} ;;\n", below.path.back(), joined(below, "_"));
  return out + "      esac ;;\n  esac\n}\n";
}

std::string zsh_script(const command_entry& top) {
  std::string out = "#compdef cubby\n" + fmt::format(head, "zsh");
  const auto all = flat(top);
  // A function comes before those that call it.
  for (auto one = all.rbegin(); one != all.rend(); ++one) out += zsh_function(**one);
  // Loaded by name at the first use, or by `source`.
  return out + "if [ \"$funcstack[1]\" = _cubby ]; then _cubby \"$@\"; else compdef _cubby cubby; fi\n";
}

std::string fish_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string fish_command(const command_entry& c) {
  const std::string when = fmt::format("complete -c cubby -n '__cubby_at \"{}\"'", joined(c, " "));
  std::string out;
  for (const command_entry& below : c.commands)
    out += fmt::format("{} -f -a {} -d '{}'\n", when, below.path.back(), fish_text(below.what));
  for (const option_entry& one : c.options) {
    if (one.flags.empty()) continue;
    out += when;
    for (const std::string& flag : one.flags)
      out += flag.starts_with("--") ? " -l " + flag.substr(2) : " -s " + flag.substr(1);
    out += fmt::format("{} -d '{}'\n", one.name.empty() ? "" : " -r -F", fish_text(one.what));
  }
  return out;
}

std::string fish_script(const command_entry& top) {
  std::string steps, rest;
  for (const command_entry* const c : flat(top)) {
    for (const command_entry& below : c->commands)
      steps += fmt::format("      case '{} {}'\n        set at '{}'\n", joined(*c, " "), below.path.back(),
                           joined(below, " "));
    rest += fish_command(*c);
  }
  return fmt::format(head, "fish") +
         "function __cubby_at\n"
         "  set -l words (commandline -opc)\n"
         "  set -l at cubby\n"
         "  for word in $words[2..-1]\n"
         "    switch \"$at $word\"\n" +
         steps + "    end\n  end\n  test \"$at\" = \"$argv[1]\"\nend\n" + rest;
}

} // namespace

std::string completion_for(std::string_view name, const command_entry& top) {
  if (name == "bash") return bash_script(top);
  if (name == "zsh") return zsh_script(top);
  if (name == "fish") return fish_script(top);
  return {};
}

} // namespace shell
