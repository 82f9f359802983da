// SPDX-License-Identifier: Apache-2.0
// oneTBB's concurrent_hash_map: chained, a reader-writer lock in every node, resized on demand.
#include <oneapi/tbb/concurrent_hash_map.h>

#include "arena.hpp"
#include "table_of.hpp"

namespace bench {

namespace {

template <class K> struct tbb_compare {
  key_hash<K> hasher;
  std::size_t hash(const K& k) const { return hasher(k); }
  bool equal(const K& a, const K& b) const { return a == b; }
};

template <class K, class V> class tbb_adapter {
public:
  using key = K;
  using value = V;
  static constexpr bool stores = true;
  static constexpr std::size_t most_threads = static_cast<std::size_t>(-1);
  static constexpr std::size_t arena_index = static_cast<std::size_t>(engine_id::tbb);
  using map = tbb::concurrent_hash_map<K, V, tbb_compare<K>, arena_allocator<std::pair<const K, V>, arena_index>>;

  explicit tbb_adapter(const table_spec& spec) : map_(spec.capacity, tbb_compare<K>{key_hash<K>{spec.seed}}) {}
  std::size_t own_bytes() const { return 0; }

  class thread_record {
  public:
    explicit thread_record(tbb_adapter& a) : map_(a.map_) {}
    bool find(const K& k, V& v) {
      typename map::const_accessor at;
      if (!map_.find(at, k)) return false;
      v = at->second;
      return true;
    }
    bool insert(const K& k, const V& v) { return map_.emplace(k, v); }
    bool erase(const K& k) { return map_.erase(k); }
    bool assign(const K& k, const V& v) {
      typename map::accessor at;
      if (!map_.find(at, k)) return false;
      at->second = v;
      return true;
    }
    bool modify(const K& k) {
      typename map::accessor at;
      if (!map_.find(at, k)) return false;
      at->second = from_word<V>(first_word(at->second) + 1);
      return true;
    }

  private:
    map& map_;
  };

private:
  map map_;
};

} // namespace

std::unique_ptr<table> make_tbb(const table_spec& spec) { return build<tbb_adapter>(spec); }

} // namespace bench
