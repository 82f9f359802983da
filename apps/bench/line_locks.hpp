// SPDX-License-Identifier: Apache-2.0
// Buckets of one cache line with a lock each, re-stated from the text of "Asynchronized Concurrency: The Secret to Scaling
// Concurrent Search Data Structures" (David, Guerraoui, Trigonakis): three entries a line. Lookups take no lock: they read the
// value, the key and the value again. Updates take the line's lock. Lines are chained behind a full one, and growth stops all threads.
// Key word 0 is the table's own; an insert of it is refused.
#pragma once

#include <algorithm>
#include <bit>
#include <new>

#include <cubby/map.hpp>

#include "arena.hpp"
#include "pause.hpp"

namespace bench {

class line_locks_table {
  template <class T> using word = cubby::detail::sync::word<T>;
  struct alignas(64) line {
    word<std::uint64_t> lock; // of the first line of a chain
    word<std::uint64_t> keys[3];
    word<std::uint64_t> values[3];
    word<line*> next;
  };
  static_assert(sizeof(line) == 64);
  static constexpr std::uint64_t empty = 0;
  static constexpr std::size_t arena_index = static_cast<std::size_t>(engine_id::line_locks);

public:
  line_locks_table(std::size_t capacity, std::uint64_t seed) : hash_{seed} {
    map_lines(std::max<std::uint64_t>(256, std::bit_ceil<std::uint64_t>(capacity / 2)));
  }
  line_locks_table(const line_locks_table&) = delete;
  line_locks_table& operator=(const line_locks_table&) = delete;
  ~line_locks_table() {
    for (std::uint64_t i = 0; i < count_; ++i) free_chain(lines_[i]);
    cubby::detail::memory::release(pages_);
  }

  class thread_record {
  public:
    explicit thread_record(line_locks_table& t) : table_(t), at_(t.pause_) {}

    bool find(std::uint64_t key, std::uint64_t& value) {
      const inside stay(at_);
      for (const line* l = &table_.line_of(key); l != nullptr; l = l->next.load(cubby::detail::sync::acquire)) {
        for (unsigned i = 0; i < 3; ++i) {
          const std::uint64_t seen = l->values[i].load(cubby::detail::sync::acquire);
          if (l->keys[i].load(cubby::detail::sync::acquire) != key) continue;
          if (l->values[i].load(cubby::detail::sync::relaxed) != seen)
            return find_again(key, value); // acquire loads came before
          value = seen;
          return true;
        }
      }
      return false;
    }
    bool insert(std::uint64_t key, std::uint64_t value) {
      if (key == empty) return false;
      bool crowded = false;
      {
        const inside stay(at_);
        line& first = table_.line_of(key);
        const locked hold(first);
        if (table_.place_of(first, key).where != nullptr) return false;
        crowded = table_.put(first, key, value);
      }
      ++fresh_;
      if (fresh_ >= 64 || crowded) share_count();
      return true;
    }
    bool erase(std::uint64_t key) {
      const inside stay(at_);
      line& first = table_.line_of(key);
      const locked hold(first);
      const auto there = table_.place_of(first, key);
      if (there.where != nullptr) there.where->keys[there.slot].store(empty, cubby::detail::sync::release);
      if (there.where != nullptr) --fresh_;
      return there.where != nullptr;
    }
    bool assign(std::uint64_t key, std::uint64_t value) {
      return change(key, [value](std::uint64_t) { return value; });
    }
    bool modify(std::uint64_t key) {
      return change(key, [](std::uint64_t before) { return before + 1; });
    }

  private:
    using inside = pause_point::stay;
    struct locked {
      explicit locked(line& l) : at(l) {
        std::uint64_t open = 0;
        for (cubby::detail::sync::backoff wait;
             !at.lock.compare_exchange(open, 1, cubby::detail::sync::acquire, cubby::detail::sync::relaxed); open = 0)
          wait.pause();
      }
      ~locked() { at.lock.store(0, cubby::detail::sync::release); }
      locked(const locked&) = delete;
      locked& operator=(const locked&) = delete;
      line& at;
    };
    // The value was changed between the two looks.
    bool find_again(std::uint64_t key, std::uint64_t& value) {
      line& first = table_.line_of(key);
      const locked hold(first);
      const auto there = table_.place_of(first, key);
      if (there.where != nullptr)
        value = there.where->values[there.slot].load(cubby::detail::sync::relaxed); // under the lock
      return there.where != nullptr;
    }
    template <class F> bool change(std::uint64_t key, F f) {
      const inside stay(at_);
      line& first = table_.line_of(key);
      const locked hold(first);
      const auto there = table_.place_of(first, key);
      if (there.where == nullptr) return false;
      word<std::uint64_t>& at = there.where->values[there.slot];
      at.store(f(at.load(cubby::detail::sync::relaxed)), cubby::detail::sync::release); // under the lock
      return true;
    }
    void share_count() {
      (void)table_.held_.fetch_add(fresh_, cubby::detail::sync::relaxed); // a figure
      fresh_ = 0;
      if (table_.is_crowded()) table_.grow();
    }
    line_locks_table& table_;
    pause_point::worker at_;
    std::int64_t fresh_ = 0; // inserts less erases that it has not told the others of
  };

private:
  struct place {
    line* where;
    unsigned slot;
  };

  void map_lines(std::uint64_t count) {
    const auto fresh = cubby::detail::memory::allocate(count * sizeof(line)); // zero bytes are empty lines
    if (fresh.address == nullptr) throw std::bad_alloc();
    pages_ = fresh;
    lines_ = reinterpret_cast<line*>(fresh.address);
    count_ = count;
    shift_ = 64U - static_cast<unsigned>(std::countr_zero(count));
  }
  static line* new_line() { return ::new (arena::of(arena_index).allocate(sizeof(line), alignof(line))) line(); }
  static void free_chain(line& first) {
    for (line* l = first.next.load(cubby::detail::sync::relaxed); l != nullptr;) { // no other call runs
      line* const after = l->next.load(cubby::detail::sync::relaxed);
      arena::of(arena_index).deallocate(l, sizeof(line), alignof(line));
      l = after;
    }
  }
  line& line_of(std::uint64_t key) const { return lines_[hash_(key) >> shift_]; }

  // relaxed, all below: lines change under the lock of the first
  static place place_of(line& first, std::uint64_t key) {
    for (line* l = &first; l != nullptr; l = l->next.load(cubby::detail::sync::relaxed))
      for (unsigned i = 0; i < 3; ++i)
        if (l->keys[i].load(cubby::detail::sync::relaxed) == key) return {l, i};
    return {nullptr, 0};
  }
  // True: the chain has become longer than two lines.
  static bool put(line& first, std::uint64_t key, std::uint64_t value) {
    unsigned length = 1;
    for (line* l = &first;; ++length) {
      const place open = place_of_empty(*l);
      if (open.where != nullptr) {
        l->values[open.slot].store(value, cubby::detail::sync::release);
        l->keys[open.slot].store(key, cubby::detail::sync::release);
        return length > 2;
      }
      line* after = l->next.load(cubby::detail::sync::relaxed);
      if (after == nullptr) {
        after = new_line();
        l->next.store(after, cubby::detail::sync::release);
      }
      l = after;
    }
  }
  static place place_of_empty(line& l) {
    for (unsigned i = 0; i < 3; ++i)
      if (l.keys[i].load(cubby::detail::sync::relaxed) == empty) return {&l, i};
    return {nullptr, 0};
  }

  bool is_crowded() const {
    return held_.load(cubby::detail::sync::relaxed) > 2 * static_cast<std::int64_t>(count_); // a figure
  }
  void grow() {
    cubby::detail::memory::region old_pages;
    line* old = nullptr;
    std::uint64_t count = 0;
    const auto prepare = [&]() -> std::uint64_t {
      if (!is_crowded()) return 0; // another thread has grown it
      old_pages = pages_;
      old = lines_;
      count = count_;
      map_lines(2 * count);
      return (count + share - 1) / share;
    };
    // Lines of the larger table belong to one line of the smaller one, which one thread moves.
    const auto move = [&](std::uint64_t number) {
      for (std::uint64_t i = number * share; i < std::min(count, (number + 1) * share); ++i) {
        for (line* l = &old[i]; l != nullptr; l = l->next.load(cubby::detail::sync::relaxed))
          for (unsigned j = 0; j < 3; ++j)
            if (const std::uint64_t key = l->keys[j].load(cubby::detail::sync::relaxed); key != empty)
              (void)put(line_of(key), key, l->values[j].load(cubby::detail::sync::relaxed));
        free_chain(old[i]);
      }
    };
    pause_.alone(prepare, move, [&] { cubby::detail::memory::release(old_pages); });
  }

  static constexpr std::uint64_t share = 1024; // lines that one thread moves at a time

  cubby::hash<std::uint64_t> hash_;
  line* lines_ = nullptr;
  std::uint64_t count_ = 0;
  unsigned shift_ = 0;
  cubby::detail::memory::region pages_;
  alignas(64) word<std::int64_t> held_;
  alignas(64) pause_point pause_;
};

} // namespace bench
