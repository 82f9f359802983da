// SPDX-License-Identifier: Apache-2.0
// The Zipf generator of YCSB, with theta 0.99: Gray et al., "Quickly Generating Billion-Record Synthetic Databases"
// (SIGMOD'94). It has two users. `scrambled_zipf` spreads the popular items over the key space by FNV-1a, as YCSB's
// ScrambledZipfianGenerator does. `latest` counts back from the newest key.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace bench {

inline constexpr double zipf_theta = 0.99;
inline constexpr double skewed_theta = 1.09; // DRAMHiT's, of skewed writes

// A small generator of random words (SplitMix64): the state is a counter, the output its scramble.
class random_words {
public:
  explicit random_words(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() noexcept {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  double unit() noexcept { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  // Even enough for a benchmark: the high word of a product, biased by at most bound / 2^64.
  std::size_t below(std::size_t bound) noexcept {
    return static_cast<std::size_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }

private:
  std::uint64_t state_;
};

// The sum of 1 / i^theta for i in 1..n, term by term at first, then as an integral with the trapezoid correction. From
// the 100,000th term on it differs from the sum by less than 1e-9.
inline double zeta(std::uint64_t n, double theta) {
  const std::uint64_t exact = n < 100000 ? n : 100000;
  double sum = 0;
  for (std::uint64_t i = 1; i <= exact; ++i) sum += std::pow(static_cast<double>(i), -theta);
  if (n > exact) {
    const double a = static_cast<double>(exact);
    const double b = static_cast<double>(n);
    sum += (std::pow(b, 1 - theta) - std::pow(a, 1 - theta)) / (1 - theta);
    sum += (std::pow(b, -theta) - std::pow(a, -theta)) / 2;
  }
  return sum;
}

// Ranks 0..n-1; rank 0 is the most popular.
class zipf {
public:
  explicit zipf(std::uint64_t n, double theta = zipf_theta)
      : items_(static_cast<double>(n)), last_(n - 1), zetan_(zeta(n, theta)), alpha_(1 / (1 - theta)),
        half_(std::pow(0.5, theta)), eta_((1 - std::pow(2.0 / items_, 1 - theta)) / (1 - zeta(2, theta) / zetan_)) {}

  std::uint64_t next(random_words& random) const {
    const double u = random.unit();
    const double uz = u * zetan_;
    if (uz < 1) return 0;
    if (uz < 1 + half_) return last_ == 0 ? 0 : 1;
    const auto rank = static_cast<std::uint64_t>(items_ * std::pow(eta_ * u - eta_ + 1, alpha_));
    return rank < last_ ? rank : last_;
  }

private:
  double items_;
  std::uint64_t last_;
  double zetan_;
  double alpha_;
  double half_;
  double eta_;
};

inline std::uint64_t fnv1a(std::uint64_t word) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (int i = 0; i < 8; ++i, word >>= 8) hash = (hash ^ (word & 0xff)) * 0x100000001b3ULL;
  return hash;
}

// YCSB draws from ten billion items for every size of table, and folds the hash of the rank onto the keys.
class scrambled_zipf {
public:
  explicit scrambled_zipf(std::size_t keys) : ranks_(10'000'000'000ULL), keys_(keys) {}
  std::size_t next(random_words& random) const { return fnv1a(ranks_.next(random)) % keys_; }

private:
  zipf ranks_;
  std::size_t keys_;
};

} // namespace bench
