// SPDX-License-Identifier: Apache-2.0
// Retired words wait here until every pin that might have seen them has ended; then the policy disposes of them. Nothing is
// allocated: a link inside each record chains the words. The user's destructors run with no lock held. In DLHT section 3.2.3 the
// client advances the epoch; here each `lot`-th retired word does. Each `batch`-th looks after the words of threads that have ended or
// retire nothing.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cubby/detail/core/lock.hpp>
#include <cubby/detail/core/registry.hpp>
#include <cubby/detail/platform/prefetch.hpp>

namespace cubby::inline v0::detail {

/// The most words that one call disposes of, unless it promises all. It is twice `batch`, so that the words that a long pin has held
/// back are disposed of while new words come. At 50 ns a word, 26 us.
inline constexpr std::uint32_t dispose_slice = 512;

/// Whether `dispose` runs no code of the user's but an allocator's. Then one call in `run` disposes of as many words, or of twice as many while a lot
/// is ready. What comes back in small numbers stays in the allocator's list for the thread. A destructor of the user's may retire more than it frees.
template <class Policy> concept plain_disposal = requires { requires Policy::disposes_plainly; };

/// Whether a link is a plain word of the record.
template <class Policy> concept plain_links = requires(const Policy& policy, std::uint64_t word) {
  { policy.retire_link(word) } -> std::same_as<std::uint64_t&>;
};
/// Asks for what disposal reads first of a retired word, which is in no near cache: its link, and what is behind that, perhaps in the next line.
template <plain_links Policy> CUBBY_ALWAYS_INLINE void prefetch_retired(const Policy& policy,
                                                                        std::uint64_t word) noexcept {
  const std::uint64_t* const link = &policy.retire_link(word);
  prefetch_line(link);
  prefetch_line(link + 1);
}

/// A list of words, linked through their records.
struct word_chain {
  std::uint64_t first = 0; // 0: none; no record has the address 0
  std::uint64_t last = 0;
  std::size_t count = 0;
};

/// The retired words of one structure. Many threads add to it, each through its own thread record (`registry::local()`). `Threads`
/// is `sync::shared`. The policy has three members. `unique_words` is true if `add` is called at all. `retire_link(word)` is a
/// reference to 64 bits inside the object, which the list may use once the object is retired. `dispose(word)` frees the object.
/// examples/config.cpp has such a policy.
template <class Policy, class Threads> class retire_bag {
public:
  /// The readers of the words use the domain `readers`; without one, the domain of the image whose code makes the bag.
  CUBBY_OF_IMAGE explicit retire_bag(const Policy& policy) noexcept : retire_bag(policy, registry::own_domain()) {}
  retire_bag(const Policy& policy, const domain_ref& readers) noexcept : policy_(policy), readers_(readers) {}
  ~retire_bag() { dispose_all(); }
  retire_bag(const retire_bag&) = delete;
  retire_bag& operator=(const retire_bag&) = delete;

  /// Takes over `word`, which must be unlinked, and disposes of it after a grace period. Constant time, except each `batch`-th call:
  /// that one may read all taken thread records, and disposes of at most `dispose_slice` older words. If disposal is plain, one call in `run`
  /// disposes of some. It waits only while other threads hold the locks of all stripes.
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
      if (mine.ready.first != 0) {
        if (is_turn(mine.added) && !s.disposing_) {
          dispose_run(s, mine);
          return;
        }
        ask_ahead(mine);
      }
    }
    mine.lock.unlock();
  }

  /// Disposes of all words whose grace period is over. Reads all taken thread records.
  void collect() {
    for (stripe& one : stripes_) {
      for (int step = 0; step < 2; ++step) {
        word_chain ready;
        {
          lock_scope hold(one.lock);
          ready = turn_and_take(one);
        }
        dispose_some(ready, ready.count);
      }
    }
  }

  /// The same after a `clear`, for policies that dispose plainly. It waits for no lock. Stripes with few words are left to later calls, because
  /// one may take a barrier of all threads.
  void collect_many() {
    static_assert(plain_disposal<Policy>);
    for (stripe& one : stripes_) {
      bool many = true;
      for (int step = 0; step < 2 && many && one.lock.try_lock(); ++step) {
        many = one.open.count + one.sealed.count + one.ready.count >= batch;
        word_chain ready = many ? turn_and_take(one) : word_chain();
        one.lock.unlock();
        dispose_some(ready, ready.count);
      }
    }
  }

  /// Disposes of all words, also of those that are retired meanwhile; true if there was one. For a table's end: no other thread uses
  /// the table, and no pin lives.
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

  /// Forgets all words, which nobody frees then. For a table that ends in the child of a fork, if the words lead into a file: it is the parent's,
  /// and so are the links in it. No other thread uses the bag.
  void forget_all() noexcept {
    for (stripe& one : stripes_) {
      one.open = one.sealed = word_chain();
      (void)take_ready(one);
    }
  }

  /// The number of waiting words; a recent value.
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
  // Words that one membarrier is for. It costs 16 us with two threads running: docs/performance/raw.md, Constants.
  static constexpr std::uint32_t lot = 2048;
  // Calls with one disposal among them. The others are short, so that a processor which waits for memory in one of them reaches the loads of the
  // next call: docs/performance/raw.md, "Disposal in every fourth call".
  static constexpr std::uint32_t run = 4;

  /// True for one call in `run`. Which one changes with each batch, so threads that take turns in a stripe all dispose. Between two changes it is the
  /// same, so the processor predicts it.
  static bool is_turn(std::uint32_t call) noexcept { return (call + call / batch) % run == 0; }

  struct alignas(cpu::cache_line) stripe {
    small_lock<Threads> lock;
    std::uint32_t added = 0; // all words so far
    word_chain open;         // unlinked, without the number of an epoch yet
    std::uint64_t epoch = 0;
    alignas(cpu::cache_line) word_chain sealed; // may be disposed of when each pin is at `epoch` or later
    word_chain ready;                           // may be disposed of
    std::uint64_t ahead = 0;                    // one of `ready`: it was asked for last. 0: none
    std::uint32_t seen = 0;                     // the value of `added` at the last turn_idle
  };

  /// Takes the lock of a free stripe, the next one first. Any stripe can hold any word.
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
  /// Asks for one more of the words that the next disposal takes. Under the stripe's lock.
  CUBBY_ALWAYS_INLINE void ask_ahead(stripe& mine) const noexcept {
    if constexpr (plain_links<Policy>) {
      mine.ahead = mine.ahead == 0 ? mine.ready.first : policy_.retire_link(mine.ahead);
      if (mine.ahead != 0) [[likely]]
        prefetch_retired(policy_, mine.ahead);
    }
  }
  /// The end of `add` for the last word of a run, where something is ready. Gives the stripe's lock back. An allocator may call the table: such a
  /// call retires without disposing, so that they do not pile up.
  CUBBY_OUTLINED void dispose_run(const thread_record& s, stripe& mine) {
    std::uint64_t words[2 * std::size_t{run}];
    const std::size_t most = mine.ready.count >= lot ? 2 * run : run;
    std::size_t count = 0;
    while (count < most && mine.ready.first != 0) words[count++] = take_one(mine);
    mine.ahead = 0;
    if (mine.ready.first != 0) ask_ahead(mine);
    mine.lock.unlock();
    if constexpr (requires { policy_.prefetch_owned(words[0]); })
      for (std::size_t i = 0; i < count; ++i) policy_.prefetch_owned(words[i]);
    s.disposing_ = true;
    for (std::size_t i = 0; i < count; ++i) policy_.dispose(words[i]);
    s.disposing_ = false;
  }

  /// Puts the words of `front` before those of `chain`.
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
  /// For `dispose_all`, which no other thread runs beside. A lock that is taken then belongs to a thread that does not exist in
  /// this child of a fork. That thread was in the middle of a change, so the words of that stripe stay as they are.
  word_chain take_all(stripe& one) const noexcept {
    if (!one.lock.try_lock()) return {};
    prepend(one.ready, take(one.sealed));
    prepend(one.ready, take(one.open));
    const word_chain all = take_ready(one);
    one.lock.unlock();
    return all;
  }
  static word_chain take_ready(stripe& one) noexcept {
    one.ahead = 0;
    return take(one.ready);
  }
  word_chain turn_and_take(stripe& one) noexcept {
    if (one.open.first != 0 || one.sealed.first != 0) turn(one);
    return take_ready(one);
  }

  /// If the grace period of the sealed words is over, makes them ready and seals the open ones. Under the stripe's lock.
  void turn(stripe& one) noexcept {
    if constexpr (Policy::unique_words) {
      if (one.sealed.first != 0) {
        if (readers_->oldest() < one.epoch) return;
        prepend(one.ready, take(one.sealed));
      }
      one.epoch = readers_->advance();
      one.sealed = take(one.open);
    }
  }

  /// Looks at one stripe, and turns it if no word has come since the last look. Three looks after its threads have ended, the stripe
  /// has only ready words; when they are disposed of, the next stripe is looked at. Stripes in use turn in `add`.
  void turn_idle(std::uint32_t at_most) {
    // relaxed: shares out numbers only
    const std::uint32_t number = looks_.load(sync::relaxed);
    stripe& one = stripes_[number % stripe_count];
    word_chain ready;
    if (one.lock.try_lock()) { // otherwise it is in use
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

  /// Disposes of at most `at_most` words, puts the others back, and returns the number.
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
        if constexpr (plain_links<Policy>) {
          if (from.first != 0) prefetch_retired(policy_, from.first);
        }
        policy_.dispose(word);
      }
    }
  }

  const Policy& policy_;
  const domain_ref readers_;
  mutable stripe stripes_[stripe_count];
  sync::word<std::uint32_t, Threads> looks_; // shares out the stripes to turn_idle
};

/// The same for one thread. Words wait until the outermost pin ends, which disposes of at most `dispose_slice`.
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
  /// Disposes of all words if no pin lives, also of those that a destructor retires meanwhile.
  void collect() { dispose_some(~std::size_t{0}); }
  void collect_many() { collect(); }
  [[nodiscard]] std::size_t waiting() const noexcept { return count_; }
  /// Whether no pin lives except the caller's.
  [[nodiscard]] bool alone() const noexcept { return depth_ <= 1; }

private:
  void dispose_some(std::size_t at_most) {
    if (depth_ != 0 || disposing_) return; // calls of a destructor end pins, too
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

/// Stands for the bag of a table whose slots hold the keys and values themselves: it retires no words. A bag has 2 KiB of stripes.
struct no_bag {
  static constexpr void forget_all() noexcept {}
  template <class Policy> no_bag(const Policy&, const domain_ref&) noexcept {}
  static constexpr std::size_t waiting() noexcept { return 0; }
  static constexpr bool dispose_all() noexcept { return false; }
  static void collect() noexcept {}
};
template <class Policy> concept retires_nothing = requires { requires !Policy::unique_words; };
/// The bag of a table. That of a table for one thread also says whether a pin is open.
template <class Policy, class Threads>
using bag_for = std::conditional_t<retires_nothing<Policy> && Threads::is_shared, no_bag, retire_bag<Policy, Threads>>;

} // namespace cubby::inline v0::detail
