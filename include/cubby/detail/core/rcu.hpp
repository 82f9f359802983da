// SPDX-License-Identifier: Apache-2.0
// Read-copy-update over the thread records of a domain (relativistic hash tables, section 3). A read section is a pin. A writer
// waits for the sections that are open at some moment in one of three ways. It gives memory to a `retire_bag` (epoch.hpp) and goes
// on. Or it asks a `grace_period` from time to time. Or it blocks in `synchronize`. Threads need not register. Each call takes a
// domain. Without one it uses the domain of the image (the program or a shared library) whose code makes the call.
#pragma once

#include <cstdint>

#include <cubby/detail/core/registry.hpp>
#include <cubby/detail/platform/fail.hpp>
#include <cubby/detail/platform/thread.hpp>

namespace cubby::inline v0::rcu {

/// A read section of the calling thread, from its construction to its destruction in the same thread. Nests. It costs one store at
/// each end and never blocks. The first section of a thread allocates a thread record: it throws std::bad_alloc if there is no memory;
/// without exceptions it waits for memory.
class [[nodiscard]] read_section {
public:
  CUBBY_OF_IMAGE read_section() : pin_(own_thread_record([] { return detail::registry::local(); })) {}
  /// For a structure that code of several images uses: its writer and all its readers must name the same domain.
  CUBBY_OF_IMAGE explicit read_section(const detail::domain_ref& of)
      : pin_(own_thread_record([&of] { return detail::registry::local(*of); })) {}

private:
  template <class Get> static detail::thread_record& own_thread_record(Get get) {
    for (detail::sync::backoff wait;; wait.pause()) {
      if (detail::thread_record* const mine = get()) [[likely]]
        return *mine;
      detail::fail::with_no_memory();
    }
  }
  detail::thread_pin pin_;
};

/// A wait for the sections that are open when it begins, and not for later ones.
class grace_period {
public:
  grace_period() noexcept = default; ///< has elapsed
  /// Begins a grace period. A system call, which interrupts all running threads of the program.
  [[nodiscard]] CUBBY_OF_IMAGE static grace_period begin() noexcept {
    detail::domain* const own = detail::domain_of_image();
    return own != nullptr ? begin(*own) : grace_period(); // without a domain there are no readers
  }
  /// The same for the readers of `of`, which must outlive this object.
  [[nodiscard]] static grace_period begin(detail::domain& of) noexcept {
    grace_period now;
    now.of_ = &of;
    now.epoch_ = of.advance();
    of.pass_barrier(); // once: see oldest_shown
    return now;
  }
  /// Whether all those sections have ended. If true, every open section sees what the caller wrote before `begin`, and all that the
  /// ended sections did happened before the answer. Reads all thread records until the answer is true; never blocks. The answer
  /// stays true: later calls do not read the records again.
  [[nodiscard]] bool elapsed() noexcept {
    if (epoch_ == 0) return true;
    std::uint64_t oldest = of_->oldest_shown();
    if (oldest == 0) oldest = of_->oldest(); // the published epochs are not enough; a barrier of this thread may be
    if (oldest >= epoch_) epoch_ = 0;
    return epoch_ == 0;
  }

private:
  detail::domain* of_ = nullptr;
  std::uint64_t epoch_ = 0; // 0: has elapsed
};

/// Waits for readers, which may be asleep: spins first, then sleeps, up to a millisecond at a time.
class reader_backoff {
public:
  void pause() noexcept {
    spin_.pause(); // before a sleep, too: on one core the reader needs a turn
    if (turns_++ < 128) return;
    detail::sleep_briefly(span_);
    slept_ += span_;
    if (span_ < 1000) span_ *= 2;
  }
  /// The sum of all sleeps so far, in microseconds, as requested.
  [[nodiscard]] std::uint64_t slept() const noexcept { return slept_; }

private:
  detail::sync::backoff spin_;
  unsigned turns_ = 0;
  unsigned span_ = 20;
  std::uint64_t slept_ = 0;
};

/// The result of a wait for readers.
enum class waited : std::uint8_t {
  elapsed,
  inside,  ///< the caller is inside a read section itself, so the wait would never end; it did not wait
  too_long ///< readers are still inside after the given time
};

inline constexpr std::uint64_t for_ever = ~std::uint64_t{0};

/// Blocks until each section in `of` that is open at the call has ended, or until `limit` microseconds of sleeps; a first spin and late
/// wake-ups are extra. It notices sections of the caller in its thread's record, in a handle, and in `mine`, a thread record that the
/// caller has claimed itself.
[[nodiscard]] inline waited synchronize(detail::domain& of, detail::thread_record* mine = nullptr,
                                        std::uint64_t limit = for_ever) noexcept {
  if (detail::registry::inside(of) || (mine != nullptr && detail::registry::inside(*mine))) return waited::inside;
  grace_period readers = grace_period::begin(of);
  // If readers execute fences themselves by now, the caller's own record counts only after one pin.
  if (detail::thread_record* const own = detail::registry::local(of)) const detail::thread_pin fenced(*own);
  if (mine != nullptr) const detail::thread_pin fenced(*mine);
  for (reader_backoff wait; !readers.elapsed(); wait.pause()) {
    if (wait.slept() >= limit) return waited::too_long;
  }
  return waited::elapsed;
}
/// The same for the domain of the image.
[[nodiscard]] CUBBY_OF_IMAGE inline waited synchronize(detail::thread_record* mine = nullptr,
                                                       std::uint64_t limit = for_ever) noexcept {
  detail::domain* const own = detail::domain_of_image();
  return own != nullptr ? synchronize(*own, mine, limit) : waited::elapsed;
}

} // namespace cubby::inline v0::rcu
