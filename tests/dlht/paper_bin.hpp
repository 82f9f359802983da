// SPDX-License-Identifier: Apache-2.0
// One bin of the published protocol (DLHT section 3.2), with its holes: the control of the tests beside it. They must
// see this bin fail, or they would prove nothing about the engine. Two slots, no chains, no transfer.
#pragma once

#include <cstdint>
#include <optional>

#include <cubby/detail/platform/word16.hpp>

namespace cubby_test {

class paper_bin {
public:
  using word16 = cubby::detail::sync::word16<cubby::detail::sync::shared>;

  std::optional<std::uint64_t> find(std::uint64_t key) {
    for (;;) {
      const std::uint64_t h = head_.load(cubby::detail::sync::acquire);
      const int at = search(h, key);
      const std::uint64_t value = at < 0 ? 0 : slots_[at].second.load(cubby::detail::sync::acquire);
      if (head_.load(cubby::detail::sync::acquire) == h) return at < 0 ? std::nullopt : std::optional(value);
    }
  }
  /// Hole 3: a reader that does not look at the header again.
  std::optional<std::uint64_t> find_without_recheck(std::uint64_t key) {
    const int at = search(head_.load(cubby::detail::sync::acquire), key);
    if (at < 0) return std::nullopt;
    return slots_[at].second.load(cubby::detail::sync::acquire);
  }

  bool insert(std::uint64_t key, std::uint64_t value) {
    int mine = -1;
    for (;;) {
      std::uint64_t h = head_.load(cubby::detail::sync::acquire);
      if (search(h, key) >= 0) {
        if (head_.load(cubby::detail::sync::acquire) != h) continue;
        if (mine >= 0) change_state(mine, invalid);
        return false;
      }
      if (mine < 0) {
        const int free = state(h, 0) == invalid ? 0 : state(h, 1) == invalid ? 1 : -1;
        if (free < 0) continue;
        if (!swap_head(h, with(h, free, try_insert))) continue;
        h = with(h, free, try_insert);
        mine = free;
        slots_[mine].first.store(key, cubby::detail::sync::release);
        slots_[mine].second.store(value, cubby::detail::sync::release);
      }
      if (swap_head(h, with(h, mine, valid))) return true;
    }
  }

  /// Hole 1: validated by nothing but the 16 bytes of the slot.
  bool assign(std::uint64_t key, std::uint64_t value) {
    for (;;) {
      const std::uint64_t h = head_.load(cubby::detail::sync::acquire);
      const int at = search(h, key);
      const std::uint64_t old = at < 0 ? 0 : slots_[at].second.load(cubby::detail::sync::acquire);
      if (head_.load(cubby::detail::sync::acquire) != h) continue;
      if (at < 0) return false;
      if (slots_[at].compare_exchange({key, old}, {key, value})) return true;
    }
  }
  /// Hole 4: the expected value is read after the header check.
  bool assign_late(std::uint64_t key, std::uint64_t value) {
    for (;;) {
      const std::uint64_t h = head_.load(cubby::detail::sync::acquire);
      const int at = search(h, key);
      if (head_.load(cubby::detail::sync::acquire) != h) continue;
      if (at < 0) return false;
      const std::uint64_t old = slots_[at].second.load(cubby::detail::sync::acquire);
      if (slots_[at].compare_exchange({key, old}, {key, value})) return true;
    }
  }

  /// Hole 2: the value that is handed back was read before the header changed.
  std::optional<std::uint64_t> extract(std::uint64_t key) {
    for (;;) {
      const std::uint64_t h = head_.load(cubby::detail::sync::acquire);
      const int at = search(h, key);
      const std::uint64_t old = at < 0 ? 0 : slots_[at].second.load(cubby::detail::sync::acquire);
      if (at < 0) {
        if (head_.load(cubby::detail::sync::acquire) == h) return std::nullopt;
        continue;
      }
      if (swap_head(h, with(h, at, invalid))) return old;
    }
  }

private:
  static constexpr std::uint64_t invalid = 0, try_insert = 1, valid = 2;
  static constexpr std::uint64_t version = std::uint64_t{1} << 32;
  static std::uint64_t state(std::uint64_t h, int slot) { return (h >> (2 * slot)) & 3; }
  static std::uint64_t with(std::uint64_t h, int slot, std::uint64_t s) {
    return ((h & ~(std::uint64_t{3} << (2 * slot))) | (s << (2 * slot))) + version;
  }
  int search(std::uint64_t h, std::uint64_t key) {
    for (int i = 0; i < 2; ++i) {
      if (state(h, i) == valid && slots_[i].first.load(cubby::detail::sync::acquire) == key) return i;
    }
    return -1;
  }
  bool swap_head(std::uint64_t expected, std::uint64_t desired) {
    return head_.compare_exchange(expected, desired, cubby::detail::sync::acq_rel, cubby::detail::sync::acquire);
  }
  void change_state(int slot, std::uint64_t s) {
    std::uint64_t h = head_.load(cubby::detail::sync::acquire);
    while (!swap_head(h, with(h, slot, s))) h = head_.load(cubby::detail::sync::acquire);
  }

  cubby::detail::sync::word<std::uint64_t> head_;
  word16 slots_[2];
};

} // namespace cubby_test
