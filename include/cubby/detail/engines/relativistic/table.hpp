// SPDX-License-Identifier: Apache-2.0
// The state of a relativistic table. It is a plain struct; the verbs are free functions in the files beside this one.
#pragma once

#include <type_traits>
#include <utility>

#include <cubby/detail/core/epoch.hpp>
#include <cubby/detail/core/lock.hpp>
#include <cubby/detail/core/rcu.hpp>
#include <cubby/detail/engines/relativistic/layout.hpp>
#include <cubby/detail/engines/relativistic/options.hpp>

namespace cubby::inline v0::detail::engines::relativistic {

/// A call of `modify` that holds the entry of a node. It lies on its caller's stack and is in the list of its stripe.
struct holding {
  const node* where = nullptr;
  holding* next = nullptr;
};

/// Each change of an entry ends with an unlock, which makes the effect of the verb visible (A.1).
using stripe_lock = small_lock<sync::shared, unlocking::seen>;

/// The state that writers share for all buckets whose numbers end in the same bits.
struct alignas(cpu::cache_line) stripe {
  stripe_lock lock;
  sync::word<std::uint64_t> inserts;  // nodes linked so far: tells an insert whether its search is still valid
  sync::word<std::uint64_t> live;     // nodes that are neither dead nor hidden; written under the lock
  holding* held = nullptr;            // N5; read and written under the lock
  sync::word<std::uint64_t> releases; // ends of `modify` in that list; written under the lock
};

enum class stage : std::uint8_t { idle, moving, unzipping };

/// A resize in progress. A family consists of the buckets of the larger array whose numbers agree in the bits of the smaller one.
struct resize_work {
  stage at = stage::idle;
  bool waiting = false;         // for the readers of `from`
  rcu::grace_period readers;    // of that wait
  bucket_array* from = nullptr; // until they have left
  bucket_array* to = nullptr;
  std::uint64_t families = 0; // of this resize
  std::uint64_t cursor = 0;   // the next family of this pass
};

/// Hints for writers. The exact state is under `resize_lock`.
namespace resize_state {
inline constexpr std::uint32_t none = 0;
inline constexpr std::uint32_t families_to_do = 1;
inline constexpr std::uint32_t readers_to_wait_for = 2;
} // namespace resize_state

template <class Policy> struct table {
  table(const options& chosen, Policy slots) : policy(std::move(slots)), settings(chosen) {}
  /// Moves an idle table that is not being resized.
  table(table&& from) noexcept
      : home(from.home), policy(from.policy), settings(from.settings), least_buckets(from.least_buckets),
        bound(from.bound) {
    sync::hand_over(root, from.root);
    sync::hand_over(buckets, from.buckets);
    sync::hand_over(array_bytes, from.array_bytes);
    sync::hand_over(growths, from.growths);
    sync::hand_over(shrinks, from.shrinks);
    sync::hand_over(placed, from.placed);
    for (unsigned i = 0; i < stripe_count; ++i) {
      sync::hand_over(stripes[i].inserts, from.stripes[i].inserts);
      sync::hand_over(stripes[i].live, from.stripes[i].live);
    }
  }

  // Each verb reads this line. It is written only when a resize begins or ends.
  alignas(cpu::cache_line) sync::word<bucket_array*> root;
  sync::word<std::uint64_t> buckets; // of the root
  sync::word<std::uint32_t> busy;
  const domain_ref home = domain_of_table<sync::shared>(); // its thread records keep alive what the table shows
  Policy policy;
  options settings;
  std::uint64_t least_buckets = stripe_count; // the smallest size of a shrink, from `settings.capacity`
  std::uint64_t bound = ~std::uint64_t{0};    // of a `fixed` table: the most nodes, hidden ones included

  alignas(cpu::cache_line) small_lock<> resize_lock; // guards the next two members, `root` and `next`
  resize_work work;
  std::uint64_t wanted = 0; // the buckets of the next resize, for a `reserve` during this one
  sync::word<std::uint64_t> array_bytes;
  sync::word<std::uint64_t> growths;
  sync::word<std::uint64_t> shrinks;
  sync::word<std::uint32_t> closing;

  alignas(cpu::cache_line) sync::word<std::uint64_t> ticks;  // limits how often all thread records are read
  alignas(cpu::cache_line) sync::word<std::uint64_t> placed; // nodes of a `fixed` table; unused in others

  stripe stripes[stripe_count];
  node_policy nodes;
  // nodes of records are disposed of with their records
  [[no_unique_address]] std::conditional_t<Policy::unique_words, no_bag, retire_bag<node_policy, sync::shared>>
      node_bag{nodes, home};
  [[no_unique_address]] bag_for<Policy, sync::shared> bag{policy, home};
  background_worker worker; // idle unless growth is `background`
};

template <class Policy> CUBBY_ALWAYS_INLINE stripe& stripe_of(table<Policy>& t, std::uint64_t hash) noexcept {
  return t.stripes[hash % stripe_count];
}

/// The number of entries. Exact while no thread writes.
template <class Policy> std::uint64_t live_entries(const table<Policy>& t) noexcept {
  std::uint64_t sum = 0;
  // relaxed: a sum of recent values is enough
  for (const stripe& s : t.stripes) sum += s.live.load(sync::relaxed);
  return sum;
}

/// Adds to the live nodes of a stripe, under its lock, and returns the new number.
inline std::uint64_t count_live(stripe& s, std::uint64_t change) noexcept {
  // relaxed: written under the lock; other threads need only a recent value
  const std::uint64_t now = s.live.load(sync::relaxed) + change;
  s.live.store(now, sync::relaxed); // relaxed: as above
  return now;
}

/// The array that has the chain of `hash`. Only under the lock of its stripe, under which chains move.
template <class Policy> bucket_array& array_of(const table<Policy>& t, std::uint64_t hash) noexcept {
  // [table-root] acquire: pairs with [show-root]
  bucket_array* at = t.root.load(sync::acquire);
  // relaxed: the lock orders moves of this chain
  while ((at->heads[hash & at->mask].load(sync::relaxed) & head_mark::moved) != 0) {
    // [next-array] acquire: pairs with [hang-array]
    at = at->next.load(sync::acquire);
  }
  return *at;
}

/// The hash of a node that cannot be retired meanwhile: its stripe is locked, or no other thread is here.
template <class Policy> std::uint64_t hash_of(const Policy& policy, const node& n) noexcept {
  // relaxed: values change under the lock of the stripe
  return policy.hash_of(n.key, n.value.load(sync::relaxed));
}

} // namespace cubby::inline v0::detail::engines::relativistic
