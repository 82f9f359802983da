// SPDX-License-Identifier: Apache-2.0
// What the relativistic engine stores: nodes, each an entry that keeps its address for life, and arrays of bucket heads.
//   link   [63 address of a node 3 | replaced 2 | hidden 1 | dead 0]   in a node: marks of that node itself
//   head   the same without marks; or [... | moved 0]                  the chain has moved to the next array
// Invariants, which every writer keeps (README.md has the argument):
//   N1  From the head of a bucket, following links, every live node of that bucket is met; nodes of other buckets may
//       be, too, while a larger array is being unzipped. The same from every link that a reader may stand on.
//   N2  A link changes only under the lock of its node's stripe; a dead node's link does not change any more.
//   N3  A node is marked dead before it is unlinked from every link that leads to it, and unlinked before it is retired.
//       A replaced one (of a record) leads to the node that has its key now, before any link that led to it does.
//   N4  A link leads to a node that does not come before its own in the order of hashes that `comes_before` says, and the
//       head of a bucket to no node that comes before the bucket's own. So a reader that has passed the nodes of its
//       bucket needs nothing more of its chain, and one that has not is on no node of an earlier bucket.
//   N5  A node that is in its stripe's list of held ones is changed, replaced and removed by its holder alone.
//   N6  In a growth by more than `most_siblings`, the paths of buckets that are not in `sibling_list` have their own nodes alone.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

#include <cubby/detail/core/raw_memory.hpp>
#include <cubby/detail/core/retired.hpp>
#include <cubby/detail/platform/memory.hpp>
#include <cubby/detail/platform/sync.hpp>

namespace cubby::inline v0::detail::engines::relativistic {

/// Locks of a table, and its least number of buckets: a hash has the same lock whatever the size of the table.
inline constexpr std::uint64_t stripe_count = 64;
/// 8 TiB of heads: more than there is memory for, and products of sizes below it do not wrap.
inline constexpr std::uint64_t most_buckets = std::uint64_t{1} << 40;

namespace mark {
inline constexpr std::uint64_t dead = 1;     // removed: readers pass it by, and its value is not to be read
inline constexpr std::uint64_t hidden = 2;   // a reservation: readers pass it by, inserts of its key fail
inline constexpr std::uint64_t replaced = 4; // of a record table: the link leads to the node that has taken its place
inline constexpr std::uint64_t gone = dead | replaced; // unlinked: nothing is changed in it any more
inline constexpr std::uint64_t all = 7;
} // namespace mark
namespace head_mark {
inline constexpr std::uint64_t moved = 1; // look into the next array
} // namespace head_mark

/// The order of chains, that of split-ordered lists: by the lowest bit in which two hashes differ. Whatever number of low
/// bits chooses a bucket, the nodes of one bucket lie side by side, and in a smaller array behind those of another.
constexpr bool comes_before(std::uint64_t hash, std::uint64_t other) noexcept {
  const std::uint64_t differ = hash ^ other;
  return (other & differ & (~differ + 1)) != 0;
}
/// The bucket whose nodes follow those of `bucket` in that order, of buckets that differ in the bits of `ways` alone; behind
/// the last the first. Adds one with the highest bit as the ones.
constexpr std::uint64_t next_sibling(std::uint64_t bucket, std::uint64_t ways) noexcept {
  std::uint64_t bit = std::bit_floor(ways);
  for (; (bucket & bit & ways) != 0; bit /= 2) bucket ^= bit;
  return bucket | (bit & ways);
}

struct node {
  sync::word<std::uint64_t> next;
  std::uint64_t key = 0; // constant once the node can be reached
  sync::word<std::uint64_t> value;
};
static_assert(sizeof(node) == 24 && alignof(node) == 8);

CUBBY_ALWAYS_INLINE node* node_at(std::uint64_t link) noexcept { return std::bit_cast<node*>(link & ~mark::all); }
inline std::uint64_t link_to(const node& n) noexcept { return std::bit_cast<std::uint64_t>(&n); }

/// A node that nobody can reach yet, or null without memory. A record's node lies in front of the record: one allocation,
/// which goes with the record.
template <class Policy> node* make_node(std::uint64_t key, std::uint64_t value, std::uint64_t link) noexcept {
  void* space = nullptr;
  if constexpr (Policy::unique_words) space = Policy::front_of(value);
  else space = detail::take_raw<node>(1);
  if (space == nullptr) return nullptr;
  auto* const made = ::new (space) node;
  made->key = key;
  // relaxed: a thread that links the node publishes both
  made->value.store(value, sync::relaxed);
  made->next.store(link, sync::relaxed); // relaxed: as above
  return made;
}
/// Of a word table.
inline void free_node(node* gone) noexcept { detail::give_raw(gone); }

/// Retired nodes of word tables wait in their value words: a reader that has found the node dead does not use what it read there.
struct node_policy {
  static constexpr bool unique_words = true;
  class link_word {
  public:
    explicit link_word(node& n) noexcept : node_(n) {}
    link_word& operator=(std::uint64_t chain) noexcept {
      // [mark-dead-node] release: pairs with [read-value]; a thread that reads this instead of a value then sees the node dead
      node_.value.store(chain, sync::release);
      return *this;
    }
    operator std::uint64_t() const noexcept {
      // relaxed: the bag's lock orders its own accesses
      return node_.value.load(sync::relaxed);
    }

  private:
    node& node_;
  };
  [[nodiscard]] static link_word retire_link(std::uint64_t word) noexcept { return link_word(*node_at(word)); }
  static void dispose(std::uint64_t word) noexcept { free_node(node_at(word)); }
};

/// Which buckets of each family a wide growth has given a chain. While it is under way only these can lead to one another's
/// nodes: a bucket that got none holds later inserts alone, which lead to nothing (N6). So nobody looks at the others.
struct sibling_list {
  struct run {
    std::uint32_t first;
    std::uint32_t count; ///< of the family's buckets in the list; too_many: look at all
  };
  static constexpr std::uint32_t too_many = ~std::uint32_t{0};
  run* runs = nullptr; ///< one for each family, changed under the lock of its stripe; null: the growth is not wide
  std::uint64_t* buckets = nullptr;
  std::uint32_t used = 0; ///< the resizer's
  std::uint32_t space = 0;

  static std::uint64_t bytes_for(std::uint64_t families, std::uint64_t space) noexcept {
    return families * sizeof(run) + space * sizeof(std::uint64_t);
  }
  /// Into zeroed memory of that size.
  void settle(std::byte* at, std::uint64_t families, std::uint64_t most) noexcept {
    runs = reinterpret_cast<run*>(at);
    buckets = reinterpret_cast<std::uint64_t*>(at + families * sizeof(run));
    space = static_cast<std::uint32_t>(most);
  }
  void add(std::uint64_t family, std::uint64_t bucket) noexcept {
    run& r = runs[family];
    if (r.count == too_many) return;
    if (r.count == 0) r.first = used;
    if (used == space) {
      r.count = too_many;
      return;
    }
    buckets[used++] = bucket;
    ++r.count;
  }
};

/// The heads of a table of one size. A bucket is chosen by the low bits of the hash.
struct alignas(cpu::cache_line) bucket_array {
  sync::word<std::uint64_t>* heads = nullptr;
  std::uint64_t mask = 0; // buckets minus one
  /// Buckets whose numbers agree under this mask may share nodes; `mask` when every chain is precise.
  sync::word<std::uint64_t> family_mask;
  sync::word<bucket_array*> next; // where chains move to; set once
  memory::region pages;
  sibling_list siblings; // behind the heads, in the same mapping
};

/// `f(bucket)` for each bucket of a family, `step` buckets apart, that may share nodes with others. Under the lock of its stripe.
template <class F>
void for_each_sibling(const bucket_array& at, std::uint64_t family, std::uint64_t step, F f) noexcept {
  const sibling_list& list = at.siblings;
  if (list.runs != nullptr && list.runs[family].count != sibling_list::too_many) {
    const sibling_list::run r = list.runs[family];
    for (std::uint32_t i = 0; i < r.count; ++i) f(list.buckets[r.first + i]);
    return;
  }
  for (std::uint64_t b = family; b <= at.mask; b += step) f(b);
}

/// `buckets` empty chains, or null without memory; for a wide growth of so many families with space for `listed` siblings. A
/// header in front of the heads would cost the smallest tables a page, and large ones a huge page.
inline bucket_array* make_array(std::uint64_t buckets, std::uint64_t families = 0, std::uint64_t listed = 0) noexcept {
  if (buckets > most_buckets) return nullptr;
  auto* const made = new (std::nothrow) bucket_array;
  if (made == nullptr) return nullptr;
  const std::uint64_t heads = buckets * sizeof(sync::word<std::uint64_t>);
  made->pages = memory::allocate(heads + sibling_list::bytes_for(families, listed));
  if (made->pages.address == nullptr) {
    delete made;
    return nullptr;
  }
  // Zero bytes are an empty chain, so the mapping is used as it comes.
  made->heads = reinterpret_cast<sync::word<std::uint64_t>*>(made->pages.address);
  made->mask = buckets - 1;
  if (families != 0) made->siblings.settle(made->pages.address + heads, families, listed);
  // relaxed: not yet shared
  made->family_mask.store(made->mask, sync::relaxed);
  return made;
}

} // namespace cubby::inline v0::detail::engines::relativistic
