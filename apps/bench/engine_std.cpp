// SPDX-License-Identifier: Apache-2.0
// std::unordered_map on one thread: what a program without concurrency uses.
#include <unordered_map>

#include "arena.hpp"
#include "table_of.hpp"

namespace bench {

namespace {

// The same hash, without the promise not to throw: libstdc++ then keeps hashes in its nodes instead of making them
// again along each chain.
template <class K> struct kept_hash : key_hash<K> {
  std::size_t operator()(const K& k) const { return static_cast<std::size_t>(key_hash<K>::operator()(k)); }
};

template <class K, class V> class std_adapter {
public:
  using key = K;
  using value = V;
  static constexpr bool stores = true;
  static constexpr std::size_t most_threads = 1;
  static constexpr std::size_t arena_index = static_cast<std::size_t>(engine_id::std_map);
  using map =
      std::unordered_map<K, V, kept_hash<K>, std::equal_to<K>, arena_allocator<std::pair<const K, V>, arena_index>>;

  explicit std_adapter(const table_spec& spec) : map_(0, kept_hash<K>{{spec.seed}}) { map_.reserve(spec.capacity); }
  std::size_t own_bytes() const { return 0; }

  class thread_record {
  public:
    explicit thread_record(std_adapter& a) : map_(a.map_) {}
    bool find(const K& k, V& v) {
      const auto it = map_.find(k);
      if (it == map_.end()) return false;
      v = it->second;
      return true;
    }
    bool insert(const K& k, const V& v) { return map_.emplace(k, v).second; }
    bool erase(const K& k) { return map_.erase(k) != 0; }
    bool assign(const K& k, const V& v) {
      const auto it = map_.find(k);
      if (it != map_.end()) it->second = v;
      return it != map_.end();
    }
    bool modify(const K& k) {
      const auto it = map_.find(k);
      if (it != map_.end()) it->second = from_word<V>(first_word(it->second) + 1);
      return it != map_.end();
    }

  private:
    map& map_;
  };

private:
  map map_;
};

} // namespace

std::unique_ptr<table> make_std(const table_spec& spec) { return build<std_adapter>(spec); }

} // namespace bench
