// SPDX-License-Identifier: Apache-2.0
// A stack of its own and a switch to it: what the explorer and `fiber_scheduler` run scripts on, all in one thread of the
// system. On x86-64 a switch saves six registers; elsewhere <ucontext.h> does it. The sanitizers are told of each switch.
#pragma once

#include <cstddef>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace cubby_test {

class fiber {
public:
  using entry_function = void (*)(void* argument);

  /// The context that the thread of the system already has.
  fiber();
  /// A fresh stack; `entry` runs at the first switch to it and must never return.
  fiber(entry_function entry, void* argument);
  ~fiber();
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  /// Goes from the fiber that runs to another one; returns when a fiber switches back.
  static void change(fiber& from, fiber& to);

private:
  static void begin();
#if defined(__x86_64__)
  void* stack_pointer_ = nullptr;
#else
  ucontext_t context_{};
#endif
  std::byte* mapping_ = nullptr; // of a fresh stack, with a page below it that must not be touched
  const void* bottom_ = nullptr;
  std::size_t size_ = 0;
  entry_function entry_ = nullptr;
  void* argument_ = nullptr;
  [[maybe_unused]] void* sanitizer_ = nullptr; // a fake stack of AddressSanitizer or a fiber of ThreadSanitizer
};

} // namespace cubby_test
