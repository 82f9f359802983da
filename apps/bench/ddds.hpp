// SPDX-License-Identifier: Apache-2.0
// Nick Piggin's "Dynamic Dynamic Data Structures" over chains, as section 5 of the relativistic paper has it. A resize
// moves nodes one by one between two tables. A lookup that meets a resize looks into both, and tries again when a sequence
// counter has changed meanwhile. Updates, and with them resizes, hold one lock; memory waits for readers by cubby's epochs.
#pragma once

#include <cstdlib>
#include <mutex>
#include <vector>

#include "chains.hpp"

namespace bench {

/// Nodes that were taken off the chains, until no reader can be on them. One thread at a time.
class retired_nodes {
public:
  retired_nodes() = default;
  retired_nodes(const retired_nodes&) = delete;
  retired_nodes& operator=(const retired_nodes&) = delete;
  ~retired_nodes() {
    free(waiting_);
    free(fresh_);
  }
  void add(plain_node& n) {
    fresh_.push_back(&n);
    if (fresh_.size() < lot || !readers_.elapsed()) return;
    free(waiting_);
    waiting_.swap(fresh_);
    readers_ = cubby::rcu::grace_period::begin();
  }

private:
  static constexpr std::size_t lot = 1024; // to begin a grace period is a system call
  static void free(std::vector<plain_node*>& nodes) {
    for (plain_node* n : nodes) delete n;
    nodes.clear();
  }
  std::vector<plain_node*> fresh_;
  std::vector<plain_node*> waiting_; // for `readers_`
  cubby::rcu::grace_period readers_;
};

class ddds_table {
public:
  explicit ddds_table(const chain_options& chosen)
      : now_(new plain_buckets(chosen.buckets, chosen.seed)), options_(chosen) {}
  ddds_table(const ddds_table&) = delete;
  ddds_table& operator=(const ddds_table&) = delete;
  ~ddds_table() {
    const std::unique_ptr<plain_buckets> last(now_.load());
    last->free_nodes();
  }

  bool find(cubby::detail::thread_record& mine, std::uint64_t key, std::uint64_t& value) const {
    const cubby::detail::thread_pin inside(mine);
    const plain_node* const n = old_.load(std::memory_order_acquire) == nullptr
                                    ? now_.load(std::memory_order_acquire)->find(key)
                                    : find_in_both(key);
    if (n != nullptr) value = n->value.load(std::memory_order_acquire);
    return n != nullptr;
  }
  bool insert(std::uint64_t key, std::uint64_t value) {
    const std::lock_guard<std::mutex> hold(lock_);
    if (table().find(key) != nullptr) return false;
    table().push(*new plain_node(key, value));
    move_to(options_.after_insert(++entries_, table().count()));
    return true;
  }
  bool erase(std::uint64_t key) {
    const std::lock_guard<std::mutex> hold(lock_);
    plain_node* const gone = table().unlink(key);
    if (gone == nullptr) return false;
    retired_.add(*gone);
    move_to(options_.after_erase(--entries_, table().count()));
    return true;
  }
  /// `f(old value)` is the new one.
  template <class F> bool update(std::uint64_t key, F f) {
    const std::lock_guard<std::mutex> hold(lock_);
    plain_node* const n = table().find(key);
    if (n == nullptr) return false;
    n->value.store(f(n->value.load(std::memory_order_relaxed)), std::memory_order_release); // written under the lock
    return true;
  }
  void resize(std::uint64_t buckets) {
    const std::lock_guard<std::mutex> hold(lock_);
    move_to(buckets);
  }

private:
  /// Under the lock, where no resize is under way.
  [[nodiscard]] plain_buckets& table() const { return *now_.load(std::memory_order_relaxed); }

  void move_to(std::uint64_t buckets) {
    plain_buckets* const from = &table();
    if (buckets == from->count()) return;
    auto* const to = new plain_buckets(buckets, options_.seed);
    old_.store(from, std::memory_order_release);
    wait_for_readers(); // until then some look into `from` alone
    now_.store(to, std::memory_order_release);
    for (std::uint64_t b = 0; b < from->count(); ++b) {
      while (plain_node* const n = from->first(b)) move(*from, b, *to, *n);
    }
    old_.store(nullptr, std::memory_order_release);
    wait_for_readers();
    delete from;
  }
  void move(plain_buckets& from, std::uint64_t bucket, plain_buckets& to, plain_node& n) {
    const std::uint64_t at = sequence_.load(std::memory_order_relaxed); // written under the lock
    sequence_.store(at + 1, std::memory_order_relaxed);                 // the fence orders it
    std::atomic_thread_fence(std::memory_order_release);
    from.drop_first(bucket);
    to.push(n);
    sequence_.store(at + 2, std::memory_order_release);
  }
  [[nodiscard]] const plain_node* find_in_both(std::uint64_t key) const {
    for (;;) {
      const std::uint64_t before = sequence_.load(std::memory_order_acquire);
      if (const plain_node* const n = now_.load(std::memory_order_acquire)->find(key)) return n;
      const plain_buckets* const old = old_.load(std::memory_order_acquire);
      const plain_node* const n = old == nullptr ? nullptr : old->find(key);
      if (n != nullptr) return n;
      std::atomic_thread_fence(std::memory_order_acquire);
      // The fence orders the second load.
      if (before % 2 == 0 && sequence_.load(std::memory_order_relaxed) == before) return nullptr;
    }
  }
  /// Not from inside a read section: it would never end.
  static void wait_for_readers() {
    if (cubby::rcu::synchronize() != cubby::rcu::waited::elapsed) std::abort();
  }

  alignas(64) std::atomic<plain_buckets*> now_;
  std::atomic<plain_buckets*> old_{nullptr};
  alignas(64) std::atomic<std::uint64_t> sequence_{0};
  alignas(64) std::mutex lock_; // guards what follows, and who changes the table
  chain_options options_;
  std::uint64_t entries_ = 0;
  retired_nodes retired_;
};

} // namespace bench
