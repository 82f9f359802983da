// SPDX-License-Identifier: Apache-2.0
// What a command reads and what it writes, compared before it begins: no output may destroy an input, or another output.
// Each of these throws bad_input.
#pragma once

#include <string>
#include <vector>

namespace kmer {

struct command_inputs {
  std::vector<std::string> streams; // sequences and KFF: - is standard input
  std::vector<std::string> files;   // opened by their names, of any kind
};

enum class output_kind { result, summary };

// Refuses inputs that cannot be read, and files that lack their end-of-file mark, all of them before the first is read.
// "-" is standard input.
void check_streams(const std::vector<std::string>& names);
// The same for what --reference names; what is fetched from another machine cannot be checked before.
void check_reference(const std::string& name);
// Refuses an output that is an input, under any name.
void keep_inputs(const command_inputs& inputs, const std::string& output, output_kind kind = output_kind::result);
// The same for what is read to its end before the output takes its name: then only what is written directly is refused.
void keep_inputs_until_named(const command_inputs& inputs, const std::string& output);

// Refuses a result and a summary that would be mixed, or of which one would take the other's place.
void keep_apart(const std::string& output, const std::string& summary);
// Refuses an output that is what standard error leads to: every command may have a warning to say there.
void keep_from_words(const std::string& output, output_kind kind = output_kind::result);

} // namespace kmer
