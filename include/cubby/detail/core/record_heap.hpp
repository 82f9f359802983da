// SPDX-License-Identifier: Apache-2.0
// Blocks in memory for records. Most lie in huge pages, where `malloc` has small ones: a lookup of a record in a large table then seldom waits for
// the page table (docs/performance/text.md, "Records in huge pages"). No call waits for another thread, or for one that the process has lost in a
// fork: where a lock is taken, it answers "none", and the caller has operator new.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <cubby/detail/core/block_cache.hpp>
#include <cubby/detail/core/lock.hpp>
#include <cubby/detail/platform/memory.hpp>

namespace cubby::inline v0::detail {

/// Where blocks lie. The first write to a huge page takes up to milliseconds.
enum class block_pages : bool { huge, small };

/// A list of objects that have two members for it.
template <class T> class member_list {
public:
  [[nodiscard]] T* first() const noexcept { return first_; }
  void add_first(T& one) noexcept {
    one.before = nullptr;
    one.after = first_;
    if (first_ != nullptr) first_->before = &one;
    first_ = &one;
  }
  void remove(T& one) noexcept {
    (one.before != nullptr ? one.before->after : first_) = one.after;
    if (one.after != nullptr) one.after->before = one.before;
  }

private:
  T* first_ = nullptr;
};

/// What threads hand over where a lock is taken: addresses of words, which link each one to the next.
class handed_over {
public:
  [[nodiscard]] bool is_empty() const noexcept { return first_.load(sync::relaxed) == 0; } // relaxed: a hint
  void add(std::uint64_t at) noexcept {
    std::uint64_t first = first_.load(sync::relaxed); // relaxed: the exchange below compares it
    do {
      *std::bit_cast<std::uint64_t*>(at) = first;
      // [hand-over] release: pairs with [take-over]
      // relaxed: as above
    } while (!first_.compare_exchange(first, at, sync::release, sync::relaxed));
  }
  /// Calls `f(address)` for all. It may use the word.
  template <class F> void take_all(F f) noexcept {
    // [take-over] acquire: pairs with [hand-over]
    for (std::uint64_t one = first_.exchange(0, sync::acquire); one != 0;) {
      const std::uint64_t next = *std::bit_cast<std::uint64_t*>(one);
      f(one);
      one = next;
    }
  }

private:
  sync::word<std::uint64_t> first_;
};

/// A chunk is a huge page, or small pages of that size, of 32 slabs. A slab has blocks of one size. Its header has a bit for each of them.
class record_heap {
public:
  /// Of larger records the lines cost more than a look into the page table.
  static constexpr std::uint64_t most_bytes = 1024;
  /// Whether it is a block and not from operator new, of which the caller asks for multiples of 16 bytes: their addresses are such multiples, too.
  static bool is_block(const void* at) noexcept { return std::bit_cast<std::uintptr_t>(at) % 16 == 8; }

  explicit record_heap(block_pages pages = block_pages::huge) noexcept : pages_(pages) {}
  /// No block is in use.
  ~record_heap() {
    // A thread that this process has lost in a fork may have been in the middle of a change.
    if (!chunks_lock_.try_lock()) return;
    for (const member_list<chunk>* list : {&with_space_, &full_}) {
      for (chunk* one = list->first(); one != nullptr;) {
        memory::region pages = one->pages;
        one = one->after;
        memory::release(pages);
      }
    }
  }
  record_heap(const record_heap&) = delete;
  record_heap& operator=(const record_heap&) = delete;

  /// Null: no memory, or other threads hold the locks. At most `most_bytes`.
  void* take(std::uint64_t bytes) noexcept {
    const unsigned number = block_size::number_for(bytes);
    return std::bit_cast<void*>(at_hand_.take(number, [&](unsigned most) { return take_run(number, most); }));
  }
  /// A block that was taken for so many bytes.
  void give(void* block, std::uint64_t bytes) noexcept {
    const unsigned number = block_size::number_for(bytes);
    const auto at = std::bit_cast<std::uint64_t>(block);
    const auto back = [&](std::uint64_t one) { put(one); };
    std::uint32_t now = classes_[number].sparse.load(sync::relaxed); // relaxed: a hint
    if (now == sparseness::none) [[likely]] {
      at_hand_.give(number, at, back);
      return;
    }
    // relaxed, both: as above
    if (now == sparseness::seen &&
        classes_[number].sparse.compare_exchange(now, sparseness::swept, sync::relaxed, sync::relaxed))
      at_hand_.give_kept(number, back);
    put(at);
  }
  /// Of all chunks. For tests: waits for the lock of chunks. Exact while no thread takes or gives a block.
  [[nodiscard]] std::uint64_t bytes() noexcept {
    give_slabs();
    const lock_scope alone(chunks_lock_);
    return chunks_ * chunk_bytes;
  }

private:
  static constexpr std::uint64_t chunk_bytes = memory::huge_page;
  static constexpr std::uint64_t slab_bytes = std::uint64_t{64} << 10;
  static constexpr std::uint64_t slabs = chunk_bytes / slab_bytes;
  static constexpr unsigned sizes = block_size::number_for(most_bytes) + 1;

  /// Whether nearly all blocks of a size are free. Then no thread keeps what is given, because each block may keep a chunk from the kernel.
  struct sparseness {
    static constexpr std::uint32_t none = 0;
    static constexpr std::uint32_t seen = 1;
    static constexpr std::uint32_t swept = 2; // what threads had kept has gone back, too
  };

  struct chunk {
    chunk* before;
    chunk* after;
    memory::region pages;
    std::uint32_t free_slabs; // a bit for each
  };
  struct slab {
    std::uint64_t link; // to be handed over
    slab* before;       // those of its size that have free blocks
    slab* after;
    std::uint32_t number; // of the size
    std::uint32_t block;  // bytes
    std::uint32_t blocks;
    std::uint32_t free;
    std::uint32_t hint;     // the word where the next search begins
    std::uint64_t bits[32]; // of free blocks
    chunk home;             // in the first slab of a chunk
  };
  /// The first block begins 8 bytes in front of a line. So does each one of 64 bytes, and every second one of 32: of a record readers need
  /// all but the first word.
  static constexpr std::uint64_t first_block = 376;
  static_assert(sizeof(slab) <= first_block && first_block % 64 == 56);
  static_assert(slab_bytes / block_size::of(0) <= std::uint64_t{64} * 32);

  struct alignas(cpu::cache_line) size_class {
    small_lock<> lock;
    member_list<slab> with_space;
    std::uint64_t blocks = 0;                                  // of all its slabs
    std::uint64_t free = 0;                                    // of those
    handed_over later;                                         // blocks that were given while the lock was taken
    alignas(cpu::cache_line) sync::word<std::uint32_t> sparse; // each `give` reads it

    /// Under the lock, when they have changed. It begins with more than two slabs, and ends when more than a quarter is in use.
    void note_free(std::uint64_t block) noexcept {
      const bool was = sparse.load(sync::relaxed) != sparseness::none; // relaxed: a hint
      const bool is =
          was ? blocks != 0 && free >= blocks / 4 * 3 : free > blocks / 8 * 7 && blocks * block > 2 * slab_bytes;
      if (is != was) sparse.store(is ? sparseness::seen : sparseness::none, sync::relaxed); // relaxed: as above
    }
  };

  static slab& slab_of(std::uint64_t block) noexcept { return *std::bit_cast<slab*>(block / slab_bytes * slab_bytes); }
  static chunk& chunk_of(const slab& of) noexcept {
    return std::bit_cast<slab*>(std::bit_cast<std::uint64_t>(&of) / chunk_bytes * chunk_bytes)->home;
  }
  static bool lock_soon(small_lock<>& lock) noexcept {
    for (unsigned i = 0; i < 64; ++i) {
      if (lock.try_lock()) return true;
      cpu::relax();
    }
    return false;
  }

  /// So many free blocks at most, of one word of a slab's bits.
  block_run take_run(unsigned number, unsigned most) noexcept {
    size_class& c = classes_[number];
    if (!lock_soon(c.lock)) return {};
    put_later(c);
    block_run run;
    // The first write to a chunk takes long. Meanwhile other threads have operator new.
    if (c.with_space.first() == nullptr) add_slab(c, number);
    if (slab* const from = c.with_space.first(); from != nullptr) {
      run = run_of(*from, most);
      if (from->free == 0) c.with_space.remove(*from);
      c.free -= static_cast<std::uint64_t>(std::popcount(run.free));
      c.note_free(from->block);
    }
    unlock(c);
    return run;
  }
  void add_slab(size_class& c, unsigned number) noexcept {
    slab* const made = make_slab(number);
    if (made == nullptr) return;
    c.with_space.add_first(*made);
    c.blocks += made->blocks;
    c.free += made->blocks;
  }
  static block_run run_of(slab& from, unsigned most) noexcept {
    const std::uint32_t words = (from.blocks + 63) / 64;
    while (from.bits[from.hint] == 0) from.hint = from.hint + 1 == words ? 0 : from.hint + 1;
    std::uint64_t& bits = from.bits[from.hint];
    std::uint64_t left = bits;
    for (unsigned i = 0; i < most && left != 0; ++i, --from.free) left &= left - 1;
    const std::uint64_t at = std::bit_cast<std::uint64_t>(&from) + first_block;
    const block_run run{at + std::uint64_t{from.hint} * 64 * from.block, from.block, bits ^ left};
    bits = left;
    return run;
  }

  void put(std::uint64_t block) noexcept {
    size_class& c = classes_[slab_of(block).number];
    if (c.lock.try_lock()) {
      put_here(c, block);
      unlock(c);
      return;
    }
    c.later.add(block);
    if (c.lock.try_lock()) unlock(c); // its holder may have looked before
  }
  /// Under the lock of the size.
  void put_later(size_class& c) noexcept {
    if (!c.later.is_empty()) [[unlikely]]
      c.later.take_all([&](std::uint64_t block) { put_here(c, block); });
  }
  /// With what came while the lock was held. What comes just then waits for the next call for the size.
  void unlock(size_class& c) noexcept {
    do {
      put_later(c);
      c.lock.unlock();
    } while (!c.later.is_empty() && c.lock.try_lock());
    give_slabs();
  }
  /// A slab whose blocks are all free leaves the list, but not the last one of a size that threads have at hand.
  void put_here(size_class& c, std::uint64_t block) noexcept {
    slab& to = slab_of(block);
    const std::uint64_t number = (block - std::bit_cast<std::uint64_t>(&to) - first_block) / to.block;
    to.bits[number / 64] |= std::uint64_t{1} << number % 64;
    const std::uint64_t bytes = to.block; // when the slab is on its way, another thread may unmap it
    if (to.free++ == 0) c.with_space.add_first(to);
    ++c.free;
    const bool is_last = to.before == nullptr && to.after == nullptr;
    // relaxed: written under this lock
    if (to.free == to.blocks && (!is_last || c.sparse.load(sync::relaxed) != sparseness::none)) {
      c.with_space.remove(to);
      c.blocks -= to.blocks;
      c.free -= to.blocks;
      free_.add(std::bit_cast<std::uint64_t>(&to));
    }
    c.note_free(bytes);
  }
  /// Gives slabs that no size has back to their chunks, and these to the kernel. What comes just then waits for the next call.
  void give_slabs() noexcept {
    while (!free_.is_empty() && chunks_lock_.try_lock()) {
      chunk* unused = nullptr;
      free_.take_all([&](std::uint64_t one) { give_slab(*std::bit_cast<slab*>(one), unused); });
      chunks_lock_.unlock();
      while (unused != nullptr) {
        memory::region pages = unused->pages;
        unused = unused->after;
        memory::release(pages);
      }
    }
  }

  slab* make_slab(unsigned number) noexcept {
    if (!lock_soon(chunks_lock_)) return nullptr;
    chunk* from = fullest();
    if (from == nullptr) from = make_chunk();
    slab* const made = from == nullptr ? nullptr : take_slab(*from);
    chunks_lock_.unlock();
    if (made == nullptr) return nullptr;
    made->number = number;
    made->block = static_cast<std::uint32_t>(block_size::of(number));
    made->blocks = static_cast<std::uint32_t>((slab_bytes - first_block) / made->block);
    made->free = made->blocks;
    made->hint = 0;
    for (std::uint32_t i = 0; i < 32; ++i) {
      const std::uint32_t left = made->blocks > i * 64 ? made->blocks - i * 64 : 0;
      made->bits[i] = left >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
    }
    return made;
  }
  /// Under the lock of chunks. One with few free slabs, so that others can go back. Null: none has any.
  chunk* fullest() const noexcept {
    chunk* best = with_space_.first();
    unsigned looks = 32;
    for (chunk* one = best; one != nullptr && looks != 0; one = one->after, --looks)
      if (std::popcount(one->free_slabs) < std::popcount(best->free_slabs)) best = one;
    return best;
  }
  /// Under the lock of chunks.
  slab* take_slab(chunk& from) noexcept {
    const unsigned i = cpu::lowest_bit(from.free_slabs);
    from.free_slabs &= from.free_slabs - 1;
    --free_slabs_;
    if (from.free_slabs == 0) {
      with_space_.remove(from);
      full_.add_first(from);
    }
    return std::bit_cast<slab*>(from.pages.address + i * slab_bytes);
  }
  /// Under the lock of chunks.
  chunk* make_chunk() noexcept {
    // The first one asks for no huge page, so that few records take little memory.
    const auto wish = pages_ == block_pages::small ? memory::chunk_pages::small
                      : chunks_ == 0               ? memory::chunk_pages::usual
                                                   : memory::chunk_pages::huge;
    const memory::region pages = memory::allocate_chunk(wish);
    if (pages.address == nullptr) return nullptr;
    chunk& made = std::bit_cast<slab*>(pages.address)->home;
    made.pages = pages;
    made.free_slabs = ~std::uint32_t{0};
    with_space_.add_first(made);
    ++chunks_;
    free_slabs_ += slabs;
    return &made;
  }
  /// Under the lock of chunks. Adds its chunk to `unused` if no slab of that is in use, and others have as many free ones.
  void give_slab(slab& gone, chunk*& unused) noexcept {
    chunk& to = chunk_of(gone);
    const auto i = (std::bit_cast<std::uint64_t>(&gone) - std::bit_cast<std::uint64_t>(to.pages.address)) / slab_bytes;
    if (to.free_slabs == 0) {
      full_.remove(to);
      with_space_.add_first(to);
    }
    to.free_slabs |= std::uint32_t{1} << i;
    ++free_slabs_;
    if (to.free_slabs != ~std::uint32_t{0} || free_slabs_ < 2 * slabs) return;
    with_space_.remove(to);
    --chunks_;
    free_slabs_ -= slabs;
    to.after = unused;
    unused = &to;
  }

  const block_pages pages_;
  block_cache at_hand_;
  size_class classes_[sizes];
  handed_over free_; // slabs on their way to their chunks
  small_lock<> chunks_lock_;
  member_list<chunk> with_space_; // of slabs
  member_list<chunk> full_;
  std::uint64_t chunks_ = 0;
  std::uint64_t free_slabs_ = 0;
};

} // namespace cubby::inline v0::detail
