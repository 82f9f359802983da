// SPDX-License-Identifier: Apache-2.0
// libcuckoo's cuckoohash_map: two buckets of four slots for each key, striped locks.
#include <libcuckoo/cuckoohash_map.hh>

#include "arena.hpp"
#include "table_of.hpp"

namespace bench {

namespace {

template <class K, class V> class cuckoo_adapter {
public:
  using key = K;
  using value = V;
  static constexpr bool stores = true;
  static constexpr std::size_t most_threads = static_cast<std::size_t>(-1);
  static constexpr std::size_t arena_index = static_cast<std::size_t>(engine_id::cuckoo);
  template <class Key> using stored = stored_in_arena<Key, arena_index>;
  using map = libcuckoo::cuckoohash_map<stored<K>, V, key_hash<K>, key_equal<K>,
                                        arena_allocator<std::pair<const stored<K>, V>, arena_index>>;

  explicit cuckoo_adapter(const table_spec& spec) : map_(spec.capacity, key_hash<K>{spec.seed}) {}
  std::size_t own_bytes() const { return 0; }

  class thread_record {
  public:
    explicit thread_record(cuckoo_adapter& a) : map_(a.map_) {}
    bool find(const K& k, V& v) { return map_.find(asked_with(k), v); }
    bool insert(const K& k, const V& v) { return map_.insert(asked_with(k), v); }
    bool erase(const K& k) { return map_.erase(asked_with(k)); }
    bool assign(const K& k, const V& v) { return map_.update(asked_with(k), v); }
    void upsert(const K& k, const V& v) { map_.insert_or_assign(asked_with(k), v); }
    bool modify(const K& k) {
      return map_.update_fn(asked_with(k), [](V& v) { v = from_word<V>(first_word(v) + 1); });
    }

  private:
    map& map_;
  };

private:
  map map_;
};

} // namespace

std::unique_ptr<table> make_cuckoo(const table_spec& spec) { return build<cuckoo_adapter>(spec); }

} // namespace bench
