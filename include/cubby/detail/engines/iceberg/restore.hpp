// SPDX-License-Identifier: Apache-2.0
// What the threads of a recovery collect, and how entries whose record is torn get the older one of their key (docs/format.md, Order).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include <cubby/detail/core/recovery_report.hpp>
#include <cubby/detail/engines/iceberg/settle.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

/// A list in memory that grows.
template <class T> class growing_list {
public:
  growing_list() = default;
  ~growing_list() { delete[] all_; }
  growing_list(const growing_list&) = delete;
  growing_list& operator=(const growing_list&) = delete;
  /// False: no memory.
  bool add(const T& one) noexcept {
    if (count_ == space_) {
      const std::size_t more = space_ == 0 ? 64 : space_ * 2;
      auto* const longer = new (std::nothrow) T[more];
      if (longer == nullptr) return false;
      for (std::size_t i = 0; i < count_; ++i) longer[i] = all_[i];
      delete[] all_;
      all_ = longer;
      space_ = more;
    }
    all_[count_++] = one;
    return true;
  }
  void clear() noexcept { count_ = 0; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] T& operator[](std::size_t i) const noexcept { return all_[i]; }

private:
  T* all_ = nullptr;
  std::size_t count_ = 0;
  std::size_t space_ = 0;
};
template <class Slot> using slot_list = growing_list<Slot*>;

/// An entry of the back yard, and its hash: the slot is anywhere, and is not read again for it. Null: its key is in front, too, and it was dropped.
template <class Slot> struct entry_behind {
  Slot* slot;
  std::uint64_t hash;
};
/// Entries of the back yard are noted in groups, each with the front buckets of a part of the front yard. One thread takes a group, so
/// that it needs no lock, and the lines of tags of a group stay in its cache.
inline constexpr unsigned behind_groups = 256;
/// The bits of a residue below those that choose its group.
inline unsigned group_shift(std::uint64_t fronts) noexcept {
  const auto bits = static_cast<unsigned>(std::bit_width(fronts - 1));
  constexpr unsigned least = std::bit_width(behind_groups - 1);
  return bits > least ? bits - least : 0;
}

/// The work of one thread of a recovery.
template <durable Policy> struct recovery_share {
  growing_list<entry_behind<slot_of<Policy>>> behind[behind_groups]; // of the back yard, where lookups find them
  slot_list<slot_of<Policy>> misplaced;                              // entries where no lookup finds them
  slot_list<slot_of<Policy>> torn;                                   // slots that lead to a torn record
  slot_list<slot_of<Policy>> restored;                               // those of them that lead to the older record now
  recovery_report report;
  bool no_memory = false;

  // Of the group of entries in the back yard that this thread has.
  growing_list<entry_behind<slot_of<Policy>>> doubtful; // perhaps not the only one of the key
  void begin_group() noexcept {
    doubtful.clear();
    std::memset(seen_, 0, sizeof seen_);
  }
  /// False: an entry with this hash was there before, or one with another hash that has the same bit.
  bool first_seen(std::uint64_t hash) noexcept {
    const std::uint64_t number = hash * mix_b >> (64 - seen_bits);
    const std::uint64_t bit = std::uint64_t{1} << number % 64;
    const bool first = (seen_[number / 64] & bit) == 0;
    seen_[number / 64] |= bit;
    return first;
  }

private:
  static constexpr unsigned seen_bits = 17;
  std::uint64_t seen_[(std::size_t{1} << seen_bits) / 64];
};

template <durable Policy> struct recovery {
  table<Policy>& t;
  unsigned threads;
  bool clean;                     // closed, and nothing has contradicted that so far
  recovery_share<Policy>* shares; // one for each thread
  sync::word<std::uint64_t> next; // unit of work

  /// Whether no key is there twice. A damaged key without a checksum may be equal to another one, also in a file that was closed.
  [[nodiscard]] bool is_distinct() const noexcept { return clean && Policy::in_records; }
};

/// Of each of some keys, by its hash: the last record that no slot leads to and that was not erased.
template <durable Policy> class older_records {
  struct one {
    std::uint64_t key;
    std::uint64_t offset; // 0: there is none
    std::uint32_t sequence;
  };

public:
  older_records() = default;
  ~older_records() { delete[] all_; }
  older_records(const older_records&) = delete;
  older_records& operator=(const older_records&) = delete;

  /// Reads the unused blocks once, for the keys of all torn slots. False: no memory.
  bool read(recovery<Policy>& r) noexcept {
    std::size_t most = 0;
    for (unsigned i = 0; i < r.threads; ++i) most += r.shares[i].torn.size();
    if (most == 0) return true;
    all_ = new (std::nothrow) one[most];
    if (all_ == nullptr) return false;
    for (unsigned i = 0; i < r.threads; ++i)
      for (std::size_t n = 0; n < r.shares[i].torn.size(); ++n)
        all_[count_++] = {key_in<Policy>(*r.shares[i].torn[n]), 0, 0};
    std::sort(all_, all_ + count_, [](const one& a, const one& b) { return a.key < b.key; });
    r.t.policy.for_each_older([this](std::uint64_t key, std::uint64_t offset, std::uint32_t sequence) {
      one* const to = first(key);
      if (to == all_ + count_ || to->key != key) return;
      if (to->offset == 0 || static_cast<std::int32_t>(sequence - to->sequence) > 0) *to = {key, offset, sequence};
    });
    return true;
  }
  /// The record's offset, or 0. For keys of torn slots.
  [[nodiscard]] std::uint64_t of(std::uint64_t key) const noexcept { return first(key)->offset; }

private:
  [[nodiscard]] one* first(std::uint64_t key) const noexcept {
    return std::lower_bound(all_, all_ + count_, key, [](const one& a, std::uint64_t b) { return a.key < b; });
  }
  one* all_ = nullptr; // by key; of equal keys the first counts
  std::size_t count_ = 0;
};

/// A slot of the overflow that has no entry any more.
template <durable Policy> void give_if_overflow(table<Policy>& t, slot_of<Policy>& s) noexcept {
  pool& home = t.policy.home();
  const std::uint64_t at = home.offset_of(&s);
  for (std::size_t i = 0; i < home.extents().size(); ++i) {
    const extent& one = home.extents()[i];
    if (one.kind == pool_layout::extent_kind::overflow && at >= one.at && at < one.at + one.bytes)
      return t.overflow.give(&s);
  }
}

template <durable Policy> bool has_same_key(const slot_of<Policy>& a, const slot_of<Policy>& b) noexcept {
  return &a != &b && key_in<Policy>(a) == key_in<Policy>(b);
}

/// Whether lookups come to an entry with the key word of a slot. Then the slot is what a move has left, and its record became one
/// of another key when the entry got a newer one.
template <durable Policy> bool is_left_copy(const table<Policy>& t, const slot_of<Policy>& s) noexcept {
  const hashed h = hashed_in(t, hash_of_slot(t.policy, s));
  const unsigned level = first_root(t).level();
  const auto any = [&](slot_of<Policy>* slots, std::uint64_t mask) {
    for (; mask != 0; mask &= mask - 1)
      if (has_same_key<Policy>(slots[cpu::lowest_bit(mask)], s)) return true;
    return false;
  };
  const auto at = front_of(t, h, level);
  bool found = any(at.slots, tagged_slots<slot_of<Policy>>(*at.line, h.tag, t.unit));
  for (unsigned which = 0; which < 2; ++which) {
    const auto b = back_of(t, back_hash(h.hash, which), level);
    found = found ||
            any(b.slots, back::match(b.line->load(sync::relaxed), short_tag(h.tag))); // relaxed: as in recover_front
  }
  for_each_chain_array(t, [&](const chain_array& in) {
    std::uint64_t link = in.heads[chain_number<Policy>(in, h.hash)].first.load(sync::relaxed); // relaxed: as above
    for (; link != 0; link = node_at<Policy>(link)->next.load(sync::relaxed))                  // relaxed: as above
      found = found || has_same_key<Policy>(node_at<Policy>(link)->entry(), s);
  });
  return found;
}

/// Entries whose record is torn: with the older record of the key, if that is whole, they move; without it they go.
template <durable Policy> void restore_older([[maybe_unused]] recovery<Policy>& r) noexcept {
  if constexpr (Policy::in_records) {
    older_records<Policy> older;
    if (!older.read(r)) {
      r.shares[0].no_memory = true;
      return;
    }
    for (unsigned i = 0; i < r.threads; ++i) {
      auto& mine = r.shares[i];
      for (std::size_t n = 0; n < mine.torn.size(); ++n) {
        slot_of<Policy>& s = *mine.torn[n];
        const std::uint64_t record = older.of(key_in<Policy>(s));
        if (record == 0) {
          ++(is_left_copy(r.t, s) ? mine.report.dropped : mine.report.torn);
          empty_slot(r.t, s);
          give_if_overflow(r.t, s);
        } else {
          put_value<Policy>(s, record);
          write_slot_back(r.t, s);
          mine.no_memory |= !mine.restored.add(&s);
        }
      }
    }
  }
}

} // namespace cubby::inline v0::detail::engines::iceberg
