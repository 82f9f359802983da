// SPDX-License-Identifier: Apache-2.0
// A histogram of durations with a fixed relative error: 64 steps for each power of two, so a percentile is right to
// 1.6 %. The longest value is kept exactly.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace bench {

class histogram {
public:
  void add(std::uint64_t ticks) noexcept {
    ++counts_[index_of(ticks)];
    ++total_;
    if (ticks > longest_) longest_ = ticks;
  }

  void merge(const histogram& other) noexcept {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    total_ += other.total_;
    if (other.longest_ > longest_) longest_ = other.longest_;
  }

  std::uint64_t total() const noexcept { return total_; }
  std::uint64_t longest() const noexcept { return longest_; }

  // The value that the given share (0..1) of all values does not exceed.
  std::uint64_t at_share(double share) const noexcept {
    const double wanted = share * static_cast<double>(total_);
    double seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += static_cast<double>(counts_[i]);
      if (counts_[i] != 0 && seen >= wanted) return upper_of(i) < longest_ ? upper_of(i) : longest_;
    }
    return longest_;
  }

private:
  static constexpr std::size_t steps = 64;
  static constexpr unsigned step_bits = 6;

  static std::size_t index_of(std::uint64_t v) noexcept {
    if (v < steps) return static_cast<std::size_t>(v);
    const auto shift = static_cast<unsigned>(std::bit_width(v)) - step_bits - 1;
    return steps * (shift + 1) + static_cast<std::size_t>((v >> shift) - steps);
  }

  static std::uint64_t upper_of(std::size_t index) noexcept {
    if (index < steps) return index;
    const std::size_t shift = index / steps - 1;
    return ((std::uint64_t{steps} + index % steps + 1) << shift) - 1;
  }

  std::array<std::uint64_t, steps * (64 - step_bits + 1)> counts_{};
  std::uint64_t total_ = 0;
  std::uint64_t longest_ = 0;
};

} // namespace bench
