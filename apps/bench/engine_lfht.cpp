// SPDX-License-Identifier: Apache-2.0
// liburcu's cds_lfht: split-ordered lists under quiescent-state RCU, its cheapest flavour for readers. Each worker
// reports a quiescent state every few operations, and waits for a grace period before it frees a lot of nodes.
#include <urcu/urcu-qsbr.h>

#include <urcu/rculfhash.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "arena.hpp"
#include "huge_mmap.hpp"
#include "table_of.hpp"

namespace bench {

namespace {

constexpr std::size_t lfht_arena = static_cast<std::size_t>(engine_id::lfht);

template <class K, class V> struct lfht_entry {
  cds_lfht_node node;
  K key;
  V value;
};

template <class K, class V> class lfht_adapter {
public:
  using key = K;
  using value = V;
  using entry = lfht_entry<K, V>;
  static constexpr bool stores = true;
  static constexpr std::size_t most_threads = static_cast<std::size_t>(-1);

  explicit lfht_adapter(const table_spec& spec) : hash_{spec.seed} {
    const std::size_t buckets = std::bit_ceil(spec.capacity);
    table_ = _cds_lfht_new(buckets, buckets, std::size_t{1} << 32, 0, &cds_lfht_mm_mmap, &urcu_qsbr_flavor, nullptr);
    if (table_ == nullptr) throw std::bad_alloc();
    buckets_ = take_reservation();
    grower_ = std::thread([this, buckets] { grow(buckets); });
  }
  lfht_adapter(const lfht_adapter&) = delete;
  lfht_adapter& operator=(const lfht_adapter&) = delete;

  // cds_lfht_destroy demands an empty table, and removing millions of keys one by one takes longer than the measurement.
  // No thread uses the table any more: its buckets go back as a whole, its nodes with the arena. A few KB of its head stay.
  ~lfht_adapter() {
    stop_ = true;
    grower_.join();
    if constexpr (!std::is_trivially_destructible_v<entry>) destroy_text();
    unmap(buckets_.start, buckets_.bytes);
  }

  std::size_t own_bytes() const { return 0; }

  class thread_record {
  public:
    explicit thread_record(lfht_adapter& a) : table_(a.table_), entries_(a.entries_), hash_(a.hash_) {
      urcu_qsbr_register_thread();
    }
    thread_record(const thread_record&) = delete;
    thread_record& operator=(const thread_record&) = delete;
    ~thread_record() {
      entries_ += gained_;
      free_dead();
      urcu_qsbr_unregister_thread();
    }

    bool find(const K& k, V& v) {
      const entry* e = look(k);
      if (e != nullptr) v = load(*e);
      pause();
      return e != nullptr;
    }

    bool insert(const K& k, const V& v) {
      entry* e = make(k, v);
      const bool added = cds_lfht_add_unique(table_, hash_(k), same, &k, &e->node) == &e->node;
      added ? void(++gained_) : destroy(e);
      pause();
      return added;
    }

    bool erase(const K& k) {
      entry* e = look(k);
      const bool gone = e != nullptr && cds_lfht_del(table_, &e->node) == 0;
      if (gone) {
        --gained_;
        retire(e);
      }
      pause();
      return gone;
    }

    // A value of one word is stored in place, which is what lfht's users do; a larger one needs a new node.
    bool assign(const K& k, const V& v) {
      entry* e = look(k);
      bool done = e != nullptr;
      if constexpr (sizeof(V) == 8) {
        if (done) std::atomic_ref<V>(e->value).store(v, std::memory_order_release);
      } else {
        done = done && replace(k, v);
      }
      pause();
      return done;
    }

    bool modify(const K& k) {
      entry* e = look(k);
      bool done = e != nullptr;
      if constexpr (sizeof(V) == 8) {
        if (done) std::atomic_ref<V>(e->value).fetch_add(1);
      } else {
        done = done && replace(k, from_word<V>(first_word(e->value) + 1));
      }
      pause();
      return done;
    }

  private:
    entry* look(const K& k) {
      cds_lfht_lookup(table_, hash_(k), same, &k, &at_);
      cds_lfht_node* node = cds_lfht_iter_get_node(&at_);
      return node == nullptr ? nullptr : entry_of(node);
    }

    static V load(const entry& e) {
      if constexpr (sizeof(V) == 8) return std::atomic_ref<V>(const_cast<V&>(e.value)).load(std::memory_order_acquire);
      else return e.value;
    }

    bool replace(const K& k, const V& v) {
      entry* fresh = make(k, v);
      entry* old = entry_of(cds_lfht_iter_get_node(&at_));
      while (cds_lfht_replace(table_, &at_, hash_(k), same, &k, &fresh->node) != 0) {
        old = look(k);
        if (old == nullptr) {
          destroy(fresh);
          return false;
        }
      }
      retire(old);
      return true;
    }

    void retire(entry* e) {
      dead_.push_back(e);
      if (dead_.size() == 1024) free_dead();
    }

    void free_dead() {
      if (dead_.empty()) return;
      urcu_qsbr_synchronize_rcu();
      for (entry* e : dead_) destroy(e);
      dead_.clear();
    }

    void pause() {
      if (++calls_ % 64 != 0) return;
      urcu_qsbr_quiescent_state();
      if (gained_ != 0) entries_ += std::exchange(gained_, 0);
    }

    cds_lfht* table_;
    std::atomic<long>& entries_;
    key_hash<K> hash_;
    cds_lfht_iter at_{};
    std::vector<entry*> dead_;
    unsigned calls_ = 0;
    long gained_ = 0; // inserts less erases that `entries_` does not count yet
  };

private:
  using allocator = arena_allocator<entry, lfht_arena>;

  static entry* entry_of(cds_lfht_node* node) { return reinterpret_cast<entry*>(node); }
  static int same(cds_lfht_node* node, const void* k) { return entry_of(node)->key == *static_cast<const K*>(k); }

  static entry* make(const K& k, const V& v) {
    entry* e = allocator().allocate(1);
    return ::new (static_cast<void*>(e)) entry{{}, k, v};
  }
  static void destroy(entry* e) {
    e->~entry();
    allocator().deallocate(e, 1);
  }

  // Keeps one bucket for each entry, from a thread of its own as CDS_LFHT_AUTO_RESIZE does. That flag is not used. In
  // liburcu 0.13 it marks a resize as begun after it has queued it. So a resize that is over by then stays marked, and
  // the table never grows again.
  void grow(std::size_t buckets) {
    urcu_qsbr_register_thread();
    while (!stop_) {
      const std::size_t wanted = std::bit_ceil(static_cast<std::size_t>(std::max<long>(1, entries_.load())));
      if (wanted > buckets) {
        cds_lfht_resize(table_, wanted);
        buckets = wanted;
      }
      urcu_qsbr_thread_offline();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      urcu_qsbr_thread_online();
    }
    urcu_qsbr_unregister_thread();
  }

  // Text owns memory outside the arena.
  void destroy_text() {
    urcu_qsbr_register_thread();
    cds_lfht_iter at;
    cds_lfht_first(table_, &at);
    while (cds_lfht_node* node = cds_lfht_iter_get_node(&at)) {
      cds_lfht_next(table_, &at);
      std::destroy_at(&entry_of(node)->key);
    }
    urcu_qsbr_unregister_thread();
  }

  cds_lfht* table_ = nullptr;
  reservation buckets_;
  std::atomic<long> entries_{0};
  std::atomic<bool> stop_{false};
  std::thread grower_;
  key_hash<K> hash_;
};

} // namespace

std::unique_ptr<table> make_lfht(const table_spec& spec) { return build<lfht_adapter>(spec); }

} // namespace bench
