// SPDX-License-Identifier: Apache-2.0
// parallel-hashmap's parallel_flat_hash_map: Abseil's flat_hash_map in 64 parts, each with a lock that readers share.
#if __has_include(<parallel_hashmap/phmap.h>)
#define CUBBY_BENCH_PHMAP 1
#include <parallel_hashmap/phmap.h>
#include <shared_mutex>
#endif

#include "arena.hpp"
#include "table_of.hpp"

namespace bench {

#if CUBBY_BENCH_PHMAP
namespace {

template <class K, class V> class phmap_adapter {
public:
  using key = K;
  using value = V;
  static constexpr bool stores = true;
  static constexpr std::size_t most_threads = static_cast<std::size_t>(-1);
  static constexpr std::size_t arena_index = static_cast<std::size_t>(engine_id::phmap);
  using map = phmap::parallel_flat_hash_map<K, V, key_hash<K>, std::equal_to<K>,
                                            arena_allocator<std::pair<const K, V>, arena_index>, 6, std::shared_mutex>;

  // Its constructor would give so much space to each of the parts.
  explicit phmap_adapter(const table_spec& spec) : map_(0, key_hash<K>{spec.seed}) { map_.reserve(spec.capacity); }
  std::size_t own_bytes() const { return 0; }

  class thread_record {
  public:
    explicit thread_record(phmap_adapter& a) : map_(a.map_) {}
    bool find(const K& k, V& v) {
      return map_.if_contains(k, [&](const auto& entry) { v = entry.second; });
    }
    bool insert(const K& k, const V& v) {
      return map_.lazy_emplace_l(k, [](auto&) {}, [&](const auto& make) { make(k, v); });
    }
    bool erase(const K& k) {
      return map_.erase_if(k, [](auto&) { return true; });
    }
    bool assign(const K& k, const V& v) {
      return map_.modify_if(k, [&](auto& entry) { entry.second = v; });
    }
    bool modify(const K& k) {
      return map_.modify_if(k, [](auto& entry) { entry.second = from_word<V>(first_word(entry.second) + 1); });
    }

  private:
    map& map_;
  };

private:
  map map_;
};

} // namespace

bool has_phmap() { return true; }
std::unique_ptr<table> make_phmap(const table_spec& spec) { return build<phmap_adapter>(spec); }
#else
bool has_phmap() { return false; }
std::unique_ptr<table> make_phmap(const table_spec&) { return nullptr; }
#endif

} // namespace bench
