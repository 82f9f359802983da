// SPDX-License-Identifier: Apache-2.0
// A chained table behind one reader-writer lock: lookups hold it shared, everything else alone, a whole resize included.
#pragma once

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "chains.hpp"

namespace bench {

/// Spins, as a kernel's does, and is fair, as Linux's is (qrwlock): a thread that does not get the lock at once waits in line.
/// Without that, a writer without pause would keep readers out for ever, or readers a writer.
class fair_rwlock {
public:
  void lock_shared() {
    if ((state_.fetch_add(reader, std::memory_order_acquire) & (inside | waiting)) == 0) return;
    state_.fetch_sub(reader, std::memory_order_relaxed); // was not inside
    const std::uint32_t place = wait_in_line();
    state_.fetch_add(reader, std::memory_order_relaxed); // keeps the next writer out; the load below orders
    for (cubby::detail::sync::backoff wait; (state_.load(std::memory_order_acquire) & inside) != 0;) wait.pause();
    let_next(place);
  }
  void unlock_shared() { state_.fetch_sub(reader, std::memory_order_release); }
  void lock() {
    if (turn(0)) return;
    const std::uint32_t place = wait_in_line();
    state_.fetch_or(waiting, std::memory_order_relaxed); // sends new readers into the line; `turn` orders
    for (cubby::detail::sync::backoff wait; !turn(waiting);) wait.pause();
    let_next(place);
  }
  void unlock() { state_.fetch_sub(inside, std::memory_order_release); }

private:
  static constexpr std::uint32_t inside = 1;  // a writer
  static constexpr std::uint32_t waiting = 2; // a writer, for the readers that are inside
  static constexpr std::uint32_t reader = 4;  // each

  bool turn(std::uint32_t from) {
    return state_.compare_exchange_strong(from, inside, std::memory_order_acquire, std::memory_order_relaxed);
  }
  std::uint32_t wait_in_line() {
    const std::uint32_t place = tickets_.fetch_add(1, std::memory_order_relaxed); // `served_` orders
    for (cubby::detail::sync::backoff wait; served_.load(std::memory_order_acquire) != place;) wait.pause();
    return place;
  }
  void let_next(std::uint32_t place) { served_.store(place + 1, std::memory_order_release); }

  std::atomic<std::uint32_t> state_{0};
  std::atomic<std::uint32_t> tickets_{0};
  std::atomic<std::uint32_t> served_{0};
};

class rwlock_table {
public:
  explicit rwlock_table(const chain_options& chosen)
      : options_(chosen), now_(std::make_unique<plain_buckets>(chosen.buckets, chosen.seed)) {}
  rwlock_table(const rwlock_table&) = delete;
  rwlock_table& operator=(const rwlock_table&) = delete;
  ~rwlock_table() { now_->free_nodes(); }

  bool find(std::uint64_t key, std::uint64_t& value) {
    const std::shared_lock hold(lock_);
    const plain_node* const n = now_->find(key);
    if (n != nullptr) value = n->value.load(std::memory_order_relaxed); // the lock orders
    return n != nullptr;
  }
  bool insert(std::uint64_t key, std::uint64_t value) {
    const alone hold(lock_);
    if (now_->find(key) != nullptr) return false;
    now_->push(*new plain_node(key, value));
    rebuild(options_.after_insert(++entries_, now_->count()));
    return true;
  }
  bool erase(std::uint64_t key) {
    const alone hold(lock_);
    const std::unique_ptr<plain_node> gone(now_->unlink(key));
    if (gone == nullptr) return false;
    rebuild(options_.after_erase(--entries_, now_->count()));
    return true;
  }
  /// `f(old value)` is the new one.
  template <class F> bool update(std::uint64_t key, F f) {
    const alone hold(lock_);
    plain_node* const n = now_->find(key);
    if (n == nullptr) return false;
    n->value.store(f(n->value.load(std::memory_order_relaxed)), std::memory_order_relaxed); // the lock orders both
    return true;
  }
  void resize(std::uint64_t buckets) {
    const alone hold(lock_);
    rebuild(buckets);
  }

private:
  using alone = std::lock_guard<fair_rwlock>;

  void rebuild(std::uint64_t buckets) {
    if (buckets == now_->count()) return;
    auto next = std::make_unique<plain_buckets>(buckets, options_.seed);
    for (std::uint64_t b = 0; b < now_->count(); ++b) {
      while (plain_node* const n = now_->first(b)) {
        now_->drop_first(b);
        next->push(*n);
      }
    }
    now_ = std::move(next);
  }

  alignas(64) fair_rwlock lock_;
  alignas(64) chain_options options_;
  std::unique_ptr<plain_buckets> now_;
  std::uint64_t entries_ = 0;
};

} // namespace bench
