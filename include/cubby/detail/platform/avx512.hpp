// SPDX-License-Identifier: Apache-2.0
// AVX-512 in functions that are compiled for every x86-64 processor, and run where the processor has it. As assembly it can be inlined into them, where
// a function with a target of its own is called.
// A function of the user may be compiled for AVX-512 by an attribute and have values in the registers that the assembly uses. clang takes their
// names as clobbers anywhere, and registers from zmm16 on cost later SSE instructions nothing. g++ takes the names of k1 and zmm16 only in code that is
// compiled for AVX-512. Elsewhere it is in a function of its own, or it keeps k1 in a general register and uses zmm0, which g++ knows as xmm0. At its end it
// clears the upper halves of zmm0 to zmm15, because SSE instructions would wait for them.
#pragma once

#include <cubby/detail/platform/inlining.hpp>

#if defined(__x86_64__)
#if defined(__clang__) || defined(__AVX512F__)
/// Assembly that uses one vector register and k1 is between these two.
#define CUBBY_AVX512_BEGIN ""
#define CUBBY_AVX512_END ""
/// Its vector register.
#define CUBBY_AVX512_VECTOR "%%zmm16"
/// Its last output, for `mask_before`, and its last clobbers.
#define CUBBY_AVX512_KEPT(mask_before)
#define CUBBY_AVX512_USED , "xmm16", "k1"
/// In front of a function with more than that.
#define CUBBY_AVX512_FUNCTION CUBBY_ALWAYS_INLINE
#else
#define CUBBY_AVX512_BEGIN "kmovq %%k1, %[kept]\n\t"
#define CUBBY_AVX512_END "\n\tkmovq %[kept], %%k1\n\tvzeroupper"
#define CUBBY_AVX512_VECTOR "%%zmm0"
#define CUBBY_AVX512_KEPT(mask_before) , [kept] "=&r"(mask_before)
#define CUBBY_AVX512_USED                                                                                              \
  , "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",         \
      "xmm13", "xmm14", "xmm15"
#define CUBBY_AVX512_FUNCTION [[gnu::noinline, gnu::target("avx512f,avx512bw,avx512dq")]] inline
#endif
#endif
