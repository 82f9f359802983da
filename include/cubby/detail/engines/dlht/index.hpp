// SPDX-License-Identifier: Apache-2.0
// An index's memory, its mapping from hashes to bins, and its units of transfer (section 3.2.5).
// Sizes of neighbours differ by an integral factor, so a unit (one bin growing, several shrinking) and the bins that
// it fills touch nobody else's: transfer needs no compare-and-swap on the new side.
#pragma once

#include <new>

#include <cubby/detail/engines/dlht/layout.hpp>

namespace cubby::inline v0::detail::engines::dlht {

/// 64 TiB of bins: more than there is memory for, and products of sizes below it do not wrap.
inline constexpr std::uint64_t most_bins = std::uint64_t{1} << 40;

/// A zeroed index, or null when there is no memory. Touches only what it must: pages of a large one arrive at first use.
template <class Threads>
index<Threads>* make_index(std::uint64_t bin_count, std::uint64_t link_count) noexcept {
  constexpr std::uint64_t most_links = low_half - 2; // link numbers plus one fit 32 bits
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
  // Zero bytes are a bin with every slot invalid and cleared, so the mapping is used as it comes.
  made->bins = reinterpret_cast<bin<Threads>*>(made->pages.address);
  made->links = reinterpret_cast<link_bucket<Threads>*>(made->bins + bin_count + 1);
  made->bin_count = bin_count;
  made->asked_bins.store(bin_count, sync::relaxed); // relaxed: nobody else sees it yet
  made->link_count = link_count;
  return made;
}

/// Key words 0 to 3 are kept as 4 to 7 in the side bin.
constexpr bool is_reserved(std::uint64_t word) noexcept { return word < reserved_words; }
constexpr std::uint64_t stored_word(std::uint64_t word) noexcept {
  return word + (is_reserved(word) ? reserved_words : 0);
}

template <bin_mapping Mapping> constexpr std::uint64_t map_hash(std::uint64_t hash, std::uint64_t bins) noexcept {
  if constexpr (Mapping == bin_mapping::fastrange) return cpu::multiply(hash, bins).high;
  else return hash % bins;
}

/// The number of the bin where `probe` belongs; `bin_count` for the side bin.
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE std::uint64_t bin_number(const index<Threads>& at, const word_probe& probe) noexcept {
  const std::uint64_t mapped = map_hash<Policy::mapping>(probe.hash, at.bin_count);
  return is_reserved(probe.word) ? at.bin_count : mapped;
}

/// How the bins of one index spread over the next one. `first` + i * `step` for i < `count` are bin numbers.
struct bin_range {
  std::uint64_t first = 0;
  std::uint64_t step = 1;
  std::uint64_t count = 1;
};

/// The bins that make up `unit` in an index of `bins` bins, of which there are a multiple of `units`.
template <bin_mapping Mapping>
constexpr bin_range bins_of_unit(std::uint64_t bins, std::uint64_t units, std::uint64_t unit) noexcept {
  if (unit == units) return {bins, 1, 1};
  const std::uint64_t count = bins / units;
  if constexpr (Mapping == bin_mapping::fastrange) return {unit * count, 1, count};
  else return {unit, units, count};
}

/// The unit that bin `number` belongs to.
template <bin_mapping Mapping>
constexpr std::uint64_t unit_of_bin(std::uint64_t bins, std::uint64_t units, std::uint64_t number) noexcept {
  if (number == bins) return units;
  if constexpr (Mapping == bin_mapping::fastrange) return number / (bins / units);
  else return number % units;
}

/// Takes `count` neighbouring link buckets; returns the first one's number plus one, or 0 when there are not enough.
template <class Threads> std::uint64_t take_links(index<Threads>& at, std::uint64_t count) noexcept {
  // relaxed: numbers only; the buckets are zero and are published by the thread that chains them
  std::uint64_t used = at.links_used.load(sync::relaxed);
  do {
    if (used + count > at.link_count) return 0;
    // relaxed: as above
  } while (!at.links_used.compare_exchange(used, used + count, sync::relaxed, sync::relaxed));
  return used + 1;
}

} // namespace cubby::inline v0::detail::engines::dlht
