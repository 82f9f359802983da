// SPDX-License-Identifier: Apache-2.0
// What the relativistic engine stores (section 3): nodes, each with an entry that never changes its address, and arrays of bucket heads.
//   link   [63 address of a node 3 | replaced 2 | hidden 1 | dead 0]   in a node; the marks are those of that node
//   head   the same without marks; or [... | moved 0]                  the chain has moved to the next array
// Invariants, which each writer keeps (README.md has the argument):
//   N1  A reader that follows links from the head of a bucket meets each live node of that bucket. While a larger array is being
//       unzipped it may also meet nodes of other buckets. The same holds from each link at which a reader may be.
//   N2  A link changes only under the lock of its node's stripe. The link of a dead node does not change any more.
//   N3  A node is marked dead before the links to it are removed, and all of them are removed before it is retired. The link of a
//       replaced node (of a record) leads to its replacement, before any other link does.
//   N4  In the order of hashes that `comes_before` defines, a link never leads to a node before its own, and the head of a bucket
//       never to a node before the bucket's own. So a reader that has passed the nodes of its bucket needs no more of the chain.
//       A reader that has not passed them is at no node of an earlier bucket.
//   N5  Only the holder of a node in its stripe's list `held` changes, replaces or removes the node.
//   N6  In a growth by more than `most_siblings`, the path of a bucket that is not in `sibling_list` has only the bucket's own nodes.
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

/// The number of locks, and the least number of buckets: the lock of a hash does not depend on the size of the table.
inline constexpr std::uint64_t stripe_count = 64;
/// 8 TiB of heads, which no machine has memory for. Products of sizes below it do not wrap.
inline constexpr std::uint64_t most_buckets = std::uint64_t{1} << 40;

namespace mark {
inline constexpr std::uint64_t dead = 1;     // removed: readers skip it, and its value is undefined
inline constexpr std::uint64_t hidden = 2;   // a reservation: readers skip it, and inserts of its key fail
inline constexpr std::uint64_t replaced = 4; // in a record table: the link leads to the node that has replaced it
inline constexpr std::uint64_t gone = dead | replaced; // unlinked: it does not change any more
inline constexpr std::uint64_t all = 7;
} // namespace mark
namespace head_mark {
inline constexpr std::uint64_t moved = 1; // the chain is in the next array
} // namespace head_mark

/// The order of chains, as in split-ordered lists: by the lowest bit in which two hashes differ. For any number of low bits that choose
/// a bucket, the nodes of one bucket are neighbours in it.
constexpr bool comes_before(std::uint64_t hash, std::uint64_t other) noexcept {
  const std::uint64_t differ = hash ^ other;
  return (other & differ & (~differ + 1)) != 0;
}
/// The next bucket after `bucket` in that order, among the buckets that differ only in the bits of `ways`. After the last comes the
/// first. It adds one in reversed bit order.
constexpr std::uint64_t next_sibling(std::uint64_t bucket, std::uint64_t ways) noexcept {
  std::uint64_t bit = std::bit_floor(ways);
  for (; (bucket & bit & ways) != 0; bit /= 2) bucket ^= bit;
  return bucket | (bit & ways);
}

struct node {
  sync::word<std::uint64_t> next;
  std::uint64_t key = 0; // constant once the node is linked
  sync::word<std::uint64_t> value;
};
static_assert(sizeof(node) == 24 && alignof(node) == 8);

CUBBY_ALWAYS_INLINE node* node_at(std::uint64_t link) noexcept { return std::bit_cast<node*>(link & ~mark::all); }
inline std::uint64_t link_to(const node& n) noexcept { return std::bit_cast<std::uint64_t>(&n); }

/// A new node that is not linked yet; null without memory. The node of a record lies in the record.
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
/// For word tables.
inline void free_node(node* gone) noexcept { detail::give_raw(gone); }

/// Retired nodes of word tables are linked through their value words. A reader that finds a node dead does not use its value.
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

/// The buckets of each family that a wide growth has given a chain. During the growth only these can lead to nodes of one another: a
/// bucket without a chain has only later inserts, which lead to no other bucket (N6). So the other buckets need not be searched.
struct sibling_list {
  struct run {
    std::uint32_t first;
    std::uint32_t count; ///< the family's buckets in the list; too_many: search all
  };
  static constexpr std::uint32_t too_many = ~std::uint32_t{0};
  run* runs = nullptr; ///< one for each family; changed under the lock of its stripe; null: the growth is not wide
  std::uint64_t* buckets = nullptr;
  std::uint32_t used = 0; ///< used by the resizing thread only
  std::uint32_t space = 0;

  static std::uint64_t bytes_for(std::uint64_t families, std::uint64_t space) noexcept {
    return families * sizeof(run) + space * sizeof(std::uint64_t);
  }
  /// Makes the list in zeroed memory of that size.
  void lay_out(std::byte* at, std::uint64_t families, std::uint64_t most) noexcept {
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

/// The bucket heads of a table of one size. The low bits of the hash choose the bucket.
struct alignas(cpu::cache_line) bucket_array {
  sync::word<std::uint64_t>* heads = nullptr;
  std::uint64_t mask = 0; // buckets minus one
  /// Buckets whose numbers agree under this mask may share nodes. Equal to `mask` if each chain has only its own nodes.
  sync::word<std::uint64_t> family_mask;
  sync::word<bucket_array*> next; // the array to which chains move; set once
  memory::region pages;
  sibling_list siblings; // behind the heads, in the same mapping
};

/// Calls `f(bucket)` for each bucket of a family that may share nodes with others, `step` buckets apart. Under the lock of its stripe.
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

/// An array of `buckets` empty chains; null without memory. For a wide growth it has space for `families` and `listed` siblings. A
/// header in front of the heads would cost small tables a page and large ones a huge page.
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
  // Zero bytes are an empty chain, so the mapping needs no initialization.
  made->heads = reinterpret_cast<sync::word<std::uint64_t>*>(made->pages.address);
  made->mask = buckets - 1;
  if (families != 0) made->siblings.lay_out(made->pages.address + heads, families, listed);
  // relaxed: not yet shared
  made->family_mask.store(made->mask, sync::relaxed);
  return made;
}

} // namespace cubby::inline v0::detail::engines::relativistic
