// SPDX-License-Identifier: Apache-2.0
// Blocks of a durable file for records. Which blocks are in use stands in no file: a slot leads to each of them, and recovery marks what
// it meets. So a crash leaks nothing, and taking or giving a block writes nothing (docs/format.md, Records).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

#include <cubby/detail/core/block_cache.hpp>
#include <cubby/detail/core/chunk_windows.hpp>
#include <cubby/detail/core/pool.hpp>
#include <cubby/detail/platform/memory.hpp>

namespace cubby::inline v0::detail {

class pool_heap {
public:
  explicit pool_heap(pool& home) noexcept : home_(home) {}
  ~pool_heap() {
    for (std::size_t i = 0; i < chunks_.size(); ++i) delete[] chunks_[i].used;
    memory::release(notes_);
  }
  pool_heap(const pool_heap&) = delete;
  pool_heap& operator=(const pool_heap&) = delete;

  /// The offset of a block, or 0: no disk space or no memory. Its bytes are undefined.
  std::uint64_t take(std::uint64_t bytes) noexcept {
    const unsigned number = block_size::number_for(bytes);
    if (number == block_size::count) return 0;
    std::uint64_t ahead = 0; // the bytes of a chunk to be made
    std::uint64_t offset = at_hand_.take(number, [&](unsigned most) { return take_run(number, most, ahead); });
    if (offset == 0) offset = at_hand_.take_from_others(number);
    if (offset == 0) wanted_.store(syncs_of_a_block, sync::relaxed); // relaxed: a hint
    if (ahead != 0) add_chunk_ahead(classes_[number], ahead, block_size::of(number));
    return offset;
  }
  /// A block that was taken, and that nothing on the medium leads to any more.
  void give(std::uint64_t offset) noexcept {
    at_hand_.give(block_size::number_for(chunk_with(offset).block), offset, [&](std::uint64_t one) { put(one); });
  }
  /// A block that can be taken again after a sync. `link`: 8 bytes of it that are free for a list.
  void give_after_sync(std::uint64_t offset, std::uint64_t& link) noexcept {
    const lock_scope alone(given_lock_);
    link = given_;
    given_ = offset;
    waiting_ += note_changed(offset);
  }
  /// A block that waits for the sync before that one.
  void note_waiting(std::uint64_t offset) noexcept {
    const lock_scope alone(given_lock_);
    waiting_ += note_changed(offset);
  }
  /// Some bytes of a block are changed that was taken before. Returns the size of the block.
  std::uint64_t note_changed(std::uint64_t offset) noexcept { return count_changed(chunk_with(offset), 1); }
  /// Before a sync: lets go of the pages of chunks of which many were changed.
  void let_go_of_changed() noexcept {
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      chunk& one = chunks_[i];
      const std::uint64_t pages = one.changed.load(sync::relaxed); // relaxed, both: a hint
      if (pages != 0) one.changed.store(0, sync::relaxed);
      if (pages >= many_changed) home_.let_go_of_pages(one.at, one.at + one.blocks * one.block);
    }
  }
  /// Whether so much waits for syncs that the table should ask for one. True once for each such amount.
  bool should_sync() noexcept {
    constexpr std::uint64_t least = std::uint64_t{32} << 20;
    const lock_scope alone(given_lock_);
    const bool much = waiting_ > least && waiting_ > least + home_.end_of_extents() / 8;
    if (much) waiting_ = 0;
    return much;
  }
  /// Whether a block was refused while freed blocks wait for a sync of the pages. True once for each sync that it takes to release them.
  bool wants_sync() noexcept {
    std::uint32_t left = wanted_.load(sync::relaxed); // relaxed, both: only the number counts
    while (left != 0 && !wanted_.compare_exchange(left, left - 1, sync::relaxed, sync::relaxed)) {
    }
    return left != 0;
  }
  /// The list of these blocks, by their links; 0 ends it.
  std::uint64_t take_given() noexcept {
    const lock_scope alone(given_lock_);
    const std::uint64_t first = given_;
    given_ = 0;
    return first;
  }

  // Recovery, before any `take`.
  /// Finds the chunks. False: no memory.
  bool adopt_extents() noexcept {
    for (std::size_t i = 0; i < home_.extents().size(); ++i) {
      const extent& one = home_.extents()[i];
      if (one.kind != pool_layout::extent_kind::records) continue;
      if (make_chunk(one) == nullptr) return false;
    }
    return true;
  }
  /// Marks a block as in use, where there are no notes. False: there is no such block, it is too short, or it is in use. Any thread.
  bool mark(std::uint64_t offset, std::uint64_t bytes) noexcept {
    chunk* const in = chunk_of(offset);
    if (in == nullptr || bytes > in->block) return false;
    const std::uint64_t block = number_of(*in, offset);
    if (block * in->block != offset - in->at) return false;
    const std::uint64_t bit = std::uint64_t{1} << block % 64;
    sync::word<std::uint64_t>& word = in->used[block / 64];
    std::uint64_t seen = word.load(sync::relaxed); // relaxed, all: the threads that recover end before the heap is used
    while ((seen & bit) == 0) {
      if (word.compare_exchange(seen, seen | bit, sync::relaxed, sync::relaxed)) return true; // relaxed: as above
    }
    return false;
  }
  /// Takes a mark back. One thread, after those that mark.
  void unmark(std::uint64_t offset) noexcept {
    chunk& in = chunk_with(offset);
    flip(in, number_of(in, offset));
  }
  /// How many parts `for_each_block_in` has: each one has blocks of one chunk.
  [[nodiscard]] std::uint64_t parts() const noexcept {
    return chunks_.size() == 0 ? 0 : chunks_[chunks_.size() - 1].parts_end;
  }
  /// Calls `f(offset, block bytes)` for each block of a part, whether it is in use or not. Logarithmic in the chunks, and linear in its blocks.
  template <class F> void for_each_block_in(std::uint64_t number, F f) const {
    for_each_number_in(number, [&](const chunk& c, std::uint64_t block) { f(c.at + block * c.block, c.block); });
  }

  // Recovery of slots that lead to records: a block has a note, which says what is in it. So records are read in the order of the file, and
  // slots, which lead to them in any order, meet 4 bytes of each.
  using block_note = sync::word<std::uint32_t>;
  static constexpr std::uint32_t note_claimed = std::uint32_t{1} << 31; // of a note: its block is in use
  /// Makes the notes; all are 0. False: no memory.
  bool make_notes() noexcept {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < chunks_.size(); ++i) count += chunks_[i].blocks;
    if (count == 0) return true;
    notes_ = memory::allocate(count * sizeof(block_note));
    if (notes_.address == nullptr) return false;
    auto* next = reinterpret_cast<block_note*>(notes_.address);
    for (std::size_t i = 0; i < chunks_.size(); next += chunks_[i++].blocks) chunks_[i].notes = next;
    return true;
  }
  /// Null: no block begins at this offset.
  [[nodiscard]] block_note* note_of(std::uint64_t offset) const noexcept {
    const chunk* const in = chunk_of(offset);
    if (in == nullptr || in->notes == nullptr) return nullptr;
    const std::uint64_t number = number_of(*in, offset);
    return number * in->block == offset - in->at ? &in->notes[number] : nullptr;
  }
  /// Calls `f(offset, block bytes, note)` for each block of a part.
  template <class F> void for_each_note_in(std::uint64_t number, F f) const {
    for_each_number_in(
        number, [&](const chunk& c, std::uint64_t block) { f(c.at + block * c.block, c.block, c.notes[block]); });
  }
  /// Marks the blocks of a part by their notes. Any thread, each part once.
  void mark_noted_in(std::uint64_t number) noexcept {
    static_assert(part % 64 == 0); // so that no other part has a word of this one
    std::uint64_t word = 0;
    for_each_number_in(number, [&](const chunk& c, std::uint64_t block) {
      word |= std::uint64_t{is_used(c, block) ? 1U : 0U} << block % 64;
      if (block % 64 != 63 && block + 1 != c.blocks) return;
      c.used[block / 64].store(bits(c, block / 64) | word, sync::relaxed); // relaxed: as `is_used`
      word = 0;
    });
  }
  void drop_notes() noexcept {
    for (std::size_t i = 0; i < chunks_.size(); ++i) chunks_[i].notes = nullptr;
    memory::release(notes_);
    notes_ = {};
  }
  /// The bytes of the block that begins at this offset; 0: none does.
  [[nodiscard]] std::uint64_t block_at(std::uint64_t offset) const noexcept {
    const chunk* const in = chunk_of(offset);
    if (in == nullptr || number_of(*in, offset) * in->block != offset - in->at) return 0;
    return in->block;
  }
  /// Calls `f(offset, block bytes)` for each block that is not marked.
  template <class F> void for_each_free(F f) const {
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      const chunk& c = chunks_[i];
      for (std::uint64_t block = 0; block < c.blocks; ++block)
        if (!is_used(c, block)) f(c.at + block * c.block, c.block);
    }
  }
  /// Ends the marking: what is not marked can be taken.
  void open() noexcept {
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      chunk& c = chunks_[i];
      c.free = 0; // the bits behind the last block are set
      for (std::uint64_t word = 0; word < (c.blocks + 63) / 64; ++word)
        c.free += static_cast<std::uint64_t>(std::popcount(~bits(c, word)));
      size_class& of = classes_[block_size::number_for(c.block)];
      of.bytes += c.blocks * c.block;
      if (c.free == 0) continue;
      c.next = of.with_space;
      of.with_space = &c;
    }
  }
  /// Bytes of blocks in use, and of all blocks. Exact while no thread writes.
  [[nodiscard]] std::uint64_t bytes_in_use() noexcept {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < chunks_.size(); ++i) sum += (chunks_[i].blocks - chunks_[i].free) * chunks_[i].block;
    const std::uint64_t kept = at_hand_.bytes();
    return sum < kept ? 0 : sum - kept;
  }

private:
  struct chunk {
    std::uint64_t at = 0;
    std::uint64_t block = 0;   // bytes of a block
    std::uint64_t inverse = 0; // 2^64 by that, rounded up
    std::uint64_t blocks = 0;
    std::uint64_t parts_end = 0; // its parts, and those of the chunks before it
    std::uint64_t free = 0;
    std::uint64_t hint = 0;                    // the word of the bitmap where the next search begins
    sync::word<std::uint64_t>* used = nullptr; // a bit for each block
    sync::word<std::uint64_t> changed;         // pages since the last sync, about
    block_note* notes = nullptr;               // or null; while there are some, they say which blocks are in use
    chunk* next = nullptr;                     // with space, of the same size
  };
  struct alignas(cpu::cache_line) size_class {
    small_lock<> lock;
    chunk* with_space = nullptr;
    std::uint64_t bytes = 0; // of the chunks that were listed here
    chunk* ahead = nullptr;  // the next one, under the lock of the list
  };

  static std::uint64_t count_changed(chunk& c, std::uint64_t pages) noexcept {
    c.changed.store(c.changed.load(sync::relaxed) + pages, sync::relaxed); // relaxed, both: a hint, so one may be lost
    return c.block;
  }
  static std::uint64_t bits(const chunk& c, std::uint64_t word) noexcept {
    return c.used[word].load(sync::relaxed); // relaxed: under the lock of the size, or in recovery
  }
  static bool is_used(const chunk& c, std::uint64_t block) noexcept {
    // relaxed: the threads that recover one step end before the next one
    if (c.notes != nullptr) return (c.notes[block].load(sync::relaxed) & note_claimed) != 0;
    return (bits(c, block / 64) >> block % 64 & 1) != 0;
  }
  static void flip(const chunk& c, std::uint64_t block) noexcept {
    // relaxed: under the lock of the size
    c.used[block / 64].store(bits(c, block / 64) ^ std::uint64_t{1} << block % 64, sync::relaxed);
  }
  /// Calls `f(chunk, number of the block in it)` for each block of a part.
  template <class F> void for_each_number_in(std::uint64_t number, F f) const {
    const chunk& c = chunks_.last_of([&](const chunk& one) { return one.parts_end - parts_of(one) <= number; });
    const std::uint64_t first = (number - (c.parts_end - parts_of(c))) * part;
    for (std::uint64_t block = first; block < first + part && block < c.blocks; ++block) f(c, block);
  }
  /// Takes free blocks that lie near each other, so many at most. None: no disk space or no memory. `ahead`: what `add_chunk_ahead` is to make.
  block_run take_run(unsigned number, unsigned most, std::uint64_t& ahead) noexcept {
    size_class& c = classes_[number];
    const lock_scope alone(c.lock);
    if (c.with_space == nullptr && !add_chunk(c, block_size::of(number))) return {};
    chunk& from = *c.with_space;
    const std::uint64_t before = from.free;
    const block_run run = run_of(from, most);
    (void)count_changed(from, static_cast<std::uint64_t>(std::popcount(run.free)) * from.block / pool_layout::page + 1);
    if (from.free == 0) c.with_space = from.next;
    // Not of large blocks: one that nobody asks for would be much of the file.
    // Early enough for others to go on while the system clears its pages, where that is little beside what the size has.
    const std::uint64_t mark = from.blocks / (c.bytes / 16 >= from.blocks * from.block ? 2 : 8);
    const bool is_time = before > mark && from.free <= mark && from.next == nullptr;
    if (is_time && from.blocks >= least_blocks_ahead) ahead = next_chunk_of(c, from.block);
    return run;
  }
  /// Of a chunk with space: free blocks of one word of its bitmap, which are in use from here on.
  static block_run run_of(chunk& from, unsigned most) noexcept {
    const std::uint64_t words = (from.blocks + 63) / 64;
    while (bits(from, from.hint) == ~std::uint64_t{0}) from.hint = from.hint + 1 == words ? 0 : from.hint + 1;
    const std::uint64_t used = bits(from, from.hint);
    std::uint64_t now = used;
    for (unsigned i = 0; i < most && now != ~std::uint64_t{0}; ++i, --from.free) now |= now + 1;
    from.used[from.hint].store(now, sync::relaxed); // relaxed: under the lock of the size
    return {from.at + from.hint * 64 * from.block, from.block, now ^ used};
  }
  void put(std::uint64_t offset) noexcept {
    chunk& to = chunk_with(offset);
    size_class& c = classes_[block_size::number_for(to.block)];
    const std::uint64_t block = number_of(to, offset);
    const lock_scope alone(c.lock);
    flip(to, block); // of a block in use
    if (to.free++ == 0) {
      to.next = c.with_space;
      c.with_space = &to;
    }
  }
  /// The bytes of the next chunk: a quarter of what the size has, from 64 KiB to 2 MiB with its header, and one block at least.
  static std::uint64_t next_chunk_of(const size_class& c, std::uint64_t block) noexcept {
    std::uint64_t wanted = c.bytes / 4;
    if (wanted < least_chunk) wanted = least_chunk;
    if (wanted > most_chunk) wanted = most_chunk;
    return wanted < block ? block : wanted;
  }
  /// Under the lock of the size. Where another thread makes a chunk ahead, waits for it.
  bool add_chunk(size_class& c, std::uint64_t block) noexcept {
    const lock_scope alone(list_lock_); // so that chunks are listed in the order of the file
    if (c.ahead != nullptr) {
      link(c, *c.ahead);
      c.ahead = nullptr;
      return true;
    }
    chunk* const added = new_chunk(next_chunk_of(c, block), block);
    if (added != nullptr) link(c, *added);
    return added != nullptr;
  }
  /// Before the last chunk with space is used up: other threads use the rest while the file grows. Refused: the next chunk is, too.
  void add_chunk_ahead(size_class& c, std::uint64_t bytes, std::uint64_t block) noexcept {
    const lock_scope alone(list_lock_);
    if (c.ahead == nullptr) c.ahead = new_chunk(bytes, block);
  }
  chunk* new_chunk(std::uint64_t bytes, std::uint64_t block) noexcept {
    const extent* const made = home_.take_extent(pool_layout::extent_kind::records, 0, bytes, block);
    chunk* const added = made == nullptr ? nullptr : make_chunk(*made);
    if (added != nullptr) added->free = added->blocks;
    return added;
  }
  static void link(size_class& c, chunk& added) noexcept {
    c.bytes += added.blocks * added.block;
    added.next = c.with_space;
    c.with_space = &added;
  }
  chunk* make_chunk(const extent& from) noexcept {
    chunk* const made = chunks_.next();
    if (made == nullptr) return nullptr;
    made->at = from.at;
    made->block = from.argument;
    made->inverse = ~std::uint64_t{0} / made->block + 1;
    made->blocks = from.bytes / from.argument;
    made->parts_end = parts() + parts_of(*made);
    made->used = new (std::nothrow) sync::word<std::uint64_t>[(made->blocks + 63) / 64];
    if (made->used == nullptr) return nullptr;
    if (made->blocks % 64 != 0)
      made->used[made->blocks / 64].store(~std::uint64_t{0} << made->blocks % 64,
                                          sync::relaxed); // relaxed: not shared yet
    if (!windows_.add(*made)) {
      delete[] made->used;
      return nullptr;
    }
    chunks_.publish();
    return made;
  }
  static std::uint64_t parts_of(const chunk& c) noexcept { return (c.blocks + part - 1) / part; }
  /// The number of the block that an offset of the chunk lies in. It is exact: a block and a chunk have at most 2^32 bytes (`is_valid`).
  static std::uint64_t number_of(const chunk& c, std::uint64_t offset) noexcept {
    return cpu::multiply(offset - c.at, c.inverse).high;
  }
  /// Null: no chunk has the offset.
  [[nodiscard]] chunk* chunk_of(std::uint64_t offset) const noexcept {
    chunk* const in = windows_.last_before(offset);
    return in == nullptr || offset >= in->at + in->blocks * in->block ? nullptr : in;
  }
  /// The chunk of a block.
  [[nodiscard]] chunk& chunk_with(std::uint64_t offset) const noexcept { return windows_.of(offset); }

  static constexpr std::uint64_t least_chunk = pool_layout::least_record_bytes;
  static constexpr std::uint64_t most_chunk = (std::uint64_t{2} << 20) - pool_layout::page;
  static constexpr std::uint64_t least_blocks_ahead = 64; // of a chunk, for the next one to be made before it is needed
  static constexpr std::uint64_t part = 1024;             // blocks
  static constexpr std::uint64_t many_changed = 32;       // pages of a chunk, which has 512 or fewer, or one block
  pool& home_;
  size_class classes_[block_size::count];
  block_cache at_hand_;
  stable_list<chunk> chunks_;
  chunk_windows<chunk, least_chunk> windows_; // a chunk has a window at least (`is_valid`)
  memory::region notes_;
  small_lock<> list_lock_;
  small_lock<> given_lock_;
  std::uint64_t given_ = 0;                            // the first block that waits for a sync
  static constexpr std::uint32_t syncs_of_a_block = 2; // durable_records.hpp says why
  sync::word<std::uint32_t> wanted_;                   // syncs of the pages that are wanted since a block was refused
  std::uint64_t waiting_ = 0;                          // bytes of such blocks since `should_sync` was true
};

} // namespace cubby::inline v0::detail
