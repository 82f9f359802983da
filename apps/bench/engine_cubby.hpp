// SPDX-License-Identifier: Apache-2.0
// The adapter of cubby's own engines: the typed API through a handle, batches through find_batch, insert_batch and execute.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <cubby/dramhit.hpp>
#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>
#include <cubby/reference.hpp>
#include <cubby/relativistic.hpp>
#include <cubby/seph.hpp>

#include "arena.hpp"
#include "table_of.hpp"

namespace bench {

// A key of the run as the map has it: the same one, unless the map's type is another.
template <class MapKey> struct key_made {
  template <class K> static MapKey from(const K& k) { return MapKey(k); }
};
template <class Inner> struct key_made<cubby::in_namespace<Inner>> {
  template <class K> static cubby::in_namespace<Inner> from(const K& k) { return {7, Inner(k)}; }
};
template <class MapKey, class K> decltype(auto) key_for(const K& k) {
  if constexpr (std::is_same_v<MapKey, K>) return asked_with(k);
  else return key_made<MapKey>::from(k);
}

// K: the type of the run's keys.
template <class Map, class K = typename Map::key_type> class map_adapter {
public:
  using key = K;
  using value = typename Map::mapped_type;
  static constexpr bool stores = true;
  static constexpr std::size_t most_threads = static_cast<std::size_t>(-1);

  explicit map_adapter(const table_spec& spec) : map_(options_for(spec)) {}
  explicit map_adapter(const cubby::options& o) : map_(o) {}
  explicit map_adapter(std::in_place_t, const table_spec& spec) : map_(spec) {}
  std::size_t own_bytes() const { return map_.stats().bytes; }

  static cubby::options options_for(const table_spec& spec) {
    cubby::options o;
    o.capacity = spec.capacity;
    o.seed = spec.seed;
    if (spec.shrinks) o.shrink = cubby::shrink_policy::automatic;
    return o;
  }

  class thread_record {
  public:
    explicit thread_record(map_adapter& a) : handle_(a.map_.handle()) {}

    bool find(const K& k, value& v) {
      auto seen = handle_.find(key_for<map_key>(k));
      if (seen) v = *seen;
      return seen.has_value();
    }
    bool insert(const K& k, const value& v) { return handle_.insert(key_for<map_key>(k), v); }
    bool erase(const K& k) { return handle_.erase(key_for<map_key>(k)); }
    bool assign(const K& k, const value& v) { return handle_.assign(key_for<map_key>(k), v); }
    void upsert(const K& k, const value& v) { handle_.insert_or_assign(key_for<map_key>(k), v); }
    bool modify(const K& k) {
      return handle_.update(key_for<map_key>(k), [](const value& v) { return from_word<value>(first_word(v) + 1); });
    }

    std::size_t find_batch(const K* keys, std::size_t n, value* values, bool* found) {
      return handle_.find_batch(keys_for(keys, n), std::span<value>(values, n), std::span<bool>(found, n));
    }

    std::size_t execute(const K* keys, const verb* verbs, std::size_t n) {
      if (std::all_of(verbs, verbs + n, [](verb v) { return v == verb::insert; })) return insert_batch(keys, n);
      if (requests_.size() < n) {
        requests_.resize(n, {cubby::verb::find, asked_key{}, from_word<value>(7)});
        replies_.resize(n);
      }
      for (std::size_t i = 0; i < n; ++i) {
        // A batch has no read-modify-write verb.
        if (verbs[i] == verb::modify) return one_by_one(keys, verbs, n);
        requests_[i].what = verb_of(verbs[i]);
        requests_[i].key = key_for<map_key>(keys[i]);
      }
      handle_.execute(std::span<const request>(requests_.data(), n), std::span<reply>(replies_.data(), n),
                      cubby::batch_policy::run_all);
      std::size_t done = 0;
      for (std::size_t i = 0; i < n; ++i) done += replies_[i].result == cubby::outcome::done ? 1 : 0;
      if (done != n) [[unlikely]]
        for (std::size_t i = 0; i < n; ++i) throw_if_no_memory(replies_[i].result);
      return done;
    }

  private:
    using map_key = typename Map::key_type;
    using asked_key = std::conditional_t<std::is_same_v<map_key, std::string>, std::string_view, map_key>;
    using request = cubby::request<asked_key, value>;
    using reply = typename Map::reply_type;

    static cubby::verb verb_of(verb v) {
      using to = cubby::verb;
      // In the order of bench::verb, without `modify`.
      constexpr to same[] = {to::find, to::insert, to::erase, to::assign, to::find, to::insert_or_assign};
      return same[static_cast<std::size_t>(v)];
    }

    std::size_t insert_batch(const K* keys, std::size_t n) {
      if (values_.size() < n) {
        values_.resize(n, from_word<value>(7));
        results_.resize(n);
      }
      const std::size_t done = handle_.insert_batch(keys_for(keys, n), std::span<const value>(values_.data(), n),
                                                    std::span<cubby::outcome>(results_.data(), n));
      if (done != n) [[unlikely]]
        for (std::size_t i = 0; i < n; ++i) throw_if_no_memory(results_[i]);
      return done;
    }

    // As the calls for one key do: it is no wrong answer.
    static void throw_if_no_memory(cubby::outcome result) {
      if (result == cubby::outcome::no_memory) throw std::bad_alloc();
    }

    std::span<const map_key> keys_for(const K* keys, std::size_t n) {
      if constexpr (std::is_same_v<map_key, K>) {
        return {keys, n};
      } else {
        keys_.resize(n);
        for (std::size_t i = 0; i < n; ++i) keys_[i] = key_for<map_key>(keys[i]);
        return {keys_.data(), n};
      }
    }

    std::size_t one_by_one(const K* keys, const verb* verbs, std::size_t n) {
      if constexpr (Map::capabilities.prefetch)
        for (std::size_t i = 0; i < n; ++i) handle_.prefetch(key_for<map_key>(keys[i]));
      std::size_t done = 0;
      for (std::size_t i = 0; i < n; ++i) {
        value v;
        done += (verbs[i] == verb::modify ? modify(keys[i]) : find(keys[i], v)) ? 1 : 0;
      }
      return done;
    }

    typename Map::handle_type handle_;
    std::vector<map_key> keys_;
    std::vector<value> values_;
    std::vector<cubby::outcome> results_;
    std::vector<request> requests_;
    std::vector<reply> replies_;
  };

protected:
  Map map_;
};

template <class K, class V, class Engine, engine_id Id>
using cubby_map = cubby::map<K, V, Engine, key_hash<K>, arena_allocator<std::byte, static_cast<std::size_t>(Id)>>;
template <class K, class V> using dlht_adapter = map_adapter<cubby_map<K, V, cubby::dlht, engine_id::dlht>>;
template <class K, class V>
using dramhit_adapter = map_adapter<cubby_map<K, V, cubby::dramhit, engine_id::dramhit>>;
template <class K, class V>
using reference_adapter = map_adapter<cubby_map<K, V, cubby::reference, engine_id::reference>>;

template <class K, class V>
using relativistic_adapter = map_adapter<cubby_map<K, V, cubby::relativistic, engine_id::relativistic>>;

template <class K, class V>
using iceberg_adapter = map_adapter<cubby_map<K, V, cubby::iceberg, engine_id::iceberg>>;

template <class K, class V> using seph_adapter = map_adapter<cubby_map<K, V, cubby::seph, engine_id::seph>>;

std::unique_ptr<table> make_dlht_keys(const table_spec& spec);
std::unique_ptr<table> make_dlht_values(const table_spec& spec);
std::unique_ptr<table> make_dramhit_keys(const table_spec& spec);
std::unique_ptr<table> make_dramhit_values(const table_spec& spec);
std::unique_ptr<table> make_iceberg_keys(const table_spec& spec);
std::unique_ptr<table> make_iceberg_values(const table_spec& spec);
std::unique_ptr<table> make_reference_keys(const table_spec& spec);
std::unique_ptr<table> make_reference_values(const table_spec& spec);
std::unique_ptr<table> make_relativistic_keys(const table_spec& spec);
std::unique_ptr<table> make_relativistic_values(const table_spec& spec);
std::unique_ptr<table> make_seph_keys(const table_spec& spec);
std::unique_ptr<table> make_seph_values(const table_spec& spec);

} // namespace bench
