// SPDX-License-Identifier: Apache-2.0
// The memory of an index, its mapping from hashes to bins, and its units of transfer (section 3.2.5). The sizes of an index and its
// successor differ by an integral factor. So the bins that a unit fills belong to that unit alone (a unit is one bin in a growth,
// several in a shrink). The transfer needs no compare-and-swap in the new index.
#pragma once

#include <new>

#include <cubby/detail/engines/dlht/layout.hpp>

namespace cubby::inline v0::detail::engines::dlht {

/// 64 TiB of bins, which no machine has memory for. Products of sizes below it do not wrap.
inline constexpr std::uint64_t most_bins = std::uint64_t{1} << 40;

/// The bins of the smallest index.
inline constexpr std::uint64_t least_bins = 8;

/// The index of tables that have had no insert yet. All tables of a domain share it, and nothing ever changes it: each slot of each bin
/// is in the state `filling`, so lookups miss and inserts find no space. It looks as large as the index that the first insert makes.
template <class Threads> struct empty_index {
  index<Threads> head;
  bin<Threads> bins[least_bins + 1];
  empty_index() noexcept {
    // relaxed, all: no other thread sees it yet
    for (auto& b : bins) b.head.store(header::every_slot, sync::relaxed);
    head.bins = bins;
    head.bin_count = least_bins;
    head.link_count = least_bins;
    head.asked_bins.store(least_bins, sync::relaxed); // relaxed: as above
  }
};
static_assert(slot_state::filling == 1 && header::invalid(header::every_slot) == 0);
static_assert(header::present(header::every_slot) == 0 && !header::is_plain(header::every_slot));
static_assert(!header::uses_links(header::every_slot));

/// A zeroed index; null without memory. The pages of a large index are mapped at their first use.
template <class Threads>
index<Threads>* make_index(std::uint64_t bin_count, std::uint64_t link_count) noexcept {
  constexpr std::uint64_t most_links = low_half - 2; // link numbers plus one fit in 32 bits
  if (bin_count > most_bins) return nullptr;
  if (link_count > most_links) link_count = most_links;
  auto* const made = new (std::nothrow) index<Threads>;
  if (made == nullptr) return nullptr;
  const std::uint64_t lines = bin_count + 1 + link_count;
  made->pages = memory::allocate(lines * cpu::cache_line);
  if (made->pages.address == nullptr) {
    delete made;
    return nullptr;
  }
  // Zero bytes are a bin whose slots are invalid and cleared, so the mapping needs no initialization.
  made->bins = reinterpret_cast<bin<Threads>*>(made->pages.address);
  made->links = reinterpret_cast<link_bucket<Threads>*>(made->bins + bin_count + 1);
  made->bin_count = bin_count;
  made->asked_bins.store(bin_count, sync::relaxed); // relaxed: no other thread sees it yet
  made->link_count = link_count;
  return made;
}

/// The key words 0 to 3 are stored as 4 to 7 in the side bin.
constexpr bool is_reserved(std::uint64_t word) noexcept { return word < reserved_words; }
constexpr std::uint64_t stored_word(std::uint64_t word) noexcept {
  return word + (is_reserved(word) ? reserved_words : 0);
}

template <bin_mapping Mapping> constexpr std::uint64_t map_hash(std::uint64_t hash, std::uint64_t bins) noexcept {
  if constexpr (Mapping == bin_mapping::fastrange) return cpu::multiply(hash, bins).high;
  else return hash % bins;
}

/// The number of the probe's bin; `bin_count` for the side bin.
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE std::uint64_t bin_number(const index<Threads>& at, const word_probe& probe) noexcept {
  const std::uint64_t mapped = map_hash<Policy::mapping>(probe.hash, at.bin_count);
  return is_reserved(probe.word) ? at.bin_count : mapped;
}

/// The bins `first` + i * `step`, for i < `count`.
struct bin_range {
  std::uint64_t first = 0;
  std::uint64_t step = 1;
  std::uint64_t count = 1;
};

/// The bins of `unit` in an index of `bins` bins, which is a multiple of `units`.
template <bin_mapping Mapping>
constexpr bin_range bins_of_unit(std::uint64_t bins, std::uint64_t units, std::uint64_t unit) noexcept {
  if (unit == units) return {bins, 1, 1};
  const std::uint64_t count = bins / units;
  if constexpr (Mapping == bin_mapping::fastrange) return {unit * count, 1, count};
  else return {unit, units, count};
}

/// The unit of bin `number`.
template <bin_mapping Mapping>
constexpr std::uint64_t unit_of_bin(std::uint64_t bins, std::uint64_t units, std::uint64_t number) noexcept {
  if (number == bins) return units;
  if constexpr (Mapping == bin_mapping::fastrange) return number / (bins / units);
  else return number % units;
}

/// Takes `count` neighbouring link buckets. Returns the number of the first one plus one, or 0 if there are not enough.
template <class Threads> std::uint64_t take_links(index<Threads>& at, std::uint64_t count) noexcept {
  // relaxed: only numbers; the buckets are zero, and the thread that chains them publishes them
  std::uint64_t used = at.links_used.load(sync::relaxed);
  do {
    if (used + count > at.link_count) return 0;
    // relaxed: as above
  } while (!at.links_used.compare_exchange(used, used + count, sync::relaxed, sync::relaxed));
  return used + 1;
}

} // namespace cubby::inline v0::detail::engines::dlht
