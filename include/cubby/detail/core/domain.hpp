// SPDX-License-Identifier: Apache-2.0
// A domain of reclamation: the clock of epochs, the thread records (DLHT section 3.2.3), and the blocks of the tables' records. A
// table has a domain from its construction on. Each call reaches the domain through the table, so code of different shared libraries
// uses the same one. It lies on the heap, holds no address of a function, and is freed when no table, thread record or image holds it.
// docs/memory-order.md has the argument.
#pragma once

#include <new>
#include <type_traits>

#include <cubby/detail/core/lock.hpp>
#include <cubby/detail/core/raw_memory.hpp>
#include <cubby/detail/core/record_heap.hpp>
#include <cubby/detail/core/thread_record_tree.hpp>
#include <cubby/detail/platform/barrier.hpp>
#include <cubby/detail/platform/sanitizer.hpp>

namespace cubby::inline v0::detail {

struct domain {
  /// A bit of the clock, and so of each later epoch. It is set once readers execute fences themselves.
  static constexpr std::uint64_t fenced_bit = std::uint64_t{1} << 63;

  alignas(cpu::cache_line) sync::word<std::uint64_t> clock; // each pin reads it; one retired record in 256 writes it
  alignas(cpu::cache_line) small_lock<> lock;               // for claims and releases of thread records
  sync::word<std::uint64_t> holders;                        // tables, taken thread records, images
  image::fork_count forks;            // tells a table in the child of a fork that it has no worker
  sync::word<void*> for_empty_tables; // see shared_by_empty_tables; set once
  sync::word<record_heap*> heaps[2];  // see blocks; each is set once
  thread_record_tree<3> thread_records;
  thread_record_tree<2> first_high; // the path to the first thread records, which need no allocation
  thread_record_tree<1> first_low;
  thread_record_tree<0> first_thread_records;

  /// The caller is its one holder.
  domain() noexcept : clock(barrier::is_asymmetric() ? std::uint64_t{1} : fenced_bit | 1), holders(std::uint64_t{1}) {
    thread_records.below[0] = &first_high;
    first_high.below[0] = &first_low;
    first_low.below[0] = &first_thread_records;
  }
  domain(const domain&) = delete;
  domain& operator=(const domain&) = delete;
  ~domain() {
    first_low.free_below(&first_thread_records);
    first_high.free_below(&first_low);
    thread_records.free_below(&first_high);
    // relaxed: no other thread is here
    give_raw(static_cast<counter_cell<sync::shared>*>(for_empty_tables.load(sync::relaxed)));
    for (auto& heap : heaps)
      delete heap.load(sync::relaxed); // relaxed: as above; each table has given back its records
  }

  /// The T that all empty tables of the domain share, so that a new one takes nothing from the heap. It lies here and not in static
  /// memory, because a table may outlive the image that made it. One type T alone. The first call makes it; null: no memory.
  template <class T> T* shared_by_empty_tables() noexcept {
    static_assert(alignof(T) == alignof(counter_cell<sync::shared>) && std::is_trivially_destructible_v<T>);
    // [empty-table] acquire: pairs with [share-empty]
    void* there = for_empty_tables.load(sync::acquire);
    if (there != nullptr) return static_cast<T*>(there);
    T* const space = take_raw<T>(1);
    if (space == nullptr) return nullptr;
    T* const made = new (static_cast<void*>(space)) T;
    // [share-empty] acq_rel: pairs with [empty-table]
    // acquire on failure: pairs with [share-empty]
    if (for_empty_tables.compare_exchange(there, made, sync::acq_rel, sync::acquire)) return made;
    give_raw(space);
    return static_cast<T*>(there);
  }

  /// The blocks for records of all tables of the domain. The first call makes it; null: no memory, or allocations are watched.
  record_heap* blocks(block_pages pages) noexcept {
    // [blocks] acquire: pairs with [share-blocks]
    record_heap* const there = heap_in(pages).load(sync::acquire);
    return there != nullptr ? there : make_blocks(pages);
  }

  // relaxed: the caller holds it, too
  void hold() noexcept { holders.fetch_add(1, sync::relaxed); }
  static void drop(domain* d) noexcept {
    // [drop-domain] acq_rel: pairs with [drop-domain]; the last one has seen what all others did
    if (d->holders.fetch_add(~std::uint64_t{0}, sync::acq_rel) == 1) delete d;
  }

  /// Claims a thread record; null if there is no memory for one. Constant time, under the lock.
  CUBBY_NEVER_INLINE static thread_record* claim(domain& d) noexcept {
    spare_blocks spare;
    thread_record* got = nullptr;
    for (;;) {
      {
        const sync::one_step section(&d.lock);
        lock_scope alone(d.lock);
        got = d.thread_records.claim(spare, 0);
        // relaxed: the lock orders it behind `fence_readers`; a thread that sees the bit here sees it at every entry
        // [fenced] release: pairs with [trust]; the last owner has left
        if (got != nullptr) got->fenced_.store((d.clock.load(sync::relaxed) & fenced_bit) != 0, sync::release);
      }
      if (got != nullptr) break;
      if (spare.leaf != nullptr || !spare.make()) return nullptr; // full to its end, or no memory
    }
    got->home_ = &d;
    got->depth_ = 0;
    got->of_thread_ = false;
    got->guards_ = 0;
    got->given_up_ = false;
    got->disposing_ = false; // its last owner may have been in the middle of it when this process forked
    got->user_.set(0);
    d.hold();
    return got;
  }
  /// Gives a thread record back. No pin of it may live.
  static void release(thread_record* s) noexcept {
    domain* const d = s->home_;
    {
      const sync::one_step section(&d->lock);
      lock_scope alone(d->lock);
      s->of_thread_ =
          false; // while the thread record is still taken: the child of a fork reads it in records that are being claimed
      s->user_.set(0);
      d->thread_records.release(s->id_);
    }
    drop(d);
  }

  /// The same, after the end of its last guard: `registry::end_guard` of that guard gives it back.
  static void release_after_guards(thread_record* s) noexcept {
    if (s->guards_ == 0) release(s);
    else s->given_up_ = true;
  }

  CUBBY_ALWAYS_INLINE static void enter(thread_record& s) noexcept {
    if (s.depth_ != 0) [[unlikely]] {
      ++s.depth_;
      return;
    }
    s.depth_ = 1;
    show(s);
  }
  /// The same without a count. No other pin of the thread record may begin or end before `leave_alone`.
  CUBBY_ALWAYS_INLINE static void enter_alone(thread_record& s) noexcept { show(s); }
  CUBBY_ALWAYS_INLINE static void leave_alone(thread_record& s) noexcept {
    // [leave] release: pairs with [scan]; all that was read inside happened before it is freed
    s.epoch_.store(0, sync::release);
  }
  CUBBY_ALWAYS_INLINE static void leave(thread_record& s) noexcept {
    // [leave] release: pairs with [scan]; all that was read inside happened before it is freed
    if (--s.depth_ == 0) [[likely]]
      s.epoch_.store(0, sync::release);
  }

  /// Ends an epoch. What was unlinked before the call may be freed once `oldest` has reached the epoch that it returns.
  std::uint64_t advance() noexcept {
    // [advance] acq_rel: pairs with [enter]
    return clock.fetch_add(1, sync::acq_rel) + 1;
  }
  /// A barrier of all threads. Each reader that begins later and that `oldest_shown` misses sees what the caller has unlinked. Where
  /// the kernel has membarrier it is a system call, which interrupts all running threads of the program.
  void pass_barrier() noexcept {
    // relaxed: set once; a thread that misses the bit asks the kernel
    if ((clock.load(sync::relaxed) & fenced_bit) == 0) {
      if (barrier::all_threads()) return;
      fence_readers();
    }
    barrier::this_thread();
  }
  /// The oldest epoch in which a thread record is still pinned; the largest number if none is pinned.
  std::uint64_t oldest() noexcept {
    pass_barrier();
    const std::uint64_t least = oldest_shown();
    // A filter of system calls may apply to one thread only. If the barrier works here, it also shows thread records without fences.
    if (least == 0 && barrier::all_threads()) return least_of(false);
    return least;
  }
  /// The same without the barrier, for a thread that has passed it since the unlinking in question. A reader whose epoch was not
  /// visible then sees the unlinking. 0: it cannot be known yet.
  std::uint64_t oldest_shown() noexcept {
    // relaxed: a thread that has set the bit, or whose barrier has failed, sees it; for all others the barrier has worked
    return least_of((clock.load(sync::relaxed) & fenced_bit) != 0);
  }

  /// Whether the calling thread is inside a pin, of its own thread record or of a handle's.
  bool inside() noexcept {
    bool is = false;
    const std::uintptr_t me = image::this_thread();
    // relaxed: the caller's own stores
    thread_records.for_each_taken(
        [&](thread_record& s) { is |= s.user_.get() == me && s.epoch_.load(sync::relaxed) != 0; });
    return is;
  }

  /// For the child of a fork, where the caller is the only thread. It gives back the thread records of the other threads, ends the
  /// pins of their handles, and repairs what they had begun in the domain. May be called again.
  void forget_others() noexcept {
    const std::uintptr_t me = image::this_thread();
    std::uint64_t gone = 0;
    forks.add();
    thread_records.mend();
    thread_records.for_each_taken([&](thread_record& s) {
      if (s.user_.get() == 0 || s.user_.get() == me) return;
      s.epoch_.store(0, sync::relaxed); // relaxed: nobody else is here
      if (!s.of_thread_) {              // the handle's owner gives it back
        s.guards_ = 0;                  // the guards have ended with their thread
        return;
      }
      thread_records.release(s.id_);
      ++gone;
    });
    lock.unlock();
    holders.fetch_add(std::uint64_t{0} - gone, sync::relaxed); // relaxed: as above; the caller's image holds it
  }

private:
  sync::word<record_heap*>& heap_in(block_pages pages) noexcept { return heaps[static_cast<unsigned>(pages)]; }
  CUBBY_NEVER_INLINE record_heap* make_blocks(block_pages pages) noexcept {
    auto* const made = allocations_are_watched() ? nullptr : new (std::nothrow) record_heap(pages);
    if (made == nullptr) return nullptr;
    record_heap* other = nullptr;
    // [share-blocks] release: pairs with [blocks]
    // [blocks] acquire: pairs with [share-blocks], where another thread was first
    if (heap_in(pages).compare_exchange(other, made, sync::release, sync::acquire)) return made;
    delete made;
    return other;
  }
  /// Publishes that the owner of `s` is inside a pin.
  CUBBY_ALWAYS_INLINE static void show(thread_record& s) noexcept {
    // [enter] acquire: pairs with [advance]; an epoch at or past a returned one implies that the unlinking before that is seen
    const std::uint64_t now = s.home_->clock.load(sync::acquire);
    // [publish-record] release: pairs with [scan]; the barrier before the scan orders it with our later loads
    if ((now & fenced_bit) == 0) [[likely]]
      barrier::publish(s.epoch_, now);
    else enter_fenced(s, now);
  }
  /// Enters with a fence, where the kernel has no membarrier or refuses it.
  CUBBY_NEVER_INLINE static void enter_fenced(thread_record& s, std::uint64_t now) noexcept {
    // relaxed: only the owner sets it, and its next claimer sees it through the lock
    if (s.fenced_.load(sync::relaxed) == 0) {
      // [fenced] release: pairs with [trust]; each pin of this thread record without a fence is over, and was shown
      s.fenced_.store(1, sync::release);
    }
    // [publish-record] seq_cst: pairs with [scan]
    barrier::publish_fenced(s.epoch_, now);
  }

  /// The kernel refuses the barrier that it had before. From now on readers execute fences themselves. A reader that has read the
  /// clock before may be inside a pin that is not visible. The next pin of its thread record shows that this one is over.
  CUBBY_NEVER_INLINE void fence_readers() noexcept {
    const sync::one_step section(&lock);
    lock_scope alone(lock);
    // relaxed: under the lock
    if ((clock.load(sync::relaxed) & fenced_bit) != 0) return;
    // [advance] acq_rel: pairs with [enter]
    (void)clock.fetch_add(fenced_bit, sync::acq_rel);
  }

  /// The oldest epoch. 0 if `all_fence` and a taken thread record has not yet been entered with a fence.
  std::uint64_t least_of(bool all_fence) noexcept {
    std::uint64_t least = ~std::uint64_t{0};
    thread_records.for_each_taken([&](thread_record& s) {
      // [trust] acquire: pairs with [fenced]; before the epoch, so that what it promises is in the epoch
      if (all_fence && s.fenced_.load(sync::acquire) == 0) least = 0;
      // [scan] acquire: pairs with [leave]
      const std::uint64_t epoch = s.epoch_.load(sync::acquire);
      if (epoch != 0 && epoch < least) least = epoch;
    });
    return least;
  }
};

/// Holds a domain. Structures with the same readers hold the same one. Empty if there was no memory for it.
class domain_ref {
public:
  domain_ref() noexcept = default;
  /// Takes over the caller's hold.
  explicit domain_ref(domain* held) noexcept : at_(held) {}
  domain_ref(const domain_ref& other) noexcept : at_(other.at_) {
    if (at_ != nullptr) at_->hold();
  }
  domain_ref& operator=(const domain_ref& other) noexcept {
    domain_ref copy(other);
    domain* const mine = at_;
    at_ = copy.at_;
    copy.at_ = mine;
    return *this;
  }
  ~domain_ref() {
    if (at_ != nullptr) domain::drop(at_);
  }
  explicit operator bool() const noexcept { return at_ != nullptr; }
  domain& operator*() const noexcept { return *at_; }
  domain* operator->() const noexcept { return at_; }

private:
  domain* at_ = nullptr;
};

} // namespace cubby::inline v0::detail
