// SPDX-License-Identifier: Apache-2.0
// Callbacks that plain C++ does not have: at the end of a thread, at the end of an image, and in the child of a fork. An image is the
// program or the shared library that this code was compiled into. It stays loaded until a thread's callback has run.
#pragma once

#include <cstdint>

#include <cubby/detail/platform/sync.hpp>

#include <cxxabi.h>
#include <pthread.h>

/// For functions and variables that exist once for each image: names of one image never refer to those of another.
#define CUBBY_OF_IMAGE [[gnu::visibility("hidden")]]

// The name of an image for the compiler's run-time library.
extern "C" CUBBY_OF_IMAGE void* __dso_handle; // NOLINT: the name is the platform's

namespace cubby::inline v0::detail::image {

/// A number of the calling thread, which no other living thread has. It is the same in the child of a fork, and never 0.
CUBBY_ALWAYS_INLINE std::uintptr_t this_thread() noexcept {
  return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
}

/// A thread's number in shared memory. Relaxed, and no step for a hook, because only the named thread acts on it.
class thread_mark {
public:
  void set(std::uintptr_t thread) noexcept { __atomic_store_n(&thread_, thread, __ATOMIC_RELAXED); }
  [[nodiscard]] std::uintptr_t get() const noexcept { return __atomic_load_n(&thread_, __ATOMIC_RELAXED); }

private:
  std::uintptr_t thread_ = 0;
};

/// The number of forks between the first process and this one. Relaxed, and no step for a hook: only the child of a fork changes it,
/// where no other thread runs.
class fork_count {
public:
  void add() noexcept { __atomic_store_n(&forks_, get() + 1, __ATOMIC_RELAXED); }
  [[nodiscard]] std::uint64_t get() const noexcept { return __atomic_load_n(&forks_, __ATOMIC_RELAXED); }

private:
  std::uint64_t forks_ = 0;
};

/// Registers `f(argument)` for the end of the calling thread. Callbacks run in reverse order; one may also be registered by a
/// destructor of a thread_local object. The image stays loaded until `f` has returned. False: no memory.
CUBBY_OF_IMAGE inline bool at_thread_end(void (*f)(void*), void* argument) noexcept {
  return abi::__cxa_thread_atexit(f, argument, static_cast<void*>(&__dso_handle)) == 0;
}

/// Registers `f(nullptr)` for the end of the image or the program. Callbacks run in reverse order. False: no memory.
CUBBY_OF_IMAGE inline bool at_image_end(void (*f)(void*)) noexcept {
  return abi::__cxa_atexit(f, nullptr, static_cast<void*>(&__dso_handle)) == 0;
}

/// Registers `f()` for the child of each fork, before `fork` returns there, until the image is closed. False: no memory.
CUBBY_OF_IMAGE inline bool in_each_child(void (*f)()) noexcept { return pthread_atfork(nullptr, nullptr, f) == 0; }

} // namespace cubby::inline v0::detail::image
