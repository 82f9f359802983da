// SPDX-License-Identifier: Apache-2.0
// What a compiler inlines and what it does not. Code that is not optimised calls each function: it compiles in 0.6 of the time and of the
// memory (docs/testing.md), and a debugger can enter each step.
#pragma once

// The short paths of the operations: a call that is not inlined there would cost more than the work in it. With g++ a memory order that comes
// to `sync::word` as an argument is a constant only where these functions are inlined; it makes the strongest order of any other.
#if defined(__OPTIMIZE__)
#define CUBBY_ALWAYS_INLINE [[gnu::always_inline]] inline
// The same for a lambda, behind its parameters.
#define CUBBY_INLINED __attribute__((always_inline))
#else
#define CUBBY_ALWAYS_INLINE inline
#define CUBBY_INLINED
#endif
#define CUBBY_NEVER_INLINE [[gnu::noinline, gnu::cold]]
// Not inlined, so that the usual path of its caller stays short. It is not rare, unlike CUBBY_NEVER_INLINE.
#define CUBBY_OUTLINED [[gnu::noinline]]
// Before a loop that is to be eight copies of its body.
#define CUBBY_UNROLL_8 _Pragma("GCC unroll 8")
