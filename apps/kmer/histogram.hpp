// SPDX-License-Identifier: Apache-2.0
// How many k-mers have each count. Exact over the whole range: no tail is folded.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace kmer {

class histogram {
public:
  void add(std::uint32_t count, std::uint64_t kmers = 1) {
    if (count < low_counts) low_[count] += kmers;
    else high_[count] += kmers;
  }
  void add(const histogram& other) {
    other.visit([this](std::uint32_t count, std::uint64_t kmers) { add(count, kmers); });
  }
  // Ascending, without the counts that no k-mer has.
  template <class F> void visit(F&& f) const {
    for (std::uint32_t count = 0; count < low_counts; ++count)
      if (low_[count] != 0) f(count, low_[count]);
    for (const auto& [count, kmers] : high_) f(count, kmers);
  }

private:
  static constexpr std::uint32_t low_counts = 4096;
  std::vector<std::uint64_t> low_ = std::vector<std::uint64_t>(low_counts);
  std::map<std::uint32_t, std::uint64_t> high_;
};

} // namespace kmer
