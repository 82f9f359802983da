// SPDX-License-Identifier: Apache-2.0
// Two neighbouring 8-byte words that are read one by one and changed together by a 16-byte compare-and-swap. There is no 16-byte load:
// g++ 12 would call libatomic, and without AVX or with LSE the load would be a write. The swap is acquire on failure and
// acquire-release on success. docs/memory-order.md argues why the mix with 8-byte accesses is correct.
#pragma once

#include <cubby/detail/platform/sync.hpp>

// ThreadSanitizer's own interface; called in its builds only.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the names are the sanitizer's
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace cubby::inline v0::detail::sync {

struct two_words {
  std::uint64_t first;
  std::uint64_t second;
  bool operator==(const two_words&) const = default;
};

namespace detail {

#if defined(__x86_64__)
// ThreadSanitizer does not see assembly, so its builds use the compiler's builtin.
[[gnu::target("cx16"), gnu::noinline]] inline bool swap16_builtin(void* at, two_words expected,
                                                                  two_words desired) noexcept {
  __extension__ using wide = unsigned __int128;
  const auto join = [](two_words w) { return (static_cast<wide>(w.second) << 64) | w.first; };
  return __sync_bool_compare_and_swap(static_cast<wide*>(at), join(expected), join(desired));
}
CUBBY_ALWAYS_INLINE bool swap16_native(void* at, two_words expected, two_words desired) noexcept {
  bool done;
  auto* const pair = static_cast<two_words*>(at);
  asm volatile("lock cmpxchg16b %[pair]"
               : "=@ccz"(done), [pair] "+m"(*pair), "+a"(expected.first), "+d"(expected.second)
               : "b"(desired.first), "c"(desired.second)
               : "memory");
  return done;
}
#else
CUBBY_ALWAYS_INLINE bool swap16_native(void* at, two_words expected, two_words desired) noexcept {
  std::uint64_t low;
  std::uint64_t high;
  std::uint32_t failed = 1;
  // A mismatch may come from a torn load of the pair. That is harmless, because callers look again after each failure.
  asm volatile("1: ldaxp %[low], %[high], [%[at]]\n"
               "   cmp %[low], %[first]\n"
               "   ccmp %[high], %[second], #0, eq\n"
               "   b.ne 2f\n"
               "   stlxp %w[failed], %[new_first], %[new_second], [%[at]]\n"
               "   cbnz %w[failed], 1b\n"
               "   b 3f\n"
               "2: clrex\n"
               "   mov %w[failed], #1\n"
               "3:\n"
               : [low] "=&r"(low), [high] "=&r"(high), [failed] "+&r"(failed)
               : [at] "r"(at), [first] "r"(expected.first), [second] "r"(expected.second),
                 [new_first] "r"(desired.first), [new_second] "r"(desired.second)
               : "cc", "memory");
  return failed == 0;
}
inline bool swap16_builtin(void* at, two_words expected, two_words desired) noexcept {
  return swap16_native(at, expected, desired);
}
#endif

} // namespace detail

/// A slot: a key word and a value word, 16-byte aligned.
template <class Threads> struct alignas(16) word16 {
  word<std::uint64_t, Threads> first;
  word<std::uint64_t, Threads> second;

  /// True: both words were `expected` and are `desired` now. Acquire-release if true, acquire if false.
  CUBBY_ALWAYS_INLINE bool compare_exchange(two_words expected, two_words desired) noexcept {
    if constexpr (!Threads::is_shared) {
      if (first.load(relaxed) != expected.first || second.load(relaxed) != expected.second) return false;
      first.store(desired.first, relaxed);
      second.store(desired.second, relaxed);
      return true;
    } else {
      hook(step::rmw16, this);
      if constexpr (cpu::thread_sanitizer) {
        // ThreadSanitizer records the swap under the address of the pair only; a reader loads the second word from its own address.
        __tsan_release(&second);
        const bool done = detail::swap16_builtin(this, expected, desired);
        __tsan_acquire(&second);
        return done;
      }
      return detail::swap16_native(this, expected, desired);
    }
  }
};

} // namespace cubby::inline v0::detail::sync
