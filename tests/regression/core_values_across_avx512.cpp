// SPDX-License-Identifier: Apache-2.0
// Assembly of AVX-512 that was inlined into a function of the user which is compiled for AVX-512 by an attribute overwrote what that function had in mask
// registers. g++ did not know that it uses them.
#include <gtest/gtest.h>

#include <cubby/detail/platform/slots.hpp>
#include <cubby/detail/platform/tags.hpp>
#include <cubby/detail/platform/texts.hpp>

#if defined(__x86_64__)
#include <immintrin.h>

namespace cubby_test {
namespace {

namespace slots = cubby::detail::slots;
namespace tags = cubby::detail::tags;
namespace texts = cubby::detail::texts;
using word = cubby::detail::sync::word<std::uint64_t>;

#define CUBBY_TEST_FOR_AVX512 gnu::target("avx512f,avx512bw,avx512dq,avx512vl")

/// The sum of those of eight numbers that are greater than a limit, and of what `call` answers between two steps of that.
template <class Call> [[gnu::noinline, CUBBY_TEST_FOR_AVX512]] long long
sum_around(const Call& call, const long long* numbers, long long limit) {
  const __m512i all = _mm512_loadu_si512(numbers);
  const __mmask8 greater = _mm512_cmpgt_epi64_mask(all, _mm512_set1_epi64(limit));
  auto answer = static_cast<long long>(call());
  long long kept[8];
  _mm512_storeu_si512(kept, _mm512_maskz_mov_epi64(greater, all));
  for (const long long one : kept) answer += one;
  return answer;
}
template <class Call> void expect_kept(const Call& call) {
  const long long numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  volatile long long limit = 4;
  EXPECT_EQ(sum_around(call, numbers, limit), 26);
}

TEST(values_across_avx512, of_a_function_for_avx512_stay_as_they_are) {
  if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512dq")) GTEST_SKIP() << "no AVX-512 here";
  alignas(64) static word line[2][slots::most_a_part];
  alignas(64) static char text[64];
  expect_kept([]() { return slots::detail::two_avx512(line[0], {1, 2}, line[1], {3, 4}).agree; });
  expect_kept([]() { return tags::detail::match_avx512(line[0], std::uint8_t{1}); });
  expect_kept([]() { return tags::detail::match_avx512(line[0], std::uint16_t{1}); });
  expect_kept([]() { return texts::fills<64>(line[0], text, 8) ? 0 : 1; });
}

} // namespace
} // namespace cubby_test
#endif
