// SPDX-License-Identifier: Apache-2.0
// The slots of chains. In memory they lie in the nodes. In a durable table they lie in extents of the pool, and a list in memory
// has the free ones. A slot without a commit word is free, so the file needs no list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include <cubby/detail/core/lock.hpp>
#include <cubby/detail/core/pool.hpp>
#include <cubby/detail/engines/iceberg/layout.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

template <class Policy> class overflow_slots {
public:
  explicit overflow_slots(const Policy&) noexcept {}
};
template <durable Policy> class overflow_slots<Policy> {
  using slot_type = slot_of<Policy>;

public:
  explicit overflow_slots(const Policy& codec) noexcept : home_(codec.home()) {}
  ~overflow_slots() { delete[] free_; }
  overflow_slots(const overflow_slots&) = delete;
  overflow_slots& operator=(const overflow_slots&) = delete;

  /// An empty slot, or null: no disk space, or no memory.
  slot_type* take() noexcept {
    const lock_scope alone(lock_);
    if (count_ == 0 && !add_extent()) return nullptr;
    return free_[--count_];
  }
  /// Gives an empty slot back. That of the zero key is not from here.
  void give(slot_type* one) noexcept {
    if (home_.offset_of(one) == pool_layout::zero_entry_at) return;
    const lock_scope alone(lock_);
    free_[count_++] = one;
  }
  void exchange(slot_type*& mine, slot_type* other) noexcept {
    give(mine);
    mine = other;
  }
  /// Recovery: makes space for the slots of all extents. `give` the free ones. False: no memory.
  bool adopt_extents() noexcept {
    for (std::size_t i = 0; i < home_.extents().size(); ++i)
      if (home_.extents()[i].kind == pool_layout::extent_kind::overflow) note(home_.extents()[i]);
    return make_list();
  }

private:
  void note(const extent& one) noexcept {
    total_ += one.bytes / sizeof(slot_type);
    ++extents_;
  }
  bool make_list() noexcept {
    if (total_ == 0) return true;
    auto** const longer = new (std::nothrow) slot_type*[total_];
    if (longer == nullptr) return false;
    for (std::size_t i = 0; i < count_; ++i) longer[i] = free_[i];
    delete[] free_;
    free_ = longer;
    return true;
  }
  bool add_extent() noexcept {
    const std::size_t wanted = total_ < first_slots ? first_slots : total_ > most_slots ? most_slots : total_;
    const extent* const made =
        home_.take_extent(pool_layout::extent_kind::overflow, extents_, wanted * sizeof(slot_type), 0);
    if (made == nullptr) return false;
    const std::size_t before = total_;
    note(*made);
    if (!make_list()) {
      total_ = before;
      return false;
    }
    auto* const slots = home_.at<slot_type>(made->at);
    for (std::size_t i = made->bytes / sizeof(slot_type); i != 0; --i) free_[count_++] = &slots[i - 1];
    return true;
  }

  static constexpr std::size_t first_slots = 256;
  static constexpr std::size_t most_slots = std::size_t{1} << 18;
  pool& home_;
  small_lock<> lock_;
  slot_type** free_ = nullptr;
  std::size_t count_ = 0;
  std::size_t total_ = 0;
  std::uint32_t extents_ = 0;
};

} // namespace cubby::inline v0::detail::engines::iceberg
