// SPDX-License-Identifier: Apache-2.0
// The two tables that the relativistic one is compared with (section 5 of its paper), for integers that are only looked up
// while one thread resizes: a reader-writer lock around chains, and DDDS, which moves nodes one by one between two
// tables while lookups that meet a resize look into both and try again when a sequence counter has changed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include <cubby/engine/relativistic/relativistic.hpp>
#include <cubby/map.hpp>

#include <pthread.h>

namespace bench {

/// Chains as in the relativistic room: 24 bytes a node, heads of 8 bytes, buckets by the low bits of the hash.
struct plain_node {
  std::atomic<plain_node*> next{nullptr};
  std::uint64_t key = 0;
  std::atomic<std::uint64_t> value{0};
};

struct plain_buckets {
  explicit plain_buckets(std::uint64_t count) : mask(count - 1), heads(new std::atomic<plain_node*>[count]()) {}
  [[nodiscard]] std::atomic<plain_node*>& head_of(std::uint64_t key) const { return heads[cubby::mix(key) & mask]; }

  [[nodiscard]] bool find(std::uint64_t key, std::uint64_t& value) const {
    const plain_node* n = head_of(key).load(std::memory_order_acquire);
    while (n != nullptr && n->key != key) n = n->next.load(std::memory_order_acquire);
    if (n != nullptr) value = n->value.load(std::memory_order_acquire);
    return n != nullptr;
  }
  void push(plain_node& n) {
    auto& head = head_of(n.key);
    n.next.store(head.load(std::memory_order_relaxed), std::memory_order_release); // one thread changes chains
    head.store(&n, std::memory_order_release);
  }

  std::uint64_t mask;
  std::unique_ptr<std::atomic<plain_node*>[]> heads;
};

class rwlock_table {
public:
  rwlock_table(std::uint64_t buckets, std::uint64_t entries) : now_(new plain_buckets(buckets)), nodes_(entries) {
    for (std::uint64_t i = 0; i < entries; ++i) {
      nodes_[i].key = nodes_[i].value = i;
      now_->push(nodes_[i]);
    }
  }
  rwlock_table(const rwlock_table&) = delete;
  rwlock_table& operator=(const rwlock_table&) = delete;
  ~rwlock_table() { pthread_rwlock_destroy(&lock_); }

  class reader {
  public:
    explicit reader(rwlock_table& t) : table_(t) {}
    bool find(std::uint64_t key, std::uint64_t& value) {
      pthread_rwlock_rdlock(&table_.lock_);
      const bool found = table_.now_->find(key, value);
      pthread_rwlock_unlock(&table_.lock_);
      return found;
    }

  private:
    rwlock_table& table_;
  };

  void resize(std::uint64_t buckets) {
    auto next = std::make_unique<plain_buckets>(buckets);
    pthread_rwlock_wrlock(&lock_);
    for (plain_node& n : nodes_) next->push(n);
    now_.swap(next);
    pthread_rwlock_unlock(&lock_);
  }

private:
  // Else a stream of readers would keep the writer out for ever, and there would be no resize to measure.
  static pthread_rwlock_t writers_first() {
    pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
    return lock;
  }
  pthread_rwlock_t lock_ = writers_first();
  std::unique_ptr<plain_buckets> now_;
  std::vector<plain_node> nodes_;
};

class ddds_table {
public:
  ddds_table(std::uint64_t buckets, std::uint64_t entries) : now_(new plain_buckets(buckets)), nodes_(entries) {
    for (std::uint64_t i = 0; i < entries; ++i) {
      nodes_[i].key = nodes_[i].value = i;
      now_.load()->push(nodes_[i]);
    }
  }
  ddds_table(const ddds_table&) = delete;
  ddds_table& operator=(const ddds_table&) = delete;
  ~ddds_table() { delete now_.load(); }

  class reader {
  public:
    explicit reader(ddds_table& t) : table_(t), seat_(*cubby::registry::local()) {}
    bool find(std::uint64_t key, std::uint64_t& value) {
      const cubby::seat_pin inside(seat_);
      if (table_.old_.load(std::memory_order_acquire) == nullptr) [[likely]]
        return table_.now_.load(std::memory_order_acquire)->find(key, value);
      return table_.find_in_both(key, value);
    }

  private:
    ddds_table& table_;
    cubby::seat& seat_;
  };

  void resize(std::uint64_t buckets) {
    plain_buckets* const from = now_.load(std::memory_order_relaxed); // one thread resizes
    auto* const to = new plain_buckets(buckets);
    old_.store(from, std::memory_order_release);
    wait_for_readers(); // until then some look into `from` alone
    now_.store(to, std::memory_order_release);
    for (std::uint64_t b = 0; b <= from->mask; ++b) {
      while (plain_node* const n = from->heads[b].load(std::memory_order_relaxed)) move(*from, b, *to, *n);
    }
    old_.store(nullptr, std::memory_order_release);
    wait_for_readers();
    delete from;
  }

private:
  bool find_in_both(std::uint64_t key, std::uint64_t& value) const {
    for (;;) {
      const std::uint64_t before = sequence_.load(std::memory_order_acquire);
      if (now_.load(std::memory_order_acquire)->find(key, value)) return true;
      const plain_buckets* const old = old_.load(std::memory_order_acquire);
      if (old != nullptr && old->find(key, value)) return true;
      std::atomic_thread_fence(std::memory_order_acquire);
      if (before % 2 == 0 && sequence_.load(std::memory_order_relaxed) == before) return false;
    }
  }
  void move(plain_buckets& from, std::uint64_t bucket, plain_buckets& to, plain_node& n) {
    const std::uint64_t at = sequence_.load(std::memory_order_relaxed);
    sequence_.store(at + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    from.heads[bucket].store(n.next.load(std::memory_order_relaxed), std::memory_order_release);
    to.push(n);
    sequence_.store(at + 2, std::memory_order_release);
  }
  static void wait_for_readers() { (void)cubby::rcu::synchronize(); }

  alignas(64) std::atomic<plain_buckets*> now_;
  std::atomic<plain_buckets*> old_{nullptr};
  alignas(64) std::atomic<std::uint64_t> sequence_{0};
  std::vector<plain_node> nodes_;
};

} // namespace bench
