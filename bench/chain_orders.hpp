// SPDX-License-Identifier: Apache-2.0
// Three ways to resize the chains of the relativistic engine, for integers that are only looked up while one thread resizes.
// One has unsorted chains with one wait for readers a cut (section 4 of its paper). One has sorted chains (4.3: the engine
// as it is). One has sorted chains under heads that grow and shrink in place (4.2).
#pragma once

#include <cstdlib>

#include <cubby/map.hpp>
#include <cubby/relativistic.hpp>

#include <sys/mman.h>

namespace bench {

namespace relativistic = cubby::detail::engines::relativistic;
using integers =
    cubby::detail::codec<std::uint64_t, std::uint64_t, cubby::hash<std::uint64_t>, std::allocator<std::byte>>;

/// What resizes have cost so far.
struct resize_costs {
  std::uint64_t resizes = 0;
  std::uint64_t waits = 0;      // for readers
  std::uint64_t peak_bytes = 0; // of heads
};

inline void wait_for(cubby::rcu::grace_period readers) {
  for (cubby::rcu::reader_backoff wait; !readers.elapsed(); wait.pause()) {
  }
}

/// The engine's table, resized by hand: its policy would not let chains be as long as those that are measured.
class table_by_hand {
public:
  explicit table_by_hand(std::uint64_t buckets) : table_(settings(buckets), integers({}, {}, 0)) {
    if (!relativistic::open(table_)) std::abort();
    table_.bound = ~std::uint64_t{0};
  }
  table_by_hand(const table_by_hand&) = delete;
  table_by_hand& operator=(const table_by_hand&) = delete;
  ~table_by_hand() { relativistic::close(table_); }

  [[nodiscard]] auto probe(std::uint64_t key) const { return table_.policy.probe_of(key); }
  [[nodiscard]] bool find(std::uint64_t key) const { return relativistic::find(table_, probe(key)).found; }
  [[nodiscard]] const resize_costs& costs() const { return costs_; }

protected:
  static cubby::relativistic::options settings(std::uint64_t buckets) {
    cubby::relativistic::options o;
    o.capacity = buckets;
    o.growth = cubby::growth_policy::fixed;
    return o;
  }
  /// As the engine inserts, except for the link that `place` gives.
  template <class Place> void insert_at(std::uint64_t key, Place place) {
    const auto p = probe(key);
    if (relativistic::search(table_.policy, relativistic::first_link(table_, p.hash), p).where != nullptr) return;
    relativistic::node* const made = relativistic::make_node<integers>(p.word, key, 0);
    if (made == nullptr) std::abort();
    const cubby::detail::lock_scope hold(relativistic::stripe_of(table_, p.hash).lock);
    auto& before = place(relativistic::array_of(table_, p.hash), p.hash);
    made->next.store(before.load(cubby::detail::sync::relaxed),
                     cubby::detail::sync::relaxed); // relaxed: not yet shared
    relativistic::put_link(before, relativistic::link_to(*made));
  }
  /// Until the new array is shown; then waits for the readers of the old one.
  void move_chains(std::uint64_t buckets) {
    if (!relativistic::begin_resize(table_, buckets)) std::abort();
    ++costs_.resizes;
    // relaxed: a figure
    const std::uint64_t bytes = table_.array_bytes.load(cubby::detail::sync::relaxed);
    if (bytes > costs_.peak_bytes) costs_.peak_bytes = bytes;
    while (!table_.work.waiting) (void)relativistic::work_on(table_, ~std::uint64_t{0});
    wait_for(table_.work.readers);
    ++costs_.waits;
  }
  /// Frees the old array, which no thread reads any more.
  void leave_old() {
    while (!relativistic::release_old(table_)) {
    }
    relativistic::begin_cuts(table_);
  }

  relativistic::table<integers> table_;
  resize_costs costs_;
};

class sorted_table : public table_by_hand {
public:
  using table_by_hand::table_by_hand;
  void insert(std::uint64_t key) {
    insert_at(key, [this](relativistic::bucket_array& at, std::uint64_t hash) -> auto& {
      return relativistic::link_for(table_.policy, at, hash);
    });
  }
  void resize(std::uint64_t buckets) {
    move_chains(buckets);
    while (relativistic::work_on(table_, ~std::uint64_t{0}) != relativistic::progress::idle) {
    }
  }
  /// A lookup that ends where the key would be: it hashes the key of every node that it passes.
  [[nodiscard]] bool find_or_end_early(std::uint64_t key) const {
    const auto p = probe(key);
    std::uint64_t link = relativistic::first_link(table_, p.hash);
    for (const relativistic::node* n = relativistic::node_at(link); n != nullptr; n = relativistic::node_at(link)) {
      link = n->next.load(cubby::detail::sync::acquire);
      if (n->key == p.word) {
        if ((link & relativistic::mark::dead) == 0) return true;
      } else if (relativistic::comes_before(p.hash, table_.policy.hash_of(n->key, 0))) {
        return false;
      }
    }
    return false;
  }
};

/// Nodes come in front of their chain, and the nodes of a family's buckets lie mixed.
class unsorted_table : public table_by_hand {
public:
  using table_by_hand::table_by_hand;
  void insert(std::uint64_t key) {
    insert_at(key,
              [](relativistic::bucket_array& at, std::uint64_t hash) -> auto& { return at.heads[hash & at.mask]; });
  }
  void resize(std::uint64_t buckets) {
    move_chains(buckets);
    relativistic::resize_work& w = table_.work;
    if (w.to->mask < w.from->mask) {
      leave_old(); // which ends a shrink
      return;
    }
    while (cut_once(*w.from, *w.to)) {
      wait_for(cubby::rcu::grace_period::begin());
      ++costs_.waits;
    }
    leave_old();
    relativistic::end_resize(table_);
  }

private:
  static constexpr std::uint64_t finished = 2; // in an old head, which no other thread reads any more

  /// The first link on a bucket's path that leads to another bucket's node.
  struct seam {
    cubby::detail::sync::word<std::uint64_t>* where = nullptr;
    std::uint64_t behind = 0; // nodes on the path behind that link
    std::uint64_t own = 0;    // where it should lead: the bucket's next node, or nowhere
  };
  [[nodiscard]] seam find_seam(relativistic::bucket_array& at, std::uint64_t bucket) const {
    seam found;
    cubby::detail::sync::word<std::uint64_t>* from = &at.heads[bucket];
    // relaxed, all: no other thread changes links
    for (relativistic::node* n = relativistic::node_at(from->load(cubby::detail::sync::relaxed)); n != nullptr;) {
      const bool own = (relativistic::hash_of(table_.policy, *n) & at.mask) == bucket;
      if (found.where == nullptr && !own) found.where = from;
      if (found.where != nullptr) {
        ++found.behind;
        if (own && found.own == 0) found.own = relativistic::link_to(*n);
      }
      from = &n->next;
      n = relativistic::node_at(from->load(cubby::detail::sync::relaxed)); // relaxed: as above
    }
    return found;
  }
  /// Of the seams of a family, cuts the one with the most nodes behind it. No other bucket's reader can be there: the path that
  /// led there would have a seam before it. False: there is none.
  bool cut_seam(relativistic::bucket_array& at, std::uint64_t number, std::uint64_t step) {
    seam first;
    for (std::uint64_t b = number; b <= at.mask; b += step) {
      const seam s = find_seam(at, b);
      if (s.behind > first.behind) first = s;
    }
    if (first.where == nullptr) return false;
    relativistic::put_link(*first.where, first.own);
    return true;
  }
  /// One cut in each family that needs one; false: none did.
  bool cut_once(relativistic::bucket_array& from, relativistic::bucket_array& to) {
    bool any = false;
    for (std::uint64_t number = 0; number <= from.mask; ++number) {
      auto& head = from.heads[number];
      if (head.load(cubby::detail::sync::relaxed) == finished) continue; // relaxed, both: only this thread is left here
      if (cut_seam(to, number, from.mask + 1)) any = true;
      else head.store(finished, cubby::detail::sync::relaxed); // relaxed: as above
    }
    return any;
  }
};

/// Heads in address space that was reserved for the most that there will ever be. The paper waits for readers once more
/// before it shows another size; here the size is shown by a release store, after which no thread can miss what was written before.
class in_place_table {
public:
  explicit in_place_table(std::uint64_t buckets) {
    pages_ = cubby::detail::memory::allocate(most * sizeof(cubby::detail::sync::word<std::uint64_t>));
    if (pages_.address == nullptr) std::abort();
    at_.heads = reinterpret_cast<cubby::detail::sync::word<std::uint64_t>*>(pages_.address);
    at_.mask = buckets - 1;
    mask_.store(buckets - 1, cubby::detail::sync::relaxed); // relaxed: not yet shared
  }
  in_place_table(const in_place_table&) = delete;
  in_place_table& operator=(const in_place_table&) = delete;
  ~in_place_table() {
    for (std::uint64_t b = 0; b <= at_.mask; ++b) {
      // relaxed, both: no other thread is here
      for (relativistic::node* n = relativistic::node_at(at_.heads[b].load(cubby::detail::sync::relaxed));
           n != nullptr;) {
        relativistic::node* const next =
            relativistic::node_at(n->next.load(cubby::detail::sync::relaxed)); // relaxed: as above
        relativistic::free_node(n);
        n = next;
      }
    }
    cubby::detail::memory::release(pages_);
  }

  [[nodiscard]] bool find(std::uint64_t key) const {
    const auto p = policy_.probe_of(key);
    const std::uint64_t mask = mask_.load(cubby::detail::sync::acquire);
    return relativistic::search(policy_, at_.heads[p.hash & mask].load(cubby::detail::sync::acquire), p).where !=
           nullptr;
  }
  /// While no thread resizes.
  void insert(std::uint64_t key) {
    const auto p = policy_.probe_of(key);
    relativistic::node* const made = relativistic::make_node<integers>(p.word, key, 0);
    if (made == nullptr) std::abort();
    auto& before = relativistic::link_for(policy_, at_, p.hash);
    made->next.store(before.load(cubby::detail::sync::relaxed),
                     cubby::detail::sync::relaxed); // relaxed: not yet shared
    relativistic::put_link(before, relativistic::link_to(*made));
  }
  void resize(std::uint64_t buckets) {
    ++costs_.resizes;
    ++costs_.waits;
    const std::uint64_t larger = std::max(buckets, at_.mask + 1) * sizeof(*at_.heads);
    if (larger > costs_.peak_bytes) costs_.peak_bytes = larger;
    if (buckets > at_.mask + 1) grow(buckets);
    else shrink(buckets);
  }
  [[nodiscard]] const resize_costs& costs() const { return costs_; }

private:
  static constexpr std::uint64_t most = std::uint64_t{1} << 32;

  void show(std::uint64_t mask) {
    mask_.store(mask, cubby::detail::sync::release);
    wait_for(cubby::rcu::grace_period::begin());
  }
  /// Lower heads stay as they are: their own nodes come first in their chains. Readers have not heard of the higher ones.
  void grow(std::uint64_t buckets) {
    const std::uint64_t now = at_.mask + 1;
    for (std::uint64_t b = 0; b < now; ++b) {
      // relaxed, all: no other thread changes links
      for (const relativistic::node* n = relativistic::node_at(at_.heads[b].load(cubby::detail::sync::relaxed));
           n != nullptr;) {
        const std::uint64_t own = relativistic::hash_of(policy_, *n) & (buckets - 1);
        auto& head = at_.heads[own];
        // relaxed, all: as above
        if (own >= now && head.load(cubby::detail::sync::relaxed) == 0)
          head.store(relativistic::link_to(*n), cubby::detail::sync::relaxed);
        n = relativistic::node_at(n->next.load(cubby::detail::sync::relaxed)); // relaxed: as above
      }
    }
    show(buckets - 1);
    at_.mask = buckets - 1;
    at_.family_mask.store(now - 1, cubby::detail::sync::relaxed); // relaxed: only this thread uses it
    for (std::uint64_t b = 0; b < now; ++b) relativistic::cut_chains(policy_, at_, b);
  }
  void shrink(std::uint64_t buckets) {
    const std::uint64_t ways = at_.mask ^ (buckets - 1);
    for (std::uint64_t number = 0; number < buckets; ++number) {
      cubby::detail::sync::word<std::uint64_t>* tail = &at_.heads[number];
      std::uint64_t b = number;
      do {
        // relaxed, all: no other thread changes links
        const std::uint64_t chain = at_.heads[b].load(cubby::detail::sync::relaxed);
        if (b != number && chain != 0) relativistic::put_link(*tail, chain);
        relativistic::node* n = relativistic::node_at(chain);
        for (; n != nullptr; n = relativistic::node_at(tail->load(cubby::detail::sync::relaxed))) tail = &n->next;
        b = relativistic::next_sibling(b, ways);
      } while (b != number);
    }
    const std::uint64_t before = at_.mask + 1;
    show(buckets - 1);
    at_.mask = buckets - 1;
    give_back(buckets, before);
  }
  /// Heads that are not used any more read as zero when the table grows again.
  void give_back(std::uint64_t from, std::uint64_t to) {
    constexpr std::uint64_t page = cubby::detail::memory::small_page / sizeof(*at_.heads);
    for (; from < to && from % page != 0; ++from)
      at_.heads[from].store(0, cubby::detail::sync::relaxed); // relaxed: as above
    if (from < to) (void)madvise(at_.heads + from, (to - from) * sizeof(*at_.heads), MADV_DONTNEED);
  }

  integers policy_{{}, {}, 0};
  cubby::detail::sync::word<std::uint64_t> mask_; // what readers go by; `at_` is the writer's
  relativistic::bucket_array at_;
  cubby::detail::memory::region pages_;
  resize_costs costs_;
};

} // namespace bench
