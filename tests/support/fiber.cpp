// SPDX-License-Identifier: Apache-2.0
// The switch between stacks, and what AddressSanitizer and ThreadSanitizer want to know of it.
#include "support/fiber.hpp"

#include <cstdint>
#include <cstdlib>

#include <pthread.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define CUBBY_TEST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CUBBY_TEST_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define CUBBY_TEST_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CUBBY_TEST_TSAN 1
#endif
#endif

#if defined(CUBBY_TEST_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(CUBBY_TEST_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

#if defined(__x86_64__)
// Saves what a function must preserve, takes the other stack, and returns there.
extern "C" void cubby_test_switch_stack(void** saved, void* wanted);
asm(R"(
.text
.globl cubby_test_switch_stack
.type cubby_test_switch_stack, @function
cubby_test_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size cubby_test_switch_stack, .-cubby_test_switch_stack
)");
#endif

namespace cubby_test {
namespace {

constexpr std::size_t stack_bytes = std::size_t{512} << 10;
constexpr std::size_t guard_bytes = 4096;

fiber*& arriving() {
  static fiber* which = nullptr;
  return which;
}

} // namespace

fiber::fiber() {
  pthread_attr_t attributes;
  void* lowest = nullptr;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) std::abort();
  pthread_attr_getstack(&attributes, &lowest, &size_);
  pthread_attr_destroy(&attributes);
  bottom_ = lowest;
#if defined(CUBBY_TEST_TSAN)
  sanitizer_ = __tsan_get_current_fiber();
#endif
}

fiber::fiber(entry_function entry, void* argument) : size_(stack_bytes), entry_(entry), argument_(argument) {
  void* const got = mmap(nullptr, stack_bytes + guard_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (got == MAP_FAILED) std::abort();
  mapping_ = static_cast<std::byte*>(got);
  mprotect(mapping_, guard_bytes, PROT_NONE);
  bottom_ = mapping_ + guard_bytes;
#if defined(__x86_64__)
  // As `cubby_test_switch_stack` leaves it: six registers, then where to go on; above that an empty return address.
  auto* const top = reinterpret_cast<std::uint64_t*>(mapping_ + guard_bytes + stack_bytes);
  top[-2] = reinterpret_cast<std::uint64_t>(&fiber::begin);
  stack_pointer_ = top - 8;
#else
  getcontext(&context_);
  context_.uc_stack.ss_sp = mapping_ + guard_bytes;
  context_.uc_stack.ss_size = stack_bytes;
  context_.uc_link = nullptr;
  makecontext(&context_, &fiber::begin, 0);
#endif
#if defined(CUBBY_TEST_TSAN)
  sanitizer_ = __tsan_create_fiber(0);
#endif
}

fiber::~fiber() {
  if (mapping_ == nullptr) return;
#if defined(CUBBY_TEST_TSAN)
  __tsan_destroy_fiber(sanitizer_);
#endif
  munmap(mapping_, stack_bytes + guard_bytes);
}

void fiber::begin() {
  fiber& self = *arriving();
#if defined(CUBBY_TEST_ASAN)
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
  self.entry_(self.argument_);
  std::abort();
}

#if defined(CUBBY_TEST_TSAN)
__attribute__((no_sanitize_thread))
#endif
void fiber::change(fiber& from, fiber& to) {
  arriving() = &to;
#if defined(CUBBY_TEST_ASAN)
  __sanitizer_start_switch_fiber(&from.sanitizer_, to.bottom_, to.size_);
#endif
#if defined(CUBBY_TEST_TSAN)
  __tsan_switch_to_fiber(to.sanitizer_, 0);
#endif
#if defined(__x86_64__)
  cubby_test_switch_stack(&from.stack_pointer_, to.stack_pointer_);
#else
  swapcontext(&from.context_, &to.context_);
#endif
#if defined(CUBBY_TEST_ASAN)
  __sanitizer_finish_switch_fiber(from.sanitizer_, nullptr, nullptr);
#endif
}

} // namespace cubby_test
