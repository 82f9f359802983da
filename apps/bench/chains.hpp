// SPDX-License-Identifier: Apache-2.0
// The parts of the two tables that the relativistic one is compared with (section 5 of its paper). Their chains have
// nodes as its chains have, and heads from the same kind of pages. The rule for when to grow and shrink is the same.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include <cubby/hash.hpp>
#include <cubby/relativistic.hpp>

namespace bench {

/// 24 bytes, from operator new, like a node of the relativistic table.
struct plain_node {
  plain_node(std::uint64_t k, std::uint64_t v) : key(k), value(v) {}
  std::atomic<plain_node*> next{nullptr};
  const std::uint64_t key;
  std::atomic<std::uint64_t> value;
};

/// Chains chosen by the low bits of the hash. Any number of threads may find while one changes them.
class plain_buckets {
public:
  plain_buckets(std::uint64_t count, std::uint64_t seed)
      : mask_(count - 1), hash_{seed}, pages_(cubby::detail::memory::allocate(count * sizeof(head))) {
    if (pages_.address == nullptr) throw std::bad_alloc();
    // Zero bytes are an empty chain.
    heads_ = reinterpret_cast<head*>(pages_.address);
  }
  plain_buckets(const plain_buckets&) = delete;
  plain_buckets& operator=(const plain_buckets&) = delete;
  ~plain_buckets() { cubby::detail::memory::release(pages_); } // nodes belong to the table

  [[nodiscard]] std::uint64_t count() const { return mask_ + 1; }

  [[nodiscard]] plain_node* find(std::uint64_t key) const {
    plain_node* n = head_of(key).load(std::memory_order_acquire);
    while (n != nullptr && n->key != key) n = n->next.load(std::memory_order_acquire);
    return n;
  }
  void push(plain_node& n) {
    head& first = head_of(n.key);
    n.next.store(first.load(std::memory_order_relaxed), std::memory_order_release); // one thread changes chains
    first.store(&n, std::memory_order_release);
  }
  /// Takes the node of `key` off its chain; null without one. A thread that is reading it can still go on from there.
  plain_node* unlink(std::uint64_t key) {
    head* from = &head_of(key);
    plain_node* n = from->load(std::memory_order_relaxed); // one thread changes chains
    while (n != nullptr && n->key != key) {
      from = &n->next;
      n = from->load(std::memory_order_relaxed); // as above
    }
    if (n != nullptr) from->store(n->next.load(std::memory_order_relaxed), std::memory_order_release); // as above
    return n;
  }
  /// The first node of bucket number `b`.
  [[nodiscard]] plain_node* first(std::uint64_t b) const { return heads_[b].load(std::memory_order_relaxed); }
  /// Takes the first node of bucket number `b` off its chain; the bucket is not empty.
  void drop_first(std::uint64_t b) {
    const plain_node* const n = first(b);
    heads_[b].store(n->next.load(std::memory_order_relaxed), std::memory_order_release); // one thread changes chains
  }
  /// Only while no other thread uses the table.
  void free_nodes() {
    for (std::uint64_t b = 0; b < count(); ++b) {
      while (plain_node* const n = first(b)) {
        drop_first(b);
        delete n;
      }
    }
  }

private:
  using head = std::atomic<plain_node*>;
  static_assert(sizeof(head) == 8);
  [[nodiscard]] head& head_of(std::uint64_t key) const { return heads_[hash_(key) & mask_]; }

  std::uint64_t mask_;
  cubby::hash<std::uint64_t> hash_;
  cubby::detail::memory::region pages_;
  head* heads_ = nullptr;
};

/// How a table of chains begins, and when it changes its size. The rule is the relativistic table's: more than one entry
/// a bucket doubles it; an eighth of an entry a bucket, if it may shrink, leaves between a quarter and a half.
struct chain_options {
  std::uint64_t buckets = 64; // a power of two, and the least
  std::uint64_t seed = 0;
  bool grows = true;
  bool shrinks = false;

  [[nodiscard]] std::uint64_t after_insert(std::uint64_t entries, std::uint64_t now) const {
    return grows && entries > now ? now * 2 : now;
  }
  [[nodiscard]] std::uint64_t after_erase(std::uint64_t entries, std::uint64_t now) const {
    if (!shrinks || entries * 8 > now) return now;
    return std::min(now, std::max(buckets, std::bit_ceil(entries * 2)));
  }
};

} // namespace bench
