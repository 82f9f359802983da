// SPDX-License-Identifier: Apache-2.0
// Operations on k-mer files. Each of these throws bad_input for input that it cannot use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "writer.hpp"

namespace kmer {

// Counts from `low` to `high`, all by default.
struct count_range {
  std::uint32_t low = 1;
  std::uint32_t high = largest_count;
  bool holds(std::uint64_t count) const { return count >= low && count <= high; }
};

// Two columns, count and how many k-mers have it, without empty rows: what GenomeScope reads. Returns how many k-mers
// lie above `range.high` and were left out.
std::uint64_t print_histogram(const std::string& file, const std::string& output, const count_range& range);
// A line for each k-mer: the k-mer, a blank, its count; what `jellyfish dump -c` prints. In the order of the file.
void dump(const std::string& file, const std::string& output, const count_range& range);
// Figures of a file; every block is read and its sum checked.
void print_stats(const std::string& file, const std::string& json);
// The counts of k-mers that are given as text, or of all k-mers of the sequences in files, in their order. Returns
// the warnings about sequences that may be truncated.
std::vector<std::string> query(const std::string& file, const std::vector<std::string>& kmers,
                               const std::vector<std::string>& sequences, const std::string& output);

enum class set_operation { merge, intersect, join, subtract };
enum class count_rule { sum, least, most, first, difference };
const count_rule* count_rule_named(const std::string& name);
// Works on any number of files of one shape in one pass.
file_figures combine(set_operation what, count_rule rule, const std::vector<std::string>& files,
                     const std::string& output, const count_bounds& bounds);

// KFF 1.0 (Kmer File Format), with counts as data.
void to_kff(const std::string& file, const std::string& output, const count_range& range);
file_figures from_kff(const std::string& kff, const std::string& output, const count_bounds& bounds,
                      std::uint64_t memory, const std::string& memory_shown);

} // namespace kmer
