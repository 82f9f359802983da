// SPDX-License-Identifier: Apache-2.0
// Space for halves of segments, in memory. Halves are cut from regions of pages, the oldest that has space first, so that after a shrink the
// large regions have none in use and go back to the kernel. A half that comes back is zeroed.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include <cubby/detail/core/lock.hpp>
#include <cubby/detail/engines/seph/layout.hpp>
#include <cubby/detail/platform/memory.hpp>

namespace cubby::inline v0::detail::engines::seph {

class memory_halves {
public:
  explicit memory_halves(std::size_t half_bytes) noexcept : half_bytes_(half_bytes) {}
  ~memory_halves() {
    for (std::size_t i = 0; i < count_; ++i) memory::release(regions_[i].pages);
    delete[] regions_;
  }
  /// Takes the halves of an idle table.
  memory_halves(memory_halves&& from) noexcept
      : half_bytes_(from.half_bytes_), regions_(std::exchange(from.regions_, nullptr)),
        count_(std::exchange(from.count_, 0)), space_(std::exchange(from.space_, 0)),
        with_space_(std::exchange(from.with_space_, 0)), bytes_(std::exchange(from.bytes_, 0)),
        left_(std::exchange(from.left_, 0)) {}
  memory_halves(const memory_halves&) = delete;
  memory_halves& operator=(const memory_halves&) = delete;

  [[nodiscard]] std::size_t half_bytes() const noexcept { return half_bytes_; }

  /// `count` halves of zeros. False: no memory; then it has taken none. A region is mapped outside of the lock, and ahead: other threads go
  /// on with the halves that are left, and do not wait for the kernel or the heap.
  bool take(slot** out, unsigned count) noexcept {
    for (;;) {
      lock_.lock();
      const bool taken = take_all(out, count);
      const std::size_t wanted = taken && (adding_ || !is_low()) ? 0 : next_region();
      if (wanted != 0) adding_ = true;
      lock_.unlock();
      if (wanted == 0) return true;
      const memory::region made = memory::allocate(wanted);
      const lock_scope alone(lock_);
      adding_ = false;
      const bool added = made.address != nullptr && keep_region(made);
      if (taken) return true;
      if (!added) return take_all(out, count); // another thread may have added some
    }
  }
  /// Space for so many halves in one region. False: no memory.
  bool prepare(std::uint64_t count) noexcept {
    if (count > ~std::size_t{0} / half_bytes_ / 2) return false;
    const memory::region made = memory::allocate(count * half_bytes_);
    const lock_scope alone(lock_);
    return made.address != nullptr && keep_region(made);
  }
  /// A half that no thread uses any more.
  void give(slot* half) noexcept {
    std::memset(static_cast<void*>(half), 0, half_bytes_);
    const lock_scope alone(lock_);
    put_back(half);
  }
  /// Gives back the regions without a half in use.
  void release_free() noexcept {
    const lock_scope alone(lock_);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      if (regions_[i].used == 0) {
        bytes_ -= regions_[i].pages.bytes;
        left_ -= regions_[i].pages.bytes / half_bytes_;
        memory::release(regions_[i].pages);
      } else {
        regions_[kept++] = regions_[i];
      }
    }
    count_ = kept;
    with_space_ = 0;
  }
  void list(memory::region_list& out) const noexcept {
    const lock_scope alone(lock_);
    for (std::size_t i = 0; i < count_; ++i) out.add(regions_[i].pages);
  }

private:
  struct region {
    memory::region pages;
    std::size_t fresh = 0; // bytes at its beginning that were in use at some time
    std::size_t used = 0;  // halves in use
    slot* given = nullptr; // halves that came back, by their first words
  };

  [[nodiscard]] bool has_space(const region& r) const noexcept {
    return r.given != nullptr || r.fresh + half_bytes_ <= r.pages.bytes;
  }
  bool take_all(slot** out, unsigned count) noexcept {
    if (left_ < count) return false;
    left_ -= count;
    for (unsigned i = 0; i < count; ++i) out[i] = take_one();
    return true;
  }
  /// Whether the next region is to be mapped now: behind the last eighth, and at most the halves of four splits.
  [[nodiscard]] bool is_low() const noexcept {
    const std::size_t eighth = bytes_ / half_bytes_ / 8;
    return left_ < (eighth < 12 ? eighth : 12);
  }
  /// Some half is left.
  slot* take_one() noexcept {
    while (!has_space(regions_[with_space_])) ++with_space_;
    region& from = regions_[with_space_];
    ++from.used;
    if (from.given == nullptr) {
      from.fresh += half_bytes_;
      return reinterpret_cast<slot*>(from.pages.address + (from.fresh - half_bytes_));
    }
    slot* const out = from.given;
    // relaxed, both: under the lock; the half is not shared
    from.given = std::bit_cast<slot*>(out->load(sync::relaxed));
    out->store(0, sync::relaxed); // relaxed: as above
    return out;
  }
  void put_back(slot* half) noexcept {
    const std::size_t i = region_of(half);
    region& to = regions_[i];
    half->store(std::bit_cast<std::uint64_t>(to.given), sync::relaxed); // relaxed: as in take_one
    to.given = half;
    --to.used;
    ++left_;
    if (i < with_space_) with_space_ = i;
  }
  /// A quarter of what there is, so that a small table takes little, and at most a huge page, so that one insert does not bring in much.
  [[nodiscard]] std::size_t next_region() const noexcept {
    std::size_t wanted = bytes_ / 4;
    if (wanted < 4 * half_bytes_) wanted = 4 * half_bytes_;
    return wanted < memory::huge_page ? wanted : memory::huge_page;
  }
  [[nodiscard]] std::size_t region_of(const slot* half) const noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(half);
    std::size_t i = 0;
    while (at - reinterpret_cast<std::uintptr_t>(regions_[i].pages.address) >= regions_[i].pages.bytes) ++i;
    return i;
  }
  bool make_space_for_region() noexcept {
    if (count_ < space_) return true;
    const std::size_t wanted = space_ == 0 ? 8 : 2 * space_;
    auto* const made = new (std::nothrow) region[wanted];
    if (made == nullptr) return false;
    for (std::size_t i = 0; i < count_; ++i) made[i] = regions_[i];
    delete[] regions_;
    regions_ = made;
    space_ = wanted;
    return true;
  }
  /// Adds a region, or gives it back: no memory for the list.
  bool keep_region(const memory::region& pages) noexcept {
    region made;
    made.pages = pages;
    if (!make_space_for_region()) {
      memory::release(made.pages);
      return false;
    }
    regions_[count_++] = made;
    bytes_ += pages.bytes;
    left_ += pages.bytes / half_bytes_;
    return true;
  }

  const std::size_t half_bytes_;
  mutable small_lock<> lock_;
  region* regions_ = nullptr; // in the order of their age
  std::size_t count_ = 0;
  std::size_t space_ = 0;
  std::size_t with_space_ = 0; // no region before it has space
  std::size_t bytes_ = 0;
  std::size_t left_ = 0; // halves that nobody has
  bool adding_ = false;  // a thread maps the next region
};

} // namespace cubby::inline v0::detail::engines::seph
