// SPDX-License-Identifier: Apache-2.0
// The entry of every test binary: prints the seed of the run before the first test. CUBBY_TEST_NO_MEMBARRIER=1 runs
// everything as on a kernel without that call.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include <cubby/platform/barrier.hpp>

#include "support/random.hpp"

namespace cubby_test {

std::uint64_t run_seed() {
  static const std::uint64_t seed = [] {
    const char* given = std::getenv("CUBBY_TEST_SEED");
    if (given != nullptr) return static_cast<std::uint64_t>(std::strtoull(given, nullptr, 0));
    std::random_device device;
    return (static_cast<std::uint64_t>(device()) << 32) | device();
  }();
  return seed;
}

std::uint64_t scaled(std::uint64_t count) {
  static const std::uint64_t factor = [] {
    const char* given = std::getenv("CUBBY_TEST_LONG");
    const std::uint64_t asked = given != nullptr ? std::strtoull(given, nullptr, 0) : 1;
    return asked == 0 ? 1 : asked;
  }();
  return count * factor;
}

} // namespace cubby_test

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (std::getenv("CUBBY_TEST_NO_MEMBARRIER") != nullptr) cubby::barrier::disable_membarrier();
  std::printf("CUBBY_TEST_SEED=%" PRIu64 "\n", cubby_test::run_seed());
  std::fflush(stdout);
  return RUN_ALL_TESTS();
}
