// SPDX-License-Identifier: Apache-2.0
// Whether a sanitizer watches the allocations of this process. It is asked when the process runs, because a program with one may use libraries
// that were compiled without. In a program without position-independent code it is not seen that a sanitizer was preloaded.
#pragma once

#include <cubby/detail/platform/sync.hpp>

// Functions of the run-time libraries of the sanitizers; null where there is none.
extern "C" {
[[gnu::weak]] void __asan_init();                     // NOLINT: the names are the sanitizers'
[[gnu::weak]] void __hwasan_init();                   // NOLINT
[[gnu::weak]] void __msan_init();                     // NOLINT
[[gnu::weak]] void __tsan_init();                     // NOLINT
[[gnu::weak]] int __lsan_do_recoverable_leak_check(); // NOLINT
}

namespace cubby::inline v0::detail {

/// Tests with hooks count and refuse allocations.
inline constexpr bool tests_watch_allocations = CUBBY_SYNC_HOOKS != 0;
/// They or a sanitizer need to see each record.
inline bool allocations_are_watched() noexcept {
  return tests_watch_allocations || &__asan_init != nullptr || &__hwasan_init != nullptr || &__msan_init != nullptr ||
         &__tsan_init != nullptr || &__lsan_do_recoverable_leak_check != nullptr;
}

} // namespace cubby::inline v0::detail
