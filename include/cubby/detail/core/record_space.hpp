// SPDX-License-Identifier: Apache-2.0
// Where a codec with std::allocator takes its records from: blocks of its domain, and operator new for those that are not for blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <scoped_allocator> // std::allocator_traits at a third of the price of <memory>
#include <type_traits>

#include <cubby/detail/core/raw_memory.hpp>
#include <cubby/detail/core/registry.hpp>
#include <cubby/detail/platform/fail.hpp>

namespace cubby::inline v0::detail {

/// Tables for one thread have it, too, though nothing else of them needs a domain. In small pages for an engine that promises even inserts: the first
/// write to a huge page takes long.
template <block_pages Pages> class record_space {
public:
  /// Space for `count` objects of T, or null.
  template <class T> [[nodiscard]] T* take(std::size_t count) const noexcept {
    if constexpr (alignof(T) > 8) return take_raw<T>(count);
    else if (count > static_cast<std::size_t>(-1) / 2 / sizeof(T)) return nullptr;
    else return static_cast<T*>(take_bytes(count * sizeof(T)));
  }
  /// What was taken for so many.
  template <class T> void give(T* space, std::size_t count) const noexcept {
    if (alignof(T) > 8 || !record_heap::is_block(space)) give_raw(space);
    else home_->blocks(Pages)->give(space, count * sizeof(T));
  }

private:
  CUBBY_NEVER_INLINE void* take_bytes(std::size_t bytes) const noexcept {
    if (!tests_watch_allocations && home_ && bytes <= record_heap::most_bytes) {
      record_heap* const heap = home_->blocks(Pages);
      void* const block = heap == nullptr ? nullptr : heap->take(bytes);
      if (block != nullptr) return block;
    }
    struct alignas(16) unit { // `is_block` needs multiples of 16
      std::byte raw[16];
    };
    static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= alignof(unit), "the alignment of operator new is the platform's");
    return take_raw<unit>((bytes + 15) / 16);
  }
  domain_ref home_ = registry::own_domain();
};

/// For a codec with an allocator of the user's.
struct no_space {};
/// std::allocator answers a lack of memory by an exception only; a record space can do without.
template <class Allocator>
inline constexpr bool is_plain_allocator =
    std::is_same_v<Allocator, std::allocator<typename std::allocator_traits<Allocator>::value_type>>;
template <class Allocator, block_pages Pages>
using space_for = std::conditional_t<is_plain_allocator<Allocator>, record_space<Pages>, no_space>;

/// Space for `count` objects of the allocator's type, or null.
template <class Space, class Allocator>
[[nodiscard]] typename std::allocator_traits<Allocator>::value_type*
allocate_units(const Space& space, const Allocator& allocator, std::size_t count) {
  using traits = std::allocator_traits<Allocator>;
  if constexpr (is_plain_allocator<Allocator>) {
    return space.template take<typename traits::value_type>(count);
  } else {
    Allocator from(allocator);
    typename traits::value_type* units = nullptr;
    return fail::attempt([&] { units = std::to_address(traits::allocate(from, count)); }) ? units : nullptr;
  }
}
template <class Space, class Allocator>
void deallocate_units(const Space& space, const Allocator& allocator,
                      typename std::allocator_traits<Allocator>::value_type* units, std::size_t count) noexcept {
  using traits = std::allocator_traits<Allocator>;
  if constexpr (is_plain_allocator<Allocator>) {
    space.give(units, count);
  } else {
    Allocator to(allocator);
    traits::deallocate(to, std::pointer_traits<typename traits::pointer>::pointer_to(*units), count);
  }
}

} // namespace cubby::inline v0::detail
