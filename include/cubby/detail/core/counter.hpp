// SPDX-License-Identifier: Apache-2.0
// A counter without contention. The first thread records have a cell each, which only they write, without a locked instruction.
// Later thread records share one cell. A read adds all cells: the sum is exact while no thread writes, else a recent value.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/platform/cpu.hpp>
#include <cubby/detail/platform/sync.hpp>

namespace cubby::inline v0::detail {

template <class Threads> class striped_counter {
public:
  static constexpr std::size_t own_cells = 64;

  CUBBY_ALWAYS_INLINE void add(std::size_t thread_record_id, std::int64_t amount) noexcept {
    const auto bits = static_cast<std::uint64_t>(amount);
    if (thread_record_id < own_cells) [[likely]] {
      cells_[thread_record_id].value.add_alone(bits); // a reader needs only a recent value
    } else {
      // relaxed: the sum is all that matters
      cells_[own_cells].value.fetch_add(bits, sync::relaxed);
    }
  }
  [[nodiscard]] std::int64_t total() const noexcept {
    std::uint64_t sum = 0;
    // relaxed: a sum of recent values is what the class promises
    for (const auto& cell : cells_) sum += cell.value.load(sync::relaxed);
    return static_cast<std::int64_t>(sum);
  }

private:
  struct alignas(cpu::cache_line) padded {
    sync::word<std::uint64_t, Threads> value;
  };
  padded cells_[own_cells + 1];
};

} // namespace cubby::inline v0::detail
