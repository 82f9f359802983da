// SPDX-License-Identifier: Apache-2.0
// Counts of all 4^k k-mers in one array: for k so small that it fits a cache. Each thread has one; they are added up in the end.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "entry.hpp"
#include "shape.hpp"

namespace kmer {

class dense_counts {
public:
  explicit dense_counts(const shape& s) : shape_(s), counts_(count_of(s)) {}
  // The memory of one of them.
  static std::size_t bytes(const shape& s) { return count_of(s) * sizeof(std::uint32_t); }

  void add(std::span<const std::uint8_t> run) {
    strands<narrow_word> both(shape_.k);
    for (std::size_t i = 0; i < run.size(); ++i) {
      both.push(run[i]);
      if (i + 1 < shape_.k) continue;
      std::uint32_t& count = counts_[shape_.canonical ? both.canonical() : both.forward()];
      count += count != largest_count;
    }
  }
  void add(const dense_counts& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i)
      counts_[i] = saturated(std::uint64_t{counts_[i]} + other.counts_[i]);
  }
  // Ascending, the k-mers that occurred.
  template <class F> void visit(F&& f) const {
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (counts_[i] != 0) f(entry<narrow_word>{i, counts_[i]});
  }

private:
  static std::size_t count_of(const shape& s) { return std::size_t{1} << (2 * s.k); }

  shape shape_;
  std::vector<std::uint32_t> counts_;
};

} // namespace kmer
