// SPDX-License-Identifier: Apache-2.0
// What tests do at the atomic steps of a table, in binaries built with CUBBY_SYNC_HOOKS. Each thread may have one watcher,
// which pauses it at random or parks it before a chosen step until another thread lets it go.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include <cubby/detail/platform/sync.hpp>

#include "support/random.hpp"
#include "support/threads.hpp"

static_assert(CUBBY_SYNC_HOOKS, "this header is for the binary that is built with hooks");

namespace cubby_test {

using cubby::detail::sync::step;

/// Sees the steps of the thread that made it, until it is destroyed.
class watcher {
public:
  watcher() : outer_(current()) { current() = this; }
  virtual ~watcher() { current() = outer_; }
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;
  virtual void before(step kind, const void* address) = 0;

  /// Sees the steps of every thread that has no watcher of its own: a table's background thread. Null: no thread does.
  static std::atomic<watcher*>& of_strangers() {
    static std::atomic<watcher*> theirs{nullptr};
    return theirs;
  }

private:
  static watcher*& current() {
    static thread_local watcher* mine = nullptr;
    return mine;
  }
  static void dispatch(step kind, const void* address) {
    watcher* const mine = current();
    // relaxed: it is set before the thread that it is meant for is woken, and must not order what it watches
    watcher* const told = mine != nullptr ? mine : of_strangers().load(std::memory_order_relaxed);
    if (told != nullptr) told->before(kind, address);
  }
  watcher* outer_;

  // Once, before any thread: the hook itself is not an atomic word.
  static inline const bool installed_ = (cubby::detail::sync::install_hook(&dispatch), true);
};

/// Pauses at random steps: mostly a short spin, sometimes a yield, so that threads meet in the middle of a verb.
class perturber final : public watcher {
public:
  perturber(std::uint64_t salt, std::uint64_t rarity) : random_(salt), rarity_(rarity) {}
  void before(step, const void*) override {
    const std::uint64_t dice = random_.below(rarity_ * 4);
    pauses_ += dice < 4 ? 1 : 0;
    if (dice == 0) {
      std::this_thread::yield();
    } else if (dice < 4) {
      for (std::uint64_t spins = random_.below(200); spins > 0; --spins) cubby::detail::cpu::relax();
    }
  }

  [[nodiscard]] std::uint64_t pauses() const { return pauses_; }

private:
  random_source random_;
  std::uint64_t rarity_;
  std::uint64_t pauses_ = 0;
};

/// Sees nothing. A thread that has one is no stranger.
class quiet final : public watcher {
public:
  void before(step, const void*) override {}
};

/// Counts the turns that its thread has waited.
class wait_counter final : public watcher {
public:
  explicit wait_counter(std::atomic<std::uint64_t>& turns) : turns_(turns) {}
  void before(step kind, const void*) override {
    if (kind == step::wait) turns_.fetch_add(1);
  }

private:
  std::atomic<std::uint64_t>& turns_;
};

/// Where one thread waits for another: the first calls `park`, the second waits for `parked` and calls `release`.
class parking {
public:
  void park() {
    parked_.store(true);
    while (!released_.load()) std::this_thread::yield();
  }
  [[nodiscard]] bool wait_until_parked() {
    return eventually([&] { return parked_.load(); });
  }
  [[nodiscard]] bool parked() const { return parked_.load(); }
  void release() { released_.store(true); }

private:
  std::atomic<bool> parked_{false};
  std::atomic<bool> released_{false};
};

/// Parks its thread once, before the first step for which `matches` is true.
class park_before final : public watcher {
public:
  using predicate = std::function<bool(step, const void*)>;
  park_before(parking& spot, predicate matches) : spot_(spot), matches_(std::move(matches)) {}
  void before(step kind, const void* address) override {
    if (done_ || !matches_(kind, address)) return;
    done_ = true;
    spot_.park();
  }

private:
  parking& spot_;
  predicate matches_;
  bool done_ = false;
};

} // namespace cubby_test
