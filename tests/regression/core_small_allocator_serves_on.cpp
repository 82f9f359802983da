// SPDX-License-Identifier: Apache-2.0
// An allocator has memory for fewer records than a thread holds back before it frees some. The records that were retired serve
// again: a call that finds no memory frees them for the calls behind it.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

#include "engines.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

struct small_space {
  static inline long records = 0;
  static inline long most = 0;
};
template <class T> struct small_allocator {
  using value_type = T;
  small_allocator() = default;
  template <class U> explicit small_allocator(const small_allocator<U>&) {}
  T* allocate(std::size_t n) {
    if (small_space::records == small_space::most) throw std::bad_alloc();
    ++small_space::records;
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* at, std::size_t n) {
    --small_space::records;
    std::allocator<T>().deallocate(at, n);
  }
  bool operator==(const small_allocator&) const = default;
};

/// The most calls in a row that found no memory, of those that change `keys` entries again and again.
template <class Engine, class V> int refused_in_a_row(long space) {
  constexpr std::uint64_t keys = 20;
  small_space::most = space;
  int worst = 0;
  cubby::map<std::string, V, Engine, cubby::hash<std::string>, small_allocator<std::byte>> m;
  int refused = 0;
  const std::uint64_t calls = 20'000 / sparse_stride(2); // a few times the most space
  for (std::uint64_t n = 0; n < calls; ++n) {
    const std::string key = "a key of more than 8 bytes " + std::to_string(n % keys);
    V value{};
    if constexpr (std::is_same_v<V, std::string>) value = std::to_string(n);
    else value = n;
    try {
      if (n < keys) (void)m.insert(key, value);
      else if (n % 2 == 0) (void)m.insert_or_assign(key, value);
      else (void)m.assign(key, value);
      refused = 0;
    } catch (const std::bad_alloc&) {
      worst = std::max(worst, ++refused);
    }
  }
  EXPECT_EQ(m.size(), keys);
  return worst;
}

template <class Engine> class small_allocators : public testing::Test {};
TYPED_TEST_SUITE(small_allocators, every_engine);

/// The first call asks when what was retired may be freed, and the second one frees it.
TYPED_TEST(small_allocators, refuse_two_calls_at_most_before_they_serve_again) {
  for (const long space : {100, 600, 3000}) {
    EXPECT_LE((refused_in_a_row<TypeParam, std::uint64_t>(space)), 2) << space;
    EXPECT_LE((refused_in_a_row<TypeParam, std::string>(space)), 2) << space;
  }
  EXPECT_EQ(small_space::records, 0);
}

} // namespace
} // namespace cubby_test
