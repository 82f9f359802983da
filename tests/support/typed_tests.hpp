// SPDX-License-Identifier: Apache-2.0
// TYPED_TEST and TYPED_TEST_SUITE as GoogleTest has them, registered in a loop over the types instead of by a function for
// each test and type. Those functions were a fifth of the code of the suites over every mode, and a seventh of the time that
// they take to compile.
#pragma once

#include <cstddef>
#include <span>
#include <typeinfo>

#include <gtest/gtest.h>

namespace cubby_test {

/// One test over one type.
struct typed_test {
  const std::type_info* type;
  ::testing::Test* (*make)();
};

/// Registers `suite/0.test`, `suite/1.test` ... for the types in their order.
bool register_tests(const char* suite, const char* test, const char* file, int line, std::span<const typed_test> all);

template <template <class> class Test, class... Types>
bool register_over(::testing::Types<Types...>, const char* suite, const char* test, const char* file, int line) {
  static constexpr typed_test all[] = {{&typeid(Types), []() -> ::testing::Test* { return new Test<Types>; }}...};
  return register_tests(suite, test, file, line, all);
}

} // namespace cubby_test

#undef TYPED_TEST_SUITE
#define TYPED_TEST_SUITE(suite, types) using suite##_types = types

#undef TYPED_TEST
#define TYPED_TEST(suite, test)                                                                                        \
  template <class Type>                                                                                                \
  class suite##_##test##_test : public suite<Type> {                                                                   \
    using TestFixture = suite<Type>;                                                                                   \
    using TypeParam = Type;                                                                                            \
    void TestBody() override;                                                                                          \
  };                                                                                                                   \
  [[maybe_unused]] const bool suite##_##test##_registered =                                                            \
      ::cubby_test::register_over<suite##_##test##_test>(suite##_types{}, #suite, #test, __FILE__, __LINE__);          \
  template <class Type>                                                                                                \
  void suite##_##test##_test<Type>::TestBody()
