// SPDX-License-Identifier: Apache-2.0
// The overflow chains: how many there are, and which one an entry belongs to. The paper's table has as many as its first size asks for
// (section 3.1), so in a table that has grown each would be as long as the growth was large.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include <cubby/detail/engines/iceberg/table.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

/// Which chain an entry belongs to. By the low half of a hash whose high bits choose a back bucket, and the middle ones its copy: a back bucket
/// that is crowded does not crowd a chain.
template <class Policy> std::uint64_t chain_number(const chain_array& in, std::uint64_t hash) noexcept {
  return cpu::multiply(std::rotl(back_hash(hash, 0), 32), in.count).high;
}

/// The marks of an entry in the filter of its chain: one or two of 63 bits, by the high bits of the hash whose low ones choose the chain. With
/// the eight nodes that a chain has at the bound of a `fixed` table, few misses meet both and read the nodes. The paper has no filter:
/// docs/performance/iceberg.md, "Churn at the bound".
inline std::uint64_t chain_marks(std::uint64_t hash) noexcept {
  const std::uint64_t bits = back_hash(hash, 0);
  const auto mark = [](std::uint64_t six) { return std::uint64_t{2} << (six * 63 >> 6); };
  return mark(bits >> 58) | mark(bits >> 52 & 63);
}
/// Whether a chain may have an entry with this hash.
template <class Policy> bool may_be_chained(const chain_array& in, std::uint64_t hash) noexcept {
  // [marks] acquire: pairs with [unlock-chain]; a lookup that misses the entry of a move sees the version that the move has raised
  const std::uint64_t filter = in.heads[chain_number<Policy>(in, hash)].filter.load(sync::acquire);
  return (~filter & chain_marks(hash)) == 0;
}

inline constexpr std::uint64_t chain_locked = 1;
/// Locks a chain. Returns its filter.
inline std::uint64_t lock_chain(chain& c) noexcept {
  // [lock-chain] acquire: pairs with [unlock-chain]
  return lock_word(c.filter, chain_locked);
}
inline void unlock_chain(chain& c, std::uint64_t filter) noexcept {
  // [unlock-chain] release: pairs with [lock-chain], and with [marks]
  c.filter.store(filter, sync::release);
}

/// A node that is not linked; null without memory.
template <class Policy> node<Policy>* make_node([[maybe_unused]] table<Policy>& t) noexcept {
  auto* const space = take_raw<node<Policy>>(1);
  if (space == nullptr) return nullptr;
  auto* const made = ::new (static_cast<void*>(space)) node<Policy>;
  if constexpr (durable<Policy>) {
    made->where = t.overflow.take();
    if (made->where == nullptr) {
      give_raw(made);
      return nullptr;
    }
  }
  return made;
}
template <class Policy> void give_node([[maybe_unused]] table<Policy>& t, node<Policy>* unlinked) noexcept {
  t.nodes.dispose(std::bit_cast<std::uint64_t>(unlinked));
}

/// Calls `f(array)` for each array of chains, the newest first, which has nearly all entries.
template <class Table, class F> void for_each_chain_array(Table& t, F f) {
  // [chain-arrays] acquire: pairs with [add-chains]
  for (std::uint64_t n = t.chain_arrays.load(sync::acquire); n-- != 0;) f(t.chains[n]);
}
/// Whether any chain may have an entry with this hash.
template <class Policy> bool may_be_chained(const table<Policy>& t, std::uint64_t hash) noexcept {
  bool may = false;
  for_each_chain_array(t, [&](const chain_array& in) { may = may || may_be_chained<Policy>(in, hash); });
  return may;
}

/// The array into which entries are put.
template <class Table> auto& newest_chains(Table& t) noexcept {
  return t.chains[t.chain_arrays.load(sync::acquire) - 1]; // [chain-arrays] acquire: pairs with [add-chains]
}
/// Asks for the head of the newest chain of a hash.
template <class Policy> void prefetch_chain(const table<Policy>& t, std::uint64_t hash) noexcept {
  const chain_array& in = newest_chains(t);
  prefetch_line(&in.heads[chain_number<Policy>(in, hash)]);
}

template <class Policy> bool is_linked(chain& c, const node<Policy>& n) noexcept {
  const std::uint64_t filter = lock_chain(c);
  // relaxed, both: chains change under the lock
  std::uint64_t link = c.first.load(sync::relaxed);
  while (link != 0 && node_at<Policy>(link) != &n) link = node_at<Policy>(link)->next.load(sync::relaxed);
  unlock_chain(c, filter);
  return link != 0;
}
/// Unlinks the node of an entry from a chain, whose filter has the marks of the others after that. False: it is in another one.
template <class Policy> bool unlink_from(chain& c, const slot_of<Policy>& gone) noexcept {
  const std::uint64_t filter = lock_chain(c);
  sync::word<std::uint64_t>* from = &c.first;
  bool done = false;
  std::uint64_t others = 0;
  while (const std::uint64_t link = from->load(sync::relaxed)) { // relaxed: chains change under the lock
    auto& n = *node_at<Policy>(link);
    if (&n.entry() == &gone) {
      // [put-link] release: pairs with [link]
      from->store(n.next.load(sync::relaxed), sync::release); // relaxed, the load: as above
      done = true;
    } else {
      others |= n.retired;
      from = &n.next;
    }
  }
  unlock_chain(c, done ? others : filter);
  return done;
}
/// Unlinks the node of an entry.
template <class Policy> void unlink(table<Policy>& t, std::uint64_t hash, const slot_of<Policy>& gone) noexcept {
  bool done = false;
  for_each_chain_array(t, [&](chain_array& in) {
    if (done || !unlink_from<Policy>(in.heads[chain_number<Policy>(in, hash)], gone)) return;
    in.nodes.fetch_add(~std::uint64_t{0}, sync::relaxed); // relaxed: after the entry has left
    done = true;
  });
}

/// Whether an array has entries. A growth does not look into one that has none: it has stored its root before, and an insert that counts itself
/// later sees that root and goes elsewhere (`link_node`).
inline bool has_entries(const chain_array& in) noexcept {
  return in.nodes.load(sync::seq_cst) != 0; // [see-nodes] seq_cst: pairs with [count-node]
}

/// How many entries a chain has, on average, when a table that cannot grow takes no more. A miss in a full table then reads some
/// 30 lines (computed, not tuned).
inline constexpr std::uint64_t most_chained = 32;
/// Whether the chains take no further entry. While a growth moves entries they take each one, because it empties them; without memory for a
/// growth searches would take ever longer.
template <class Policy> bool chains_are_full(table<Policy>& t) noexcept {
  if (t.refused.load(sync::relaxed) == 0) return false; // relaxed: a hint
  const chain_array& in = newest_chains(t);
  return in.nodes.load(sync::relaxed) >=
         in.count * most_chained; // relaxed: a bound that several threads may pass by one
}

/// Adds chains for a table of so many doublings, a chain for three front buckets. Before the table is shared, or under `resize_lock`.
/// Their memory is touched when they are used. False: there is none; the table works without them, with longer chains.
template <class Policy> bool add_chains(table<Policy>& t, unsigned level) noexcept {
  const std::uint64_t count = t.chain_arrays.load(sync::relaxed); // relaxed: only this thread adds
  const std::uint64_t wanted = (t.fronts << level) / 3 + 16;
  chain_array& made = t.chains[count];
  made.heads = static_cast<chain*>(std::calloc(wanted, sizeof(chain))); // zeros are a chain without entries
  if constexpr (durable<Policy>) made.left = static_cast<std::uint64_t*>(std::calloc(wanted, sizeof(std::uint64_t)));
  if (made.heads == nullptr || (durable<Policy> && made.left == nullptr)) {
    std::free(std::exchange(made.heads, nullptr));
    std::free(std::exchange(made.left, nullptr));
    return false;
  }
  made.count = wanted;
  t.chain_arrays.store(count + 1, sync::release); // [add-chains] release: pairs with [chain-arrays]
  return true;
}
/// Before a growth to `level`: more chains if one would serve more than 16 front buckets. The older ones stay, because a lookup may read
/// them; the growth empties them but for entries that fit nowhere else.
template <class Policy> void add_chains_for_growth(table<Policy>& t, unsigned level) noexcept {
  const std::uint64_t count = t.chain_arrays.load(sync::relaxed); // relaxed: under the lock
  const bool few = t.chains[count - 1].count * 16 < t.fronts << level;
  if (few && count != most_chain_arrays) (void)add_chains(t, level);
}
/// Entries in chains. Exact while no thread writes.
template <class Policy> std::size_t chained_entries(const table<Policy>& t) noexcept {
  std::size_t sum = 0;
  for_each_chain_array(t, [&](const chain_array& one) {
    sum += one.nodes.load(sync::relaxed); // relaxed: a figure
  });
  return sum;
}
template <class Policy> std::size_t bytes_of_chains(const table<Policy>& t) noexcept {
  constexpr std::size_t bytes = sizeof(chain) + (durable<Policy> ? sizeof(std::uint64_t) : 0);
  std::size_t sum = 0;
  for_each_chain_array(t, [&](const chain_array& one) { sum += one.count * bytes; });
  return sum;
}
/// Frees the arrays, and the nodes on `left`. Their entries are freed by the caller.
template <class Policy> void free_chains(table<Policy>& t) noexcept {
  for_each_chain_array(t, [](const chain_array& one) {
    for (std::uint64_t i = 0; one.left != nullptr && i < one.count; ++i) {
      for (std::uint64_t link = one.left[i]; link != 0;) {
        auto* const n = node_at<Policy>(link);
        link = n->retired;
        give_raw(n);
      }
    }
    std::free(one.heads);
    std::free(one.left);
  });
}

} // namespace cubby::inline v0::detail::engines::iceberg
