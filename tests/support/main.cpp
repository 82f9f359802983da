// SPDX-License-Identifier: Apache-2.0
// The entry of every test binary: prints the seed of the run before the first test. CUBBY_TEST_NO_MEMBARRIER=1 runs
// everything as on a kernel without that call.
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <random>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include <cubby/detail/platform/barrier.hpp>

#include "support/random.hpp"
#include "support/typed_tests.hpp"

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

namespace {

std::uint64_t length_asked_for() {
  static const std::uint64_t factor = [] {
    const char* given = std::getenv("CUBBY_TEST_LONG");
    const std::uint64_t asked = given != nullptr ? std::strtoull(given, nullptr, 0) : 1;
    return asked == 0 ? 1 : asked;
  }();
  return factor;
}

} // namespace

bool sparse() {
  static const bool asked = [] {
    const char* given = std::getenv("CUBBY_TEST_SPARSE");
    return given != nullptr && std::strcmp(given, "0") != 0;
  }();
  return asked && length_asked_for() == 1;
}

std::uint64_t at_least(std::uint64_t count) { return count * length_asked_for(); }

std::uint64_t scaled(std::uint64_t count) {
  constexpr std::uint64_t fewer = 4;
  return sparse() ? (count + fewer - 1) / fewer : at_least(count);
}

bool register_tests(const char* suite, const char* test, const char* file, int line, std::span<const typed_test> all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = std::string(suite) + "/" + std::to_string(i);
    int failed = 0;
    char* const type = abi::__cxa_demangle(all[i].type->name(), nullptr, nullptr, &failed);
    ::testing::RegisterTest(name.c_str(), test, failed == 0 ? type : all[i].type->name(), nullptr, file, line,
                            all[i].make);
    std::free(type);
  }
  return true;
}

namespace {

// GoogleTest's brief output names no test before it ends: without this line nobody learns which one ended the program.
void name_the_test(int sign) {
  const ::testing::TestInfo* const test = ::testing::UnitTest::GetInstance()->current_test_info();
  for (const char* part : {"[  FAILED  ] ", test != nullptr ? test->test_suite_name() : "no test", ".",
                           test != nullptr ? test->name() : "", " ended by a signal\n"})
    if (::write(STDERR_FILENO, part, std::strlen(part)) < 0) break;
  std::signal(sign, SIG_DFL);
  std::raise(sign);
}

void name_the_test_that_ends_us() {
  for (const int sign : {SIGABRT, SIGSEGV, SIGBUS})
    if (const auto before = std::signal(sign, name_the_test); before != SIG_DFL)
      std::signal(sign, before); // a sanitizer's own
}

} // namespace
} // namespace cubby_test

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (std::getenv("CUBBY_TEST_NO_MEMBARRIER") != nullptr) cubby::detail::barrier::disable_membarrier();
  cubby_test::name_the_test_that_ends_us();
  std::printf("CUBBY_TEST_SEED=%" PRIu64 "\n", cubby_test::run_seed());
  std::fflush(stdout);
  return RUN_ALL_TESTS();
}
