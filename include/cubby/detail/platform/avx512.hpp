// SPDX-License-Identifier: Apache-2.0
// AVX-512 in functions that are compiled for every x86-64 processor, and run where the processor has it. As assembly it can be inlined into them, where
// a function with a target of its own is called. The registers from zmm16 on cost later SSE instructions nothing.
// A function of the user may be compiled for AVX-512 by an attribute and have values in these registers. clang takes their names as clobbers
// anywhere. g++ takes them only in code that is compiled for AVX-512; elsewhere the assembly keeps what is in them, or is in a function of its own.
#pragma once

#include <cstdint>

#include <cubby/detail/platform/inlining.hpp>

#if defined(__x86_64__)
namespace cubby::inline v0::detail {
/// What the assembly keeps in `kept`, a variable of the function around it.
struct kept_avx512 {
  std::uint64_t mask;
  char vector[64];
};
} // namespace cubby::inline v0::detail

#if defined(__clang__) || defined(__AVX512F__)
/// Assembly that uses zmm16 and k1 is between these two.
#define CUBBY_AVX512_BEGIN ""
#define CUBBY_AVX512_END ""
/// Its last outputs, and its last clobbers.
#define CUBBY_AVX512_KEPT
#define CUBBY_AVX512_USED , "xmm16", "k1"
/// In front of a function with more than that.
#define CUBBY_AVX512_FUNCTION CUBBY_ALWAYS_INLINE
#else
#define CUBBY_AVX512_BEGIN "kmovq %%k1, %[mask_before]\n\tvmovdqu64 %%zmm16, %[vector_before]\n\t"
#define CUBBY_AVX512_END "\n\tkmovq %[mask_before], %%k1\n\tvmovdqu64 %[vector_before], %%zmm16"
#define CUBBY_AVX512_KEPT , [mask_before] "=&r"(kept.mask), [vector_before] "=m"(kept.vector)
#define CUBBY_AVX512_USED
#define CUBBY_AVX512_FUNCTION [[gnu::noinline, gnu::target("avx512f,avx512bw,avx512dq")]] inline
#endif
#endif
