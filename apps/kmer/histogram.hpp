// SPDX-License-Identifier: Apache-2.0
// How many k-mers have each count. Exact over the whole range: no tail is folded.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <vector>

namespace kmer {

class histogram {
public:
  void add(std::uint32_t count, std::uint64_t kmers = 1) {
    if (count >= low_counts) {
      high_[count] += kmers;
      return;
    }
    if (count >= low_.size()) low_.resize(std::bit_ceil(count + 1));
    low_[count] += kmers;
  }
  void add(const histogram& other) {
    other.visit([this](std::uint32_t count, std::uint64_t kmers) { add(count, kmers); });
  }
  // Ascending, without the counts that no k-mer has.
  template <class F> void visit(F&& f) const {
    for (std::size_t count = 0; count < low_.size(); ++count)
      if (low_[count] != 0) f(static_cast<std::uint32_t>(count), low_[count]);
    for (const auto& [count, kmers] : high_) f(count, kmers);
  }
  std::size_t bytes() const { return low_.size() * sizeof(low_[0]) + high_.size() * 64; }

private:
  static constexpr std::uint32_t low_counts = 4096;
  std::vector<std::uint64_t> low_; // as far as it was needed
  std::map<std::uint32_t, std::uint64_t> high_;
};

} // namespace kmer
