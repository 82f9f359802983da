// SPDX-License-Identifier: Apache-2.0
// Retired words wait here until no pin that might have seen them is left, then the policy disposes of them.
// Nothing is allocated: words are chained through a link inside their records. The caller's destructors run with no
// lock held. DLHT section 3.2.3 asks the client to advance the epoch; here retiring itself does, every `batch` words,
// and in passing takes care of what threads left behind that have ended or do not retire any more.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/core/lock.hpp>
#include <cubby/detail/core/registry.hpp>

namespace cubby::inline v0::detail {

/// Words that one call disposes of at most, unless it promises everything: twice what it takes a stripe to ask for, so
/// that what a long pin has held back goes while words keep coming. At 50 ns each, 26 us.
inline constexpr std::uint32_t dispose_slice = 512;

/// Whether `dispose` runs no code of the user's but an allocator's. Then each call disposes of one word, or of two while more are
/// ready than one lot: what comes back one by one stays in the allocator's list for the thread.
template <class Policy> concept plain_disposal = requires { requires Policy::disposes_plainly; };

/// Words that are linked by their records.
struct word_chain {
  std::uint64_t first = 0; // 0: none; no record lies at address zero
  std::uint64_t last = 0;
  std::size_t count = 0;
};

/// What has been retired of one structure; many threads add to it, each through its own thread record (`registry::local()`).
/// `Threads` is `sync::shared`. A policy names its words: `unique_words`, true if `add` is called at all; `retire_link(word)`, a
/// reference to 64 bits inside what the word stands for, of which nobody else makes use once it is retired; `dispose(word)`, which
/// frees it. examples/config.cpp has one.
template <class Policy, class Threads> class retire_bag {
public:
  /// Readers of the words are in `readers`; without one, in the domain of the image whose code makes the bag.
  CUBBY_OF_IMAGE explicit retire_bag(const Policy& policy) noexcept : retire_bag(policy, registry::own_domain()) {}
  retire_bag(const Policy& policy, const domain_ref& readers) noexcept : policy_(policy), readers_(readers) {}
  ~retire_bag() { dispose_all(); }
  retire_bag(const retire_bag&) = delete;
  retire_bag& operator=(const retire_bag&) = delete;

  /// Takes over `word`, already unlinked; it is disposed of after a grace period. Constant time but for every
  /// `batch`-th call, which looks at the taken thread records and disposes of at most `dispose_slice` older words before it
  /// returns. Waits for nobody unless so many others as there are stripes stand in here.
  void add(const thread_record& s, std::uint64_t word) {
    stripe* one = &stripes_[s.id() % stripe_count];
    if (!one->lock.try_lock()) [[unlikely]]
      one = &lock_another(s.id());
    stripe& mine = *one;
    policy_.retire_link(word) = mine.open.first;
    if (mine.open.first == 0) mine.open.last = word;
    mine.open.first = word;
    ++mine.added;
    if (++mine.open.count % batch == 0) [[unlikely]] {
      add_last(mine);
      return;
    }
    if constexpr (plain_disposal<Policy>) {
      if (mine.ready.first != 0 && !s.disposing_) {
        dispose_few(s, mine);
        return;
      }
    }
    mine.lock.unlock();
  }

  /// Disposes of all that may go now. Looks at the taken thread records.
  void collect() {
    for (stripe& one : stripes_) {
      for (int step = 0; step < 2; ++step) {
        word_chain ready;
        {
          lock_scope hold(one.lock);
          if (one.open.first != 0 || one.sealed.first != 0) turn(one);
          ready = take_ready(one);
        }
        dispose_some(ready, ready.count);
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
        word_chain all = take_all(one);
        const std::size_t count = all.count;
        more = more || count != 0;
        dispose_some(all, count);
      }
    }
    return any;
  }

  /// Words that wait; a recent figure.
  [[nodiscard]] std::size_t waiting() const noexcept {
    std::size_t sum = 0;
    for (stripe& one : stripes_) {
      lock_scope hold(one.lock);
      sum += one.open.count + one.sealed.count + one.ready.count;
    }
    return sum;
  }

private:
  static constexpr std::size_t stripe_count = 16;
  static constexpr std::uint32_t batch = 256;
  // Words that one membarrier is for. It costs 2 to 16 us with two threads running: docs/performance.md, constants.
  static constexpr std::uint32_t lot = 2048;

  struct alignas(cpu::cache_line) stripe {
    small_lock<Threads> lock;
    std::uint32_t added = 0; // words that ever came
    word_chain open;         // unlinked, not yet tagged
    std::uint64_t tag = 0;
    alignas(cpu::cache_line) word_chain sealed; // may go when every pin is at `tag` or later
    word_chain ready;                           // may go
    std::uint32_t seen = 0;                     // `added` when turn_idle looked last
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

  /// The end of `add` for the last word of a batch. Gives the stripe's lock back.
  CUBBY_OUTLINED void add_last(stripe& mine) {
    if (mine.open.count % lot == 0) turn(mine);
    std::uint32_t left = dispose_slice;
    if constexpr (plain_disposal<Policy>) {
      mine.lock.unlock(); // what is ready goes with the words that follow
    } else {
      const word_chain ready = take_ready(mine);
      mine.lock.unlock();
      left -= dispose_part(mine, ready, dispose_slice);
    }
    turn_idle(left);
  }
  /// One of the ready words. Under the stripe's lock.
  CUBBY_ALWAYS_INLINE std::uint64_t take_one(stripe& one) const noexcept {
    const std::uint64_t word = one.ready.first;
    one.ready.first = policy_.retire_link(word);
    --one.ready.count;
    return word;
  }
  /// The end of `add` where something is ready. Gives the stripe's lock back. An allocator may call the table: such a call retires
  /// without disposing, so that they do not pile up.
  CUBBY_ALWAYS_INLINE void dispose_few(const thread_record& s, stripe& mine) {
    const std::uint64_t first = take_one(mine);
    const std::uint64_t second = mine.ready.count >= lot ? take_one(mine) : 0;
    mine.lock.unlock();
    s.disposing_ = true;
    policy_.dispose(first);
    if (second != 0) [[unlikely]]
      policy_.dispose(second);
    s.disposing_ = false;
  }

  /// Puts `front` before what is in `chain`.
  void prepend(word_chain& chain, const word_chain& front) const noexcept {
    if constexpr (Policy::unique_words) {
      if (front.first == 0) return;
      if (chain.first != 0) policy_.retire_link(front.last) = chain.first;
      else chain.last = front.last;
      chain.first = front.first;
      chain.count += front.count;
    }
  }
  static word_chain take(word_chain& from) noexcept {
    const word_chain all = from;
    from = word_chain();
    return all;
  }
  /// For `dispose_all`, which is alone. A lock that is taken belongs to a thread that the child of a fork has lost, in the middle of
  /// a change: the words of that stripe are left as they are.
  word_chain take_all(stripe& one) const noexcept {
    if (!one.lock.try_lock()) return {};
    prepend(one.ready, take(one.sealed));
    prepend(one.ready, take(one.open));
    const word_chain all = take_ready(one);
    one.lock.unlock();
    return all;
  }
  static word_chain take_ready(stripe& one) noexcept { return take(one.ready); }

  /// The sealed words are ready when their time has come; then it seals the open ones. Under the stripe's lock.
  void turn(stripe& one) noexcept {
    if constexpr (Policy::unique_words) {
      if (one.sealed.first != 0) {
        if (readers_->oldest() < one.tag) return;
        prepend(one.ready, take(one.sealed));
      }
      one.tag = readers_->advance();
      one.sealed = take(one.open);
    }
  }

  /// Looks at one stripe, and turns it if nothing has come since the last look: three looks after its threads have ended
  /// it has only ready words, and when these have gone the next stripe's turn has come. Stripes in use turn themselves, at
  /// their own pace.
  void turn_idle(std::uint32_t at_most) {
    // relaxed: shares out numbers only
    const std::uint32_t number = looks_.load(sync::relaxed);
    stripe& one = stripes_[number % stripe_count];
    word_chain ready;
    if (one.lock.try_lock()) { // else it is in use
      const bool idle = one.added == one.seen;
      one.seen = one.added;
      if (idle && (one.open.first != 0 || one.sealed.first != 0)) turn(one);
      if (idle) ready = take_ready(one);
      one.lock.unlock();
    }
    // relaxed: as above
    if (ready.count <= at_most) looks_.store(number + 1, sync::relaxed);
    (void)dispose_part(one, ready, at_most);
  }

  /// Disposes of at most so many, and puts the rest back; how many.
  std::uint32_t dispose_part(stripe& from, word_chain ready, std::uint32_t at_most) {
    const std::uint32_t part = ready.count < at_most ? static_cast<std::uint32_t>(ready.count) : at_most;
    dispose_some(ready, part);
    if (ready.count != 0) {
      stripe& to = from.lock.try_lock() ? from : lock_another(0);
      prepend(to.ready, ready);
      to.lock.unlock();
    }
    return part;
  }
  void dispose_some(word_chain& from, std::size_t count) {
    if constexpr (Policy::unique_words) {
      for (; count != 0; --count, --from.count) {
        const std::uint64_t word = from.first;
        from.first = policy_.retire_link(word);
        policy_.dispose(word);
      }
    }
  }

  const Policy& policy_;
  const domain_ref readers_;
  mutable stripe stripes_[stripe_count];
  sync::word<std::uint32_t, Threads> looks_; // shares out the stripes to turn_idle
};

/// The same for one thread: words wait until its outermost pin ends, which disposes of at most `dispose_slice`.
template <class Policy> class retire_bag<Policy, sync::single> {
public:
  explicit retire_bag(const Policy& policy) noexcept : policy_(policy) {}
  retire_bag(const Policy& policy, const domain_ref&) noexcept : policy_(policy) {}
  ~retire_bag() { collect(); }
  retire_bag(const retire_bag&) = delete;
  retire_bag& operator=(const retire_bag&) = delete;

  void enter() noexcept { ++depth_; }
  void leave() {
    if (--depth_ == 0 && chain_ != 0) dispose_some(dispose_slice);
  }
  void add(const thread_record&, std::uint64_t word) {
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
  void collect() { dispose_some(~std::size_t{0}); }
  [[nodiscard]] std::size_t waiting() const noexcept { return count_; }
  /// Whether no pin lives but the caller's own.
  [[nodiscard]] bool alone() const noexcept { return depth_ <= 1; }

private:
  void dispose_some(std::size_t at_most) {
    if (depth_ != 0 || disposing_) return; // a destructor's own calls end pins, too
    if constexpr (Policy::unique_words) {
      disposing_ = true;
      for (; at_most != 0 && chain_ != 0; --at_most) {
        const std::uint64_t word = chain_;
        chain_ = policy_.retire_link(word);
        --count_;
        policy_.dispose(word);
      }
      disposing_ = false;
    }
  }

  const Policy& policy_;
  bool disposing_ = false; // a destructor may be running
  std::uint64_t chain_ = 0;
  std::size_t count_ = 0;
  std::size_t depth_ = 0;
};

} // namespace cubby::inline v0::detail
