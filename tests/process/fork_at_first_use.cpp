// SPDX-License-Identifier: Apache-2.0
// docs/processes.md: a child may use its tables although the fork came while another thread made the first call of all into the
// library. A program of its own: here the first call's registration with the system is where the fork comes.
#include <cstdint>

#include <gtest/gtest.h>

#include <cubby/map.hpp>

#include "process/child.hpp"

extern "C" {
extern void* __dso_handle; // NOLINT: the name is the platform's
int __register_atfork(void (*before)(), void (*parent)(), void (*child)(), void* image); // NOLINT: as above
}

namespace cubby_test {
namespace {

bool forks_at_registration = false;
int status_of_first_child = -1;

void use_a_table(result_of_child& told) {
  cubby::map<std::uint64_t, std::uint64_t> m;
  for (std::uint64_t k = 0; k < 100; ++k) told.expect(m.insert(k, k), "an insert");
  for (std::uint64_t k = 0; k < 100; ++k) told.expect(m.find(k) == k, "a find");
}

TEST(fork, at_the_first_use_of_an_image_leaves_the_child_its_tables) {
  forks_at_registration = true;
  const cubby::map<std::uint64_t, std::uint64_t> first;
  EXPECT_FALSE(forks_at_registration) << "the library registers with the system";
  EXPECT_EQ(status_of_first_child, 0);
  EXPECT_EQ(status_of_child(use_a_table), 0) << "and a child that comes later";
}

} // namespace
} // namespace cubby_test

/// Takes the C library's place in this program.
extern "C" int pthread_atfork(void (*before)(), void (*parent)(), void (*child)()) noexcept {
  using namespace cubby_test;
  if (forks_at_registration) {
    forks_at_registration = false;
    status_of_first_child = status_of_child(use_a_table);
  }
  return __register_atfork(before, parent, child, __dso_handle);
}
