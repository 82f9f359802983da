// SPDX-License-Identifier: Apache-2.0
// Retired words wait here until no pin that might have seen them is left, then the policy disposes of them.
// Nothing is allocated: words are chained through a link inside their records. The caller's destructors run with no
// lock held. DLHT section 3.2.3 asks the client to advance the epoch; here retiring itself does, every `batch` words,
// and in passing takes care of what threads left behind that have ended or do not retire any more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <cubby/core/lock.hpp>
#include <cubby/core/registry.hpp>

namespace cubby::inline v0 {

/// What has been retired of one structure; many threads add to it, each through its own seat (`registry::local()`). `Threads` is
/// `sync::shared`. A policy names its words: `unique_words`, true if `add` is called at all; `retire_link(word)`, a reference to
/// 64 bits inside what the word stands for, of which nobody else makes use once it is retired; `dispose(word)`, which frees it.
/// examples/config.cpp has one.
template <class Policy, class Threads> class retire_bag {
public:
  explicit retire_bag(const Policy& policy) noexcept : policy_(policy) {}
  ~retire_bag() { dispose_all(); }
  retire_bag(const retire_bag&) = delete;
  retire_bag& operator=(const retire_bag&) = delete;

  /// Takes over `word`, already unlinked; it is disposed of after a grace period. Constant time but for every
  /// `batch`-th call, which looks at all seats. May dispose of older words before it returns. Waits for nobody unless so many
  /// others as there are stripes stand in here.
  void add(const seat& s, std::uint64_t word) {
    stripe* one = &stripes_[s.id() % stripe_count];
    if (!one->lock.try_lock()) [[unlikely]]
      one = &lock_another(s.id());
    stripe& mine = *one;
    policy_.retire_link(word) = mine.open;
    mine.open = word;
    ++mine.added;
    const bool full = ++mine.open_count % batch == 0;
    const std::uint64_t ready = full ? turn(mine) : nothing;
    mine.lock.unlock();
    dispose(ready);
    if (full) dispose(turn_idle());
  }

  /// Disposes of all that may go now. Looks at all seats.
  void collect() {
    for (stripe& one : stripes_) {
      for (int step = 0; step < 2; ++step) {
        std::uint64_t ready = nothing;
        {
          lock_scope hold(one.lock);
          if (one.open != nothing || one.sealed != nothing) ready = turn(one);
        }
        dispose(ready);
      }
    }
  }

  /// Disposes of everything, and of what is retired meanwhile; whether there was anything. At a table's end: nobody else is
  /// there, and nobody holds a pin.
  bool dispose_all() {
    bool any = false;
    for (bool more = true; more; any = any || more) {
      more = false;
      for (stripe& one : stripes_) {
        for (const std::uint64_t chain : take_all(one)) {
          more = more || chain != nothing;
          dispose(chain);
        }
      }
    }
    return any;
  }

  /// Words that wait; a recent figure.
  [[nodiscard]] std::size_t waiting() const noexcept {
    std::size_t sum = 0;
    for (stripe& one : stripes_) {
      lock_scope hold(one.lock);
      sum += one.open_count + one.sealed_count;
    }
    return sum;
  }

private:
  static constexpr std::size_t stripe_count = 16;
  // A membarrier costs about 2 us with two threads running: 8 ns a word at this batch.
  static constexpr std::uint32_t batch = 256;
  static constexpr std::uint64_t nothing = 0; // no record lies at address zero

  struct alignas(cpu::cache_line) stripe {
    small_lock<Threads> lock;
    std::uint32_t open_count = 0;
    std::uint32_t sealed_count = 0;
    std::uint64_t open = nothing;   // unlinked, not yet tagged
    std::uint64_t sealed = nothing; // may go when every pin is at `tag` or later
    std::uint64_t tag = 0;
    std::uint32_t added = 0; // words that ever came
    std::uint32_t seen = 0;  // `added` when turn_idle looked last
  };

  /// A stripe whose lock was free, the next one first, and now is the caller's. Any one will do for any word.
  CUBBY_NEVER_INLINE stripe& lock_another(std::size_t number) noexcept {
    sync::backoff wait;
    for (std::size_t tried = 1;; ++tried) {
      stripe& one = stripes_[(number + tried) % stripe_count];
      if (one.lock.try_lock()) return one;
      if (tried % stripe_count == 0) wait.pause();
    }
  }

  /// Takes the sealed chain when its time has come, and seals the open one. Returns what may be disposed of.
  static std::uint64_t turn(stripe& one) noexcept {
    std::uint64_t ready = nothing;
    if (one.sealed != nothing) {
      if (registry::oldest() < one.tag) return nothing;
      ready = one.sealed;
    }
    one.tag = registry::advance();
    one.sealed = one.open;
    one.sealed_count = one.open_count;
    one.open = nothing;
    one.open_count = 0;
    return ready;
  }

  static std::array<std::uint64_t, 2> take_all(stripe& one) noexcept {
    lock_scope hold(one.lock);
    one.sealed_count = one.open_count = 0;
    return {std::exchange(one.sealed, nothing), std::exchange(one.open, nothing)};
  }

  /// Looks at one stripe, the next each time, and turns it if nothing has come since the last look: three looks after
  /// its threads have ended it is empty. Stripes in use turn themselves, at their own pace.
  std::uint64_t turn_idle() noexcept {
    // relaxed: shares out numbers only
    stripe& one = stripes_[looks_.fetch_add(1, sync::relaxed) % stripe_count];
    if (!one.lock.try_lock()) return nothing; // it is in use
    const bool idle = one.added == one.seen;
    one.seen = one.added;
    const bool waits = one.open != nothing || one.sealed != nothing;
    const std::uint64_t ready = idle && waits ? turn(one) : nothing;
    one.lock.unlock();
    return ready;
  }

  void dispose(std::uint64_t chain) {
    if constexpr (Policy::unique_words) {
      while (chain != nothing) {
        const std::uint64_t word = chain;
        chain = policy_.retire_link(word);
        policy_.dispose(word);
      }
    }
  }

  const Policy& policy_;
  mutable stripe stripes_[stripe_count];
  sync::word<std::uint32_t, Threads> looks_; // shares out the stripes to turn_idle
};

/// The same for one thread: words wait until its outermost pin ends.
template <class Policy> class retire_bag<Policy, sync::single> {
public:
  explicit retire_bag(const Policy& policy) noexcept : policy_(policy) {}
  ~retire_bag() { collect(); }
  retire_bag(const retire_bag&) = delete;
  retire_bag& operator=(const retire_bag&) = delete;

  void enter() noexcept { ++depth_; }
  void leave() {
    if (--depth_ == 0 && chain_ != 0) collect();
  }
  void add(const seat&, std::uint64_t word) {
    policy_.retire_link(word) = chain_;
    chain_ = word;
    ++count_;
  }
  bool dispose_all() {
    const bool any = chain_ != 0;
    collect();
    return any && depth_ == 0;
  }
  /// Disposes of everything, unless a pin lives. A destructor may retire more; that goes too.
  void collect() {
    if (depth_ != 0) return;
    if constexpr (Policy::unique_words) {
      while (chain_ != 0) {
        const std::uint64_t word = chain_;
        chain_ = policy_.retire_link(word);
        --count_;
        policy_.dispose(word);
      }
    }
  }
  [[nodiscard]] std::size_t waiting() const noexcept { return count_; }
  /// Whether no pin lives but the caller's own.
  [[nodiscard]] bool alone() const noexcept { return depth_ <= 1; }

private:
  const Policy& policy_;
  std::uint64_t chain_ = 0;
  std::size_t count_ = 0;
  std::size_t depth_ = 0;
};

} // namespace cubby::inline v0
