// SPDX-License-Identifier: Apache-2.0
// The hooks that count, and what the allocation functions of the counting binary (replaced_new.cpp) do.
#include "counting/tally.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

#include <cubby/detail/platform/memory.hpp>
#include <cubby/detail/platform/prefetch.hpp>

#include <pthread.h>

#include "support/replaced_new.hpp"

// The process's initialized and zeroed data.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the names are the linker's
extern "C" std::byte __data_start;
extern "C" std::byte _end;
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace cubby_counting {
namespace {

using cubby::detail::sync::step;

/// Distinct lines of one kind of memory; or words.
template <std::uintptr_t Unit> class touched_set {
public:
  void clear() { count_ = 0; }
  void add(const void* address) {
    const std::uintptr_t line = reinterpret_cast<std::uintptr_t>(address) / Unit;
    const auto end = lines_.begin() + count_;
    if (std::find(lines_.begin(), end, line) != end) return;
    if (count_ == static_cast<std::ptrdiff_t>(lines_.size())) std::abort(); // a case too large to be counted
    lines_[static_cast<std::size_t>(count_++)] = line;
  }
  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(count_); }

private:
  std::array<std::uintptr_t, 65536> lines_{};
  std::ptrdiff_t count_ = 0;
};

/// The lines of the last prefetches. What was asked for before them does not count: by then it may have left the cache.
class asked_lines {
public:
  void clear() { lines_.fill(0); }
  void add(const void* address) { lines_[next_++ % lines_.size()] = line_of(address); }
  [[nodiscard]] bool holds(const void* address) const {
    return std::find(lines_.begin(), lines_.end(), line_of(address)) != lines_.end();
  }

private:
  static std::uintptr_t line_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address) / 64; }
  std::array<std::uintptr_t, 512> lines_{};
  std::size_t next_ = 0;
};

/// The blocks of `operator new` that live, without arrays of tables: what is shared and in none of them lies in such an array.
class block_list {
public:
  void add(void* p, std::size_t bytes) {
    const std::scoped_lock hold(lock_);
    if (count_ == blocks_.size()) std::abort();
    blocks_[count_++] = {static_cast<const std::byte*>(p), bytes};
  }
  void remove(const void* p) {
    const std::scoped_lock hold(lock_);
    for (std::size_t i = 0; i < count_; ++i) {
      if (blocks_[i].first != p) continue;
      blocks_[i] = blocks_[--count_];
      return;
    }
  }
  /// The piece of 64 bytes from the beginning of its block that holds the address; null: it is in no block. Where
  /// blocks lie in lines is malloc's affair.
  [[nodiscard]] const std::byte* piece_of(const void* address) {
    const std::scoped_lock hold(lock_);
    const auto end = blocks_.begin() + static_cast<std::ptrdiff_t>(count_);
    const auto block = std::find_if(blocks_.begin(), end, [address](const range& r) { return r.holds(address); });
    if (block == end) return nullptr;
    return block->first + (static_cast<const std::byte*>(address) - block->first) / 64 * 64;
  }

private:
  std::mutex lock_;
  std::array<range, 65536> blocks_{};
  std::size_t count_ = 0;
};

struct state {
  std::atomic<bool> counting{false};
  range table;
  range thread_record;
  range clock; // of its domain: a word of the process, though not in its data
  range stack;
  range process;
  tally now;
  touched_set<64> lines;
  touched_set<64> unasked_lines;
  asked_lines asked;
  touched_set<64> table_lines;
  touched_set<64> thread_record_lines;
  touched_set<8> process_words;
  touched_set<1> index_pieces;
};
state& the_state() {
  static constinit state one;
  return one;
}
block_list& blocks() {
  static constinit block_list all;
  return all;
}

range own_stack() {
  pthread_attr_t attributes;
  void* low = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) std::abort();
  pthread_attr_getstack(&attributes, &low, &bytes);
  pthread_attr_destroy(&attributes);
  return {static_cast<const std::byte*>(low), bytes};
}

void count_line(state& s, const void* address) {
  if (s.thread_record.holds(address)) s.thread_record_lines.add(address);
  else if (s.table.holds(address)) s.table_lines.add(address);
  else if (s.process.holds(address) || s.clock.holds(address)) s.process_words.add(address);
  else if (const std::byte* const piece = blocks().piece_of(address)) s.index_pieces.add(piece);
  else {
    s.lines.add(address);
    if (!s.asked.holds(address)) s.unasked_lines.add(address);
  }
}

void on_step(step kind, const void* address) {
  state& s = the_state();
  if (!s.counting.load()) return;
  // Neither is an access: a fence has no address, and the object of a wait lies on the stack.
  if (kind == step::fence || kind == step::wait) {
    ++(kind == step::fence ? s.now.fences : s.now.waits);
    return;
  }
  if (s.stack.holds(address)) return;
  if (kind == step::load) ++s.now.loads;
  if (kind == step::store) ++s.now.stores;
  if (kind == step::rmw8) ++s.now.rmw8;
  if (kind == step::rmw16) ++s.now.rmw16;
  count_line(s, address);
}

void on_prefetch(const void* address) {
  if (the_state().counting.load()) the_state().asked.add(address);
}

/// The next block of `operator new` of this thread is a small array of a table, which counts as one from the kernel does.
thread_local bool array_comes = false;
bool on_mapping(std::size_t bytes) {
  array_comes = bytes < cubby::detail::memory::pages_from;
  if (the_state().counting.load()) ++the_state().now.mappings;
  return false;
}

// Once, before any thread: the functions themselves are not atomic words.
[[maybe_unused]] const bool installed =
    (cubby::detail::sync::install_hook(&on_step), cubby::detail::install_prefetch_hook(&on_prefetch),
     cubby::detail::memory::install_failure(&on_mapping), true);

} // namespace

void start(range table, range thread_record, range clock) {
  state& s = the_state();
  s.table = table;
  s.thread_record = thread_record;
  s.clock = clock;
  s.stack = own_stack();
  s.process = {&__data_start, static_cast<std::size_t>(&_end - &__data_start)};
  s.now = {};
  for (auto* const set : {&s.lines, &s.unasked_lines, &s.table_lines, &s.thread_record_lines}) set->clear();
  s.asked.clear();
  s.index_pieces.clear();
  s.process_words.clear();
  s.counting.store(true);
}

tally stop() {
  state& s = the_state();
  s.counting.store(false);
  s.now.lines = s.lines.count();
  s.now.unasked = s.unasked_lines.count();
  s.now.table = s.table_lines.count();
  s.now.thread_record = s.thread_record_lines.count();
  s.now.process = s.process_words.count();
  s.now.index = s.index_pieces.count();
  return s.now;
}

} // namespace cubby_counting

namespace cubby_test {

bool refuse_block() {
  auto& s = cubby_counting::the_state();
  if (s.counting.load() && !cubby_counting::array_comes) ++s.now.allocations;
  return false;
}
void block_taken(void* at, std::size_t bytes) {
  if (!std::exchange(cubby_counting::array_comes, false)) cubby_counting::blocks().add(at, bytes);
}
void block_given(void* at) { cubby_counting::blocks().remove(at); }

} // namespace cubby_test
