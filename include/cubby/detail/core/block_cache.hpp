// SPDX-License-Identifier: Apache-2.0
// Free blocks that threads have at hand (docs/performance/raw.md, "Blocks at hand"). So threads that make records at the same time seldom meet at a
// lock, and most of their records share no line. A block is an offset in a durable file, or an address. Nothing on a medium says which blocks are
// here: recovery takes all of them for free blocks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

#include <cubby/detail/core/block_size.hpp>
#include <cubby/detail/core/hash.hpp>
#include <cubby/detail/core/lock.hpp>
#include <cubby/detail/platform/cpu.hpp>
#include <cubby/detail/platform/image.hpp>

namespace cubby::inline v0::detail {

/// Free blocks of one size, among 64 that lie side by side: bit i of `free` is the one at `at + i * block`.
struct block_run {
  std::uint64_t at = 0;
  std::uint64_t block = 0;
  std::uint64_t free = 0;
  /// There is one.
  std::uint64_t take() noexcept {
    const std::uint64_t offset = at + cpu::lowest_bit(free) * block;
    free &= free - 1;
    return offset;
  }
};

/// A thread takes from its stripe, or from another one if its own is being used. `refill(most) -> block_run` takes so many blocks of a size at most
/// from those that are nobody's, or none; `put(offset)` gives one back to them. Both are called under the lock of a stripe.
class block_cache {
public:
  /// How many blocks of a size a stripe takes together, up to a fourth of `bytes_at_once` each.
  static constexpr unsigned at_once(std::uint64_t block) noexcept {
    const std::uint64_t most = bytes_at_once / block;
    return most > 64 ? 64 : static_cast<unsigned>(most);
  }

  block_cache() = default;
  ~block_cache() {
    for (sync::word<stripe*>& one : stripes_) delete one.load(sync::relaxed); // relaxed: no other thread is here
  }
  block_cache(const block_cache&) = delete;
  block_cache& operator=(const block_cache&) = delete;

  /// The offset of a block; 0: `refill` has none.
  template <class Refill> std::uint64_t take(unsigned number, Refill refill) noexcept {
    if (number < sizes) {
      if (stripe* const own = lock_one(); own != nullptr) {
        blocks& mine = own->of[number];
        if (mine.count == 0 && mine.run.free == 0) mine.run = refill(at_once(block_size::of(number)));
        const std::uint64_t offset = mine.take();
        own->lock.unlock();
        return offset;
      }
    }
    block_run one = refill(1U);
    return one.free == 0 ? 0 : one.take();
  }
  /// The offset of a block that another stripe keeps; 0: none does. For a caller who gets no other.
  std::uint64_t take_from_others(unsigned number) noexcept {
    std::uint64_t offset = 0;
    for (std::size_t i = 0; offset == 0 && number < sizes && i < stripe_count; ++i) {
      // [block-stripe] acquire: pairs with [put-block-stripe]
      stripe* const one = stripes_[i].load(sync::acquire);
      if (one == nullptr) continue;
      const lock_scope alone(one->lock);
      offset = one->of[number].take();
    }
    return offset;
  }
  /// A block that was taken.
  template <class Put> void give(unsigned number, std::uint64_t offset, Put put) noexcept {
    if (number < sizes) {
      if (stripe* const own = lock_one(); own != nullptr) {
        blocks& mine = own->of[number];
        // The older half goes back: what was freed last is in the cache of the processor.
        if (mine.count == blocks::most) {
          for (unsigned i = 0; i < blocks::most; ++i) {
            if (i < blocks::most / 2) put(mine.given[i]);
            else mine.given[i - blocks::most / 2] = mine.given[i];
          }
          mine.count = blocks::most / 2;
        }
        mine.given[mine.count++] = offset;
        own->lock.unlock();
        return;
      }
    }
    put(offset);
  }
  /// Gives back what is kept of a size, but for stripes in use.
  template <class Put> void give_kept(unsigned number, Put put) noexcept {
    for (std::size_t i = 0; number < sizes && i < stripe_count; ++i) {
      // [block-stripe] acquire: pairs with [put-block-stripe]
      stripe* const one = stripes_[i].load(sync::acquire);
      if (one == nullptr || !one->lock.try_lock()) continue;
      while (const std::uint64_t block = one->of[number].take()) put(block);
      one->lock.unlock();
    }
  }
  /// The bytes of all blocks that are kept. Exact while no thread takes or gives one.
  [[nodiscard]] std::uint64_t bytes() noexcept {
    std::uint64_t sum = 0;
    for (sync::word<stripe*>& at : stripes_) {
      // [block-stripe] acquire: pairs with [put-block-stripe]
      stripe* const one = at.load(sync::acquire);
      if (one == nullptr) continue;
      const lock_scope alone(one->lock);
      for (unsigned i = 0; i < sizes; ++i) sum += one->of[i].kept() * block_size::of(i);
    }
    return sum;
  }

private:
  static constexpr std::uint64_t bytes_at_once = 4096;
  static constexpr unsigned sizes = block_size::number_for(bytes_at_once / 4) + 1; // larger ones are taken one by one

  struct blocks {
    static constexpr unsigned most = 16;
    block_run run;
    std::uint64_t given[most];
    unsigned count = 0; // of those that were given back
    std::uint64_t take() noexcept {
      if (count != 0) return given[--count];
      return run.free == 0 ? 0 : run.take();
    }
    [[nodiscard]] std::uint64_t kept() const noexcept { return count + static_cast<unsigned>(std::popcount(run.free)); }
  };
  struct alignas(cpu::cache_line) stripe {
    small_lock<> lock;
    blocks of[sizes];
  };
  static constexpr std::size_t stripe_count = 16;

  /// A stripe that nobody uses, locked: the thread's own if it can be. Null: all are used, or there is no memory for one.
  stripe* lock_one() noexcept {
    // Numbers of threads lie as far apart as their stacks: all of their bits count.
    const std::uint64_t own = fold(std::uint64_t{image::this_thread()} ^ mix_b, mix_a);
    for (std::size_t i = 0; i < stripe_count; ++i) {
      sync::word<stripe*>& at = stripes_[(own + i) % stripe_count];
      // [block-stripe] acquire: pairs with [put-block-stripe]
      stripe* one = at.load(sync::acquire);
      if (one == nullptr) one = make_at(at);
      if (one == nullptr || one->lock.try_lock()) return one;
    }
    return nullptr;
  }
  CUBBY_NEVER_INLINE static stripe* make_at(sync::word<stripe*>& at) noexcept {
    auto* const made = new (std::nothrow) stripe;
    if (made == nullptr) return nullptr;
    stripe* other = nullptr;
    // [put-block-stripe] release: pairs with [block-stripe]
    // [block-stripe] acquire: pairs with [put-block-stripe], where another thread was first
    if (at.compare_exchange(other, made, sync::release, sync::acquire)) return made;
    delete made;
    return other;
  }

  sync::word<stripe*> stripes_[stripe_count];
};

} // namespace cubby::inline v0::detail
