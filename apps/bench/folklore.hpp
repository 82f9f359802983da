// SPDX-License-Identifier: Apache-2.0
// The folklore table, re-stated from the text of "Concurrent Hash Tables: Fast and General(?)!" (Maier, Sanders, Dementiev):
// linear probing over cells of 16 bytes, one swap an insert, an erased cell stays dead, growth stops all threads. Key words 0 and ~0
// are the table's own; an insert of one is refused.
#pragma once

#include <algorithm>
#include <bit>
#include <new>

#include <cubby/map.hpp>

#include "pause.hpp"

namespace bench {

class folklore_table {
  using cell = cubby::detail::sync::word16<cubby::detail::sync::shared>;
  static constexpr std::uint64_t empty = 0;
  static constexpr std::uint64_t dead = ~std::uint64_t{0};

public:
  folklore_table(std::size_t capacity, std::uint64_t seed) : hash_{seed} { map_cells(cells_for(capacity)); }
  folklore_table(const folklore_table&) = delete;
  folklore_table& operator=(const folklore_table&) = delete;
  ~folklore_table() { cubby::detail::memory::release(pages_); }

  // What one thread needs: its pause word, and inserts that are not in the shared count yet.
  class thread_record {
  public:
    explicit thread_record(folklore_table& t) : table_(t), at_(t.pause_) {}

    bool find(std::uint64_t key, std::uint64_t& value) {
      const inside stay(at_);
      const cell* const c = table_.find(key);
      if (c == nullptr) return false;
      value = c->second.load(cubby::detail::sync::acquire);
      return c->first.load(cubby::detail::sync::relaxed) == key; // erased in between: a miss
    }
    bool insert(std::uint64_t key, std::uint64_t value) {
      if (key == empty || key == dead) return false;
      for (;;) {
        {
          const inside stay(at_);
          const taken how = table_.insert(key, value);
          if (how == taken::no) return false;
          if (how == taken::yes) {
            ++fresh_;
            break;
          }
        }
        table_.grow();
      }
      if (fresh_ >= table_.slice_) share_count();
      return true;
    }
    bool erase(std::uint64_t key) {
      const inside stay(at_);
      cell* const c = table_.find(key);
      std::uint64_t expected = key;
      return c != nullptr &&
             c->first.compare_exchange(expected, dead, cubby::detail::sync::acq_rel, cubby::detail::sync::relaxed);
    }
    bool assign(std::uint64_t key, std::uint64_t value) {
      const inside stay(at_);
      cell* const c = table_.find(key);
      if (c != nullptr) c->second.store(value, cubby::detail::sync::release);
      return c != nullptr;
    }
    bool modify(std::uint64_t key) {
      const inside stay(at_);
      cell* const c = table_.find(key);
      if (c != nullptr) (void)c->second.fetch_add(1, cubby::detail::sync::acq_rel);
      return c != nullptr;
    }

  private:
    using inside = pause_point::stay;
    void share_count() {
      const std::uint64_t used = table_.used_.fetch_add(fresh_, cubby::detail::sync::relaxed) + fresh_; // a figure
      fresh_ = 0;
      if (used > table_.mark_) table_.grow();
    }
    folklore_table& table_;
    pause_point::worker at_;
    std::uint64_t fresh_ = 0;
  };

private:
  enum class taken { yes, no, no_space };

  // 60 %, and a power of two.
  static std::uint64_t cells_for(std::size_t entries) {
    return std::max<std::uint64_t>(1024, std::bit_ceil<std::uint64_t>(entries + entries * 2 / 3));
  }
  void map_cells(std::uint64_t count) {
    const auto fresh = cubby::detail::memory::allocate(count * sizeof(cell)); // zero bytes are empty cells
    if (fresh.address == nullptr) throw std::bad_alloc();
    pages_ = fresh;
    cells_ = reinterpret_cast<cell*>(fresh.address);
    shift_ = 64U - static_cast<unsigned>(std::countr_zero(count));
    mask_ = count - 1;
    mark_ = count - count * 2 / 5;
    slice_ = std::clamp<std::uint64_t>(count / 1024, 1, 64);
  }
  std::uint64_t start_of(std::uint64_t key) const { return hash_(key) >> shift_; }

  cell* find(std::uint64_t key) const {
    for (std::uint64_t i = start_of(key);; i = (i + 1) & mask_) {
      const std::uint64_t seen = cells_[i].first.load(cubby::detail::sync::acquire);
      if (seen == key) return &cells_[i];
      if (seen == empty) return nullptr;
    }
  }
  taken insert(std::uint64_t key, std::uint64_t value) {
    std::uint64_t i = start_of(key);
    for (std::uint64_t looked = 0; looked <= mask_; ++looked, i = (i + 1) & mask_) {
      std::uint64_t seen = cells_[i].first.load(cubby::detail::sync::acquire);
      if (seen == empty) {
        if (cells_[i].compare_exchange({empty, 0}, {key, value})) return taken::yes;
        seen = cells_[i].first.load(cubby::detail::sync::acquire);
      }
      if (seen == key) return taken::no;
    }
    return taken::no_space;
  }

  // Twice the cells if the live entries need them, as many if most are dead. relaxed, all: no other call runs meanwhile, and
  // `pause_` orders the threads that move.
  void grow() {
    cubby::detail::memory::region old_pages;
    const cell* old = nullptr;
    std::uint64_t count = 0;
    const auto prepare = [&]() -> std::uint64_t {
      if (used_.load(cubby::detail::sync::relaxed) <= mark_ && !is_full()) return 0; // another thread has grown it
      old_pages = pages_;
      old = cells_;
      count = mask_ + 1;
      std::uint64_t living = 0;
      for (std::uint64_t i = 0; i < count; ++i) living += is_entry(old[i]) ? 1 : 0;
      map_cells(living > count / 10 * 3 ? 2 * count : count);
      used_.store(living, cubby::detail::sync::relaxed);
      return (count + share - 1) / share;
    };
    const auto move = [&](std::uint64_t number) {
      for (std::uint64_t i = number * share; i < std::min(count, (number + 1) * share); ++i)
        if (is_entry(old[i]))
          (void)insert(old[i].first.load(cubby::detail::sync::relaxed),
                       old[i].second.load(cubby::detail::sync::relaxed));
    };
    pause_.alone(prepare, move, [&] { cubby::detail::memory::release(old_pages); });
  }
  static bool is_entry(const cell& c) {
    const std::uint64_t key = c.first.load(cubby::detail::sync::relaxed); // no other call runs
    return key != empty && key != dead;
  }
  bool is_full() const {
    for (std::uint64_t i = 0; i <= mask_; ++i)
      if (cells_[i].first.load(cubby::detail::sync::relaxed) == empty) return false; // no other call runs
    return true;
  }

  static constexpr std::uint64_t share = 4096; // cells that one thread moves at a time

  cubby::hash<std::uint64_t> hash_;
  cell* cells_ = nullptr;
  std::uint64_t mask_ = 0;
  unsigned shift_ = 0;
  std::uint64_t mark_ = 0;  // used cells, dead ones among them, at which it is rebuilt
  std::uint64_t slice_ = 1; // inserts that a thread keeps to itself
  cubby::detail::memory::region pages_;
  alignas(64) cubby::detail::sync::word<std::uint64_t> used_;
  alignas(64) pause_point pause_;
};

} // namespace bench
