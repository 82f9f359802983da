// SPDX-License-Identifier: Apache-2.0
// What the figures say: for each workload, whether cubby or a rival was first, and by how much. It also says which rows spread
// too far to trust, and which ratios set batches against single calls. Every sentence is made from the results.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "plot.hpp"
#include "result.hpp"

namespace bench {

// A row whose rounds differ by more than this share of the median is marked.
inline constexpr double trusted_spread = 0.3;

// The best engine of cubby and the best rival at one point of a chapter.
struct duel {
  result ours, rival;
  double ratio() const { return ours.median_mops / rival.median_mops; }
  bool won() const { return ours.median_mops >= rival.median_mops; }
};

// The duels of one workload in one chapter, the one with the lowest ratio first. At least one.
struct comparison {
  std::string heading; // of the chapter
  workload what;
  std::vector<duel> duels;
  std::string where; // sizes of the first duel, where there are several
  std::size_t won() const;
};

// Of the workloads that have an engine of cubby and a rival.
std::vector<comparison> compare(const std::vector<chapter>& chapters);
// Sentences about all of them: how often cubby is first, and where it loses.
std::vector<std::string> conclusion_of(const std::vector<comparison>& all);
// A line about one of them.
std::string line_of(const comparison& c);
// The ratio to the best rival for each workload with one point; nothing for fewer than two of them.
std::optional<plot> summary_of(const std::vector<comparison>& all);

bool is_doubtful(const result& r);
// Whether `times_best_rival` of the result sets batches against single calls, or single calls against batches.
bool is_uneven(const result& r, const std::vector<result>& among);
// What the marks in the table of a chapter mean, for those that it has.
std::vector<std::string> notes_of(const chapter& c);

} // namespace bench
