// SPDX-License-Identifier: Apache-2.0
// What a header cannot do in plain C++. It runs code when a thread ends, whatever was called at its end before. Until then it
// keeps the image loaded: the shared library that this code was compiled into. And it runs code in the child of a fork.
#pragma once

#include <cstdint>

#include <cubby/detail/platform/sync.hpp>

#include <cxxabi.h>
#include <pthread.h>

/// Of what is there once for each image: the program, and each shared library. Names of one image never stand for another's.
#define CUBBY_OF_IMAGE [[gnu::visibility("hidden")]]

// What the compiler's own run-time library knows an image by.
extern "C" CUBBY_OF_IMAGE void* __dso_handle; // NOLINT: the name is the platform's

namespace cubby::inline v0::detail::image {

/// A number of the calling thread that no other living thread has; the same in the child of a fork. Never 0.
CUBBY_ALWAYS_INLINE std::uintptr_t this_thread() noexcept {
  return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
}

/// A thread's number in shared memory. Relaxed, and no step to a hook: only the thread that it names acts on it.
class thread_mark {
public:
  void set(std::uintptr_t thread) noexcept { __atomic_store_n(&thread_, thread, __ATOMIC_RELAXED); }
  [[nodiscard]] std::uintptr_t get() const noexcept { return __atomic_load_n(&thread_, __ATOMIC_RELAXED); }

private:
  std::uintptr_t thread_ = 0;
};

/// How often the process has become another one by `fork`, as the caller sees it. Relaxed, and no step to a hook: only the
/// child of a fork counts, where nobody else is.
class fork_count {
public:
  void add() noexcept { __atomic_store_n(&forks_, get() + 1, __ATOMIC_RELAXED); }
  [[nodiscard]] std::uint64_t get() const noexcept { return __atomic_load_n(&forks_, __ATOMIC_RELAXED); }

private:
  std::uint64_t forks_ = 0;
};

/// `f(argument)` when the calling thread ends, after what was asked for later; also while the destructors of its
/// thread_local objects run. The image stays loaded until `f` has returned. False: no memory.
CUBBY_OF_IMAGE inline bool at_thread_end(void (*f)(void*), void* argument) noexcept {
  return abi::__cxa_thread_atexit(f, argument, static_cast<void*>(&__dso_handle)) == 0;
}

/// `f(nullptr)` when the image is closed or the program ends, before what was asked for earlier. False: no memory.
CUBBY_OF_IMAGE inline bool at_image_end(void (*f)(void*)) noexcept {
  return abi::__cxa_atexit(f, nullptr, static_cast<void*>(&__dso_handle)) == 0;
}

/// `f()` in the child of each fork, before `fork` returns there; until the image is closed. False: no memory.
CUBBY_OF_IMAGE inline bool in_each_child(void (*f)()) noexcept { return pthread_atfork(nullptr, nullptr, f) == 0; }

} // namespace cubby::inline v0::detail::image
