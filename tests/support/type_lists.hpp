// SPDX-License-Identifier: Apache-2.0
// Lists of types that are computed from other lists, as GoogleTest's typed suites take them.
#pragma once

#include <type_traits>

#include <gtest/gtest.h>

namespace cubby_test {

template <class... Lists> struct join_of {
  using type = ::testing::Types<>;
};
template <class... A> struct join_of<::testing::Types<A...>> {
  using type = ::testing::Types<A...>;
};
template <class... A, class... B, class... Rest>
struct join_of<::testing::Types<A...>, ::testing::Types<B...>, Rest...>
    : join_of<::testing::Types<A..., B...>, Rest...> {};
/// The lists one behind the other.
template <class... Lists> using join = typename join_of<Lists...>::type;

/// The types, or none.
template <bool Wanted, class... T>
using types_if = std::conditional_t<Wanted, ::testing::Types<T...>, ::testing::Types<>>;

template <template <class> class Of, class List> struct join_over_of;
template <template <class> class Of, class... T> struct join_over_of<Of, ::testing::Types<T...>> {
  using type = join<Of<T>...>;
};
/// `Of<T>`, a list, for each type of a list, joined.
template <template <class> class Of, class List> using join_over = typename join_over_of<Of, List>::type;

template <class First, class... Rest> struct rest_of {
  using type = ::testing::Types<Rest...>;
};

} // namespace cubby_test
