// SPDX-License-Identifier: Apache-2.0
// Files of one shape have one order, so every set operation is one pass over all of them, side by side.
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <memory>
#include <optional>

#include "error.hpp"
#include "operations.hpp"
#include "reader.hpp"

namespace kmer {

namespace {

constexpr std::size_t append_bytes = std::size_t{1} << 20;

// The count in the result, 0 for a k-mer that is not in it. `counts` has one for each file, 0 where it is missing.
std::uint32_t result_of(set_operation what, count_rule rule, const std::vector<std::uint32_t>& counts) {
  const bool everywhere = std::find(counts.begin(), counts.end(), 0) == counts.end();
  const std::uint64_t others = [&] {
    std::uint64_t sum = 0;
    for (std::size_t i = 1; i < counts.size(); ++i) sum += counts[i];
    return sum;
  }();
  if (what == set_operation::intersect && !everywhere) return 0;
  if (what == set_operation::subtract) {
    if (rule == count_rule::difference) return counts[0] > others ? counts[0] - saturated(others) : 0;
    return others == 0 ? counts[0] : 0;
  }
  switch (rule) {
  case count_rule::sum: return saturated(counts[0] + others);
  case count_rule::most: return *std::max_element(counts.begin(), counts.end());
  case count_rule::least: {
    std::uint32_t least = 0;
    for (const std::uint32_t c : counts)
      if (c != 0) least = least == 0 ? c : std::min(least, c);
    return least;
  }
  case count_rule::first:
  case count_rule::difference: break;
  }
  return *std::find_if(counts.begin(), counts.end(), [](std::uint32_t c) { return c != 0; });
}

template <class Word>
void combine_all(set_operation what, count_rule rule, const std::vector<std::unique_ptr<kmer_file>>& files,
                 const count_bounds& bounds, file_writer& writer) {
  std::vector<cursor<Word>> cursors;
  for (const auto& file : files) cursors.emplace_back(*file);
  block_encoder<Word> encode(bounds);
  std::vector<std::uint32_t> counts(files.size());
  while (true) {
    std::optional<std::pair<std::uint32_t, Word>> least;
    for (const cursor<Word>& c : cursors) {
      if (c.ended()) continue;
      const std::pair<std::uint32_t, Word> here(c.partition(), c.at().word);
      if (!least || here < *least) least = here;
    }
    if (!least) break;
    for (std::size_t i = 0; i < cursors.size(); ++i) {
      cursor<Word>& c = cursors[i];
      counts[i] = 0;
      if (c.ended() || c.partition() != least->first || c.at().word != least->second) continue;
      counts[i] = c.at().count;
      c.advance();
    }
    const std::uint32_t count = result_of(what, rule, counts);
    if (count != 0) encode.add(least->first, {least->second, count});
    if (encode.size() > append_bytes) writer.append(encode.take_ended());
  }
  writer.append(encode.take());
}

// Names the flags that make such a file.
std::string kind_of(const shape& s) {
  return fmt::format("k {} {} --no-canonical", s.k, s.canonical ? "without" : "with");
}

} // namespace

const count_rule* count_rule_named(const std::string& name) {
  static constexpr std::array<std::pair<const char*, count_rule>, 5> rules = {{{"sum", count_rule::sum},
                                                                               {"min", count_rule::least},
                                                                               {"max", count_rule::most},
                                                                               {"first", count_rule::first},
                                                                               {"difference", count_rule::difference}}};
  for (const auto& [known, rule] : rules)
    if (name == known) return &rule;
  return nullptr;
}

file_figures combine(set_operation what, count_rule rule, const std::vector<std::string>& paths,
                     const std::string& output, const count_bounds& asked) {
  std::vector<std::unique_ptr<kmer_file>> files;
  count_bounds bounds = asked;
  for (const std::string& path : paths) {
    files.push_back(std::make_unique<kmer_file>(path));
    if (const shape here = files.back()->of(), first = files.front()->of(); here != first)
      throw bad_input(fmt::format("{}: has {}, and {} has {}; only files of one kind go together", path, kind_of(here),
                                  paths.front(), kind_of(first)));
    bounds.count_limit = std::min(bounds.count_limit, files.back()->header().count_limit);
  }
  if (bounds.min_count > bounds.count_limit)
    throw bad_input(
        fmt::format("--min-count {}: counts of these files end at {}", bounds.min_count, bounds.count_limit));
  file_writer writer(output, files.front()->of(), bounds);
  with_word(files.front()->of().k, [&](auto word) { combine_all<decltype(word)>(what, rule, files, bounds, writer); });
  writer.finish();
  return writer.figures();
}

} // namespace kmer
