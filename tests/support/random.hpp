// SPDX-License-Identifier: Apache-2.0
// Seeds and random numbers of the tests. One seed a run, printed by main; CUBBY_TEST_SEED repeats a run's choices
// (not its schedule). CUBBY_TEST_LONG multiplies the lengths of random tests. With CUBBY_TEST_SPARSE=1 they have a quarter of their
// length, and tests that stop at each step take a part of the steps, as `make test` and `make check` run them.
#pragma once

#include <cstdint>

namespace cubby_test {

std::uint64_t run_seed();
std::uint64_t scaled(std::uint64_t count);
/// Of a test that shows nothing with fewer: longer where that is asked for, but not sparse.
std::uint64_t at_least(std::uint64_t count);
/// Whether a test of many steps or draws takes a part of them.
bool sparse();
/// The stride of a loop over steps: `few`, or 1 where each step is tried. Also what a size is divided by, for what is large in any case.
inline std::uint64_t sparse_stride(std::uint64_t few) { return sparse() ? few : 1; }

inline constexpr std::uint64_t splitmix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class random_source {
public:
  explicit random_source(std::uint64_t salt) : state_(splitmix(run_seed() + splitmix(salt))) {}
  std::uint64_t next() { return splitmix(state_++); }
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

private:
  std::uint64_t state_;
};

} // namespace cubby_test
