// SPDX-License-Identifier: Apache-2.0
// Boost's concurrent_flat_map: open addressing, a line of tags and a lock for each group of 15 slots. Its batches are its
// bulk visits, which fetch up to 16 keys ahead; they do not say which key an entry belongs to, so values come in any order.
#if __has_include(<boost/unordered/concurrent_flat_map.hpp>) && __has_include(<boost/version.hpp>)
#include <boost/version.hpp>
#if BOOST_VERSION >= 108400 // the first with bulk visits
#define CUBBY_BENCH_BOOST 1
#include <boost/unordered/concurrent_flat_map.hpp>
#endif
#endif

#include "arena.hpp"
#include "table_of.hpp"

namespace bench {

#if CUBBY_BENCH_BOOST
namespace {

template <class K, class V> class boost_adapter {
public:
  using key = K;
  using value = V;
  static constexpr bool stores = true;
  static constexpr std::size_t most_threads = static_cast<std::size_t>(-1);
  static constexpr std::size_t arena_index = static_cast<std::size_t>(engine_id::boost);
  template <class Key> using stored = stored_in_arena<Key, arena_index>;
  using map = boost::unordered::concurrent_flat_map<stored<K>, V, key_hash<K>, key_equal<K>,
                                                    arena_allocator<std::pair<const stored<K>, V>, arena_index>>;

  explicit boost_adapter(const table_spec& spec) : map_(spec.capacity, key_hash<K>{spec.seed}) {}
  std::size_t own_bytes() const { return 0; }

  class thread_record {
  public:
    explicit thread_record(boost_adapter& a) : map_(a.map_) {}
    bool find(const K& k, V& v) {
      return map_.cvisit(asked_with(k), [&](const auto& entry) { v = entry.second; }) != 0;
    }
    bool insert(const K& k, const V& v) { return map_.try_emplace(asked_with(k), v); }
    bool erase(const K& k) { return map_.erase(asked_with(k)) != 0; }
    bool assign(const K& k, const V& v) {
      return map_.visit(asked_with(k), [&](auto& entry) { entry.second = v; }) != 0;
    }
    void upsert(const K& k, const V& v) { map_.insert_or_assign(asked_with(k), v); }
    bool modify(const K& k) {
      return map_.visit(asked_with(k),
                        [](auto& entry) { entry.second = from_word<V>(first_word(entry.second) + 1); }) != 0;
    }
    std::size_t find_batch(const K* keys, std::size_t n, V* values, bool*) {
      std::size_t met = 0;
      return map_.cvisit(keys, keys + n, [&](const auto& entry) { values[met++] = entry.second; });
    }

  private:
    map& map_;
  };

private:
  map map_;
};

} // namespace

bool has_boost() { return true; }
std::unique_ptr<table> make_boost(const table_spec& spec) { return build<boost_adapter>(spec); }
#else
bool has_boost() { return false; }
std::unique_ptr<table> make_boost(const table_spec&) { return nullptr; }
#endif

} // namespace bench
