// SPDX-License-Identifier: Apache-2.0
// A domain of reclamation: the clock of epochs and the thread records. A table has one from its construction on, and everybody who
// uses the table reaches the domain through it, whatever shared library the code was compiled into. On the heap; no
// function's address in it; freed when no table, no thread record and no image holds it. docs/memory-order.md has the argument.
#pragma once

#include <cubby/detail/core/lock.hpp>
#include <cubby/detail/core/thread_record_tree.hpp>
#include <cubby/detail/platform/barrier.hpp>

namespace cubby::inline v0::detail {

struct domain {
  /// Set in the clock, and so in every later epoch, once readers fence for themselves.
  static constexpr std::uint64_t fenced_bit = std::uint64_t{1} << 63;

  alignas(cpu::cache_line) sync::word<std::uint64_t> clock; // every entry reads it, one retired record in 256 writes it
  alignas(cpu::cache_line) small_lock<> lock;               // claims and releases of thread records
  sync::word<std::uint64_t> holders;                        // tables, taken thread records, images
  image::fork_count forks;                                  // tells a table in a child that its worker is not there
  thread_record_tree<3> thread_records;
  thread_record_tree<2> first_high; // the way to the first thread records, which need no memory of their own
  thread_record_tree<1> first_low;
  thread_record_tree<0> first_thread_records;

  /// With one holder: the caller.
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
  }

  // relaxed: a thread that holds it hands it on
  void hold() noexcept { holders.fetch_add(1, sync::relaxed); }
  static void drop(domain* d) noexcept {
    // [drop-domain] acq_rel: pairs with [drop-domain]; the last one has seen what all others did
    if (d->holders.fetch_add(~std::uint64_t{0}, sync::acq_rel) == 1) delete d;
  }

  /// A thread record of the caller's own, or null when there is no memory for one. Constant time.
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
    got->user_.set(0);
    d.hold();
    return got;
  }
  /// Gives a thread record back. It must be outside every pin.
  static void release(thread_record* s) noexcept {
    domain* const d = s->home_;
    {
      const sync::one_step section(&d->lock);
      lock_scope alone(d->lock);
      s->of_thread_ =
          false; // before the thread record is free: the child of a fork asks a thread record that is being claimed
      s->user_.set(0);
      d->thread_records.release(s->id_);
    }
    drop(d);
  }

  /// The same, once its last guard has ended: `registry::end_guard` of that one gives it back.
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
  /// The same, not counted: nothing may enter or leave the thread record before `leave_alone`, which ends it.
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

  /// Ends an epoch: what was unlinked before the call may be freed once `oldest` has reached the returned tag.
  std::uint64_t advance() noexcept {
    // [advance] acq_rel: pairs with [enter]
    return clock.fetch_add(1, sync::acq_rel) + 1;
  }
  /// After it, who enters without being seen by `oldest_shown` sees what the caller has unlinked. A system call, which
  /// interrupts every running thread of the program, where the kernel has it.
  void pass_barrier() noexcept {
    // relaxed: set once; a thread that misses it asks the kernel
    if ((clock.load(sync::relaxed) & fenced_bit) == 0) {
      if (barrier::all_threads()) return;
      fence_readers();
    }
    barrier::this_thread();
  }
  /// The oldest epoch that any thread record is still in; the largest number when nobody is inside.
  std::uint64_t oldest() noexcept {
    pass_barrier();
    const std::uint64_t least = oldest_shown();
    // A filter of system calls may be one thread's alone: where the barrier works, thread records that have not fenced are shown.
    if (least == 0 && barrier::all_threads()) return least_of(false);
    return least;
  }
  /// The same without the barrier, for a thread that has passed it since the unlinking that it asks about: a thread record that did not show
  /// then what its reader had entered with belongs to a reader that sees the unlinking. 0: nobody can tell yet.
  std::uint64_t oldest_shown() noexcept {
    // relaxed: a thread that has set the bit, or asked the kernel in vain, sees it; for others their barrier has worked
    return least_of((clock.load(sync::relaxed) & fenced_bit) != 0);
  }

  /// Whether the calling thread is inside, by its own thread record or a handle's.
  bool inside() noexcept {
    bool is = false;
    const std::uintptr_t me = image::this_thread();
    // relaxed: the caller's own stores
    thread_records.for_each_taken(
        [&](thread_record& s) { is |= s.user_.get() == me && s.epoch_.load(sync::relaxed) != 0; });
    return is;
  }

  /// In the child of a fork, where the caller is the only thread: thread records of the others' threads are given back, and their
  /// handles' pins have ended. Whatever they held or had begun here is set right. May be called again.
  void forget_others() noexcept {
    const std::uintptr_t me = image::this_thread();
    std::uint64_t gone = 0;
    forks.add();
    thread_records.mend();
    thread_records.for_each_taken([&](thread_record& s) {
      if (s.user_.get() == 0 || s.user_.get() == me) return;
      s.epoch_.store(0, sync::relaxed); // relaxed: nobody else is here
      if (!s.of_thread_) {              // who owns the handle gives it back
        s.guards_ = 0;                  // they have ended with their thread
        return;
      }
      thread_records.release(s.id_);
      ++gone;
    });
    lock.unlock();
    holders.fetch_add(std::uint64_t{0} - gone, sync::relaxed); // relaxed: as above; the caller's image holds it
  }

private:
  /// Says that the owner of `s` is inside from now on.
  CUBBY_ALWAYS_INLINE static void show(thread_record& s) noexcept {
    // [enter] acquire: pairs with [advance]; an epoch at or past a tag implies the unlinking behind that tag is seen
    const std::uint64_t now = s.home_->clock.load(sync::acquire);
    // [publish-record] release: pairs with [scan]; the barrier before the scan orders it with our later loads
    if ((now & fenced_bit) == 0) [[likely]]
      barrier::publish(s.epoch_, now);
    else enter_fenced(s, now);
  }
  /// Where the kernel has no membarrier, or has it no more.
  CUBBY_NEVER_INLINE static void enter_fenced(thread_record& s, std::uint64_t now) noexcept {
    // relaxed: only the owner sets it, and its next claimer sees it through the lock
    if (s.fenced_.load(sync::relaxed) == 0) {
      // [fenced] release: pairs with [trust]; every entry of this thread record without a fence is over, and was shown
      s.fenced_.store(1, sync::release);
    }
    // [publish-record] seq_cst: pairs with [scan]
    barrier::publish_fenced(s.epoch_, now);
  }

  /// The kernel refuses the barrier, which it once had: from now on readers fence for themselves. One that read the clock
  /// before may be inside and not shown. It is known not to be when its thread record has been entered again.
  CUBBY_NEVER_INLINE void fence_readers() noexcept {
    const sync::one_step section(&lock);
    lock_scope alone(lock);
    // relaxed: under the lock
    if ((clock.load(sync::relaxed) & fenced_bit) != 0) return;
    // [advance] acq_rel: pairs with [enter]
    (void)clock.fetch_add(fenced_bit, sync::acq_rel);
  }

  /// 0 when `all_fence` and a thread record is taken that has not been entered with a fence.
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

/// Holds a domain. What shares readers holds the same one; empty when there was no memory for it.
class domain_ref {
public:
  domain_ref() noexcept = default;
  /// Takes over a hold of the caller's.
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
