// SPDX-License-Identifier: Apache-2.0
// Read-copy-update over the thread records of a domain. A read section is a pin. A writer waits for the sections that were open at
// some moment, in one of three ways, all over the same epochs: it hands memory to a `retire_bag` (epoch.hpp) and goes on,
// it asks a `grace_period` now and then, or it blocks in `synchronize`. Threads need not register. Each call takes a
// domain; without one it means that of the image (the program, or a shared library) whose code makes the call.
#pragma once

#include <cstdint>

#include <cubby/detail/core/registry.hpp>
#include <cubby/detail/platform/fail.hpp>
#include <cubby/detail/platform/thread.hpp>

namespace cubby::inline v0::rcu {

/// The calling thread is inside from its construction to its end, in the same thread. Nests; one store in and one out.
/// The thread's first needs memory for a thread record: std::bad_alloc without (without exceptions it waits for some).
class [[nodiscard]] read_section {
public:
  CUBBY_OF_IMAGE read_section() : pin_(own_thread_record([] { return detail::registry::local(); })) {}
  /// Of a structure that code of several images uses: its writer and all its readers name the same domain.
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

/// Waits for the sections that are open when it begins, and not for those that open later.
class grace_period {
public:
  grace_period() noexcept = default; ///< has elapsed
  /// A system call, which interrupts every running thread of the program.
  [[nodiscard]] CUBBY_OF_IMAGE static grace_period begin() noexcept {
    detail::domain* const own = detail::domain_of_image();
    return own != nullptr ? begin(*own) : grace_period(); // without a domain there is no reader in it
  }
  /// The same of readers in `of`, which lives longer.
  [[nodiscard]] static grace_period begin(detail::domain& of) noexcept {
    grace_period now;
    now.of_ = &of;
    now.tag_ = of.advance();
    of.pass_barrier(); // once: see oldest_shown
    return now;
  }
  /// Whether all of them have ended. What the caller wrote before `begin` is then seen by every section that is open,
  /// and what they did inside happened before the answer. Looks at every thread record until it is true; never blocks. It stays
  /// true: a section that takes the number of its epoch before `begin` and shows it late is not asked about again.
  [[nodiscard]] bool elapsed() noexcept {
    if (tag_ == 0) return true;
    std::uint64_t oldest = of_->oldest_shown();
    if (oldest == 0) oldest = of_->oldest(); // what is shown does not tell: a barrier of this thread's may
    if (oldest >= tag_) tag_ = 0;
    return tag_ == 0;
  }

private:
  detail::domain* of_ = nullptr;
  std::uint64_t tag_ = 0; // 0: has elapsed
};

/// Waiting for readers, who may be asleep: spins, then sleeps that grow to a millisecond.
class reader_backoff {
public:
  void pause() noexcept {
    spin_.pause(); // before a sleep, too: where threads take turns on one core the reader needs one
    if (turns_++ < 128) return;
    detail::sleep_briefly(span_);
    slept_ += span_;
    if (span_ < 1000) span_ *= 2;
  }
  /// Microseconds that were asked for in sleeps.
  [[nodiscard]] std::uint64_t slept() const noexcept { return slept_; }

private:
  detail::sync::backoff spin_;
  unsigned turns_ = 0;
  unsigned span_ = 20;
  std::uint64_t slept_ = 0;
};

/// How a wait for readers ended.
enum class waited : std::uint8_t {
  elapsed,
  inside,  ///< the caller is inside a read section of its own, which would never end; nothing was waited for
  too_long ///< readers are still inside after the time that was given
};

inline constexpr std::uint64_t for_ever = ~std::uint64_t{0};

/// Blocks until every section in `of` that is open now has ended, or `limit` microseconds of sleeps: a first spin and
/// late wake-ups come on top. Of the caller's own sections those are noticed that its thread's record or a handle is in, and
/// those on `mine` if that is given: a thread record that the caller has claimed itself.
[[nodiscard]] inline waited synchronize(detail::domain& of, detail::thread_record* mine = nullptr,
                                        std::uint64_t limit = for_ever) noexcept {
  if (detail::registry::inside(of) || (mine != nullptr && detail::registry::inside(*mine))) return waited::inside;
  grace_period readers = grace_period::begin(of);
  // Where readers have begun to fence for themselves, the caller's own records count when they have been entered once.
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
