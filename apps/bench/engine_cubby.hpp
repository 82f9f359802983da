// SPDX-License-Identifier: Apache-2.0
// The adapter of cubby's own engines: the typed face through a handle, batches through find_batch and execute.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <cubby/engine/reference/reference.hpp>
#include <cubby/map.hpp>

#include "arena.hpp"
#include "table_of.hpp"

namespace bench {

template <class K, class V, class Engine, engine_id Id> class cubby_adapter {
public:
  using key = K;
  using value = V;
  static constexpr bool stores = true;
  static constexpr std::size_t most_threads = static_cast<std::size_t>(-1);
  using map = cubby::map<K, V, Engine, key_hash<K>, arena_allocator<std::byte, static_cast<std::size_t>(Id)>>;

  explicit cubby_adapter(const table_spec& spec) : map_(options_for(spec)) {}
  std::size_t own_bytes() const { return map_.stats().bytes; }

  class seat {
  public:
    explicit seat(cubby_adapter& a) : handle_(a.map_.handle()) {}

    bool find(const K& k, V& v) {
      auto seen = handle_.find(k);
      if (seen) v = *seen;
      return seen.has_value();
    }
    bool insert(const K& k, const V& v) { return handle_.insert(k, v); }
    bool erase(const K& k) { return handle_.erase(k); }
    bool assign(const K& k, const V& v) { return handle_.assign(k, v); }
    bool modify(const K& k) {
      return handle_.update(k, [](const V& v) { return from_word<V>(first_word(v) + 1); });
    }

    std::size_t find_batch(const K* keys, std::size_t n, V* values, bool* found) {
      return handle_.find_batch(std::span<const K>(keys, n), std::span<V>(values, n), std::span<bool>(found, n));
    }

    std::size_t execute(const K* keys, const verb* verbs, std::size_t n) {
      if (requests_.size() < n) {
        requests_.resize(n, {cubby::verb::find, K{}, from_word<V>(7)});
        replies_.resize(n);
      }
      for (std::size_t i = 0; i < n; ++i) {
        // A batch has no read-modify-write verb.
        if (verbs[i] == verb::modify) return one_by_one(keys, verbs, n);
        requests_[i].what = verb_of(verbs[i]);
        requests_[i].key = keys[i];
      }
      handle_.execute(std::span<const request>(requests_.data(), n), std::span<reply>(replies_.data(), n),
                      cubby::batch_policy::run_all);
      std::size_t done = 0;
      for (std::size_t i = 0; i < n; ++i) done += replies_[i].result == cubby::outcome::done ? 1 : 0;
      return done;
    }

  private:
    using request = cubby::request<K, V>;
    using reply = cubby::reply<V>;

    static cubby::verb verb_of(verb v) {
      // In the order of bench::verb, without `modify`.
      constexpr cubby::verb same[] = {cubby::verb::find, cubby::verb::insert, cubby::verb::erase, cubby::verb::assign};
      return same[static_cast<std::size_t>(v)];
    }

    std::size_t one_by_one(const K* keys, const verb* verbs, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) handle_.prefetch(keys[i]);
      std::size_t done = 0;
      for (std::size_t i = 0; i < n; ++i) {
        V v;
        done += (verbs[i] == verb::modify ? modify(keys[i]) : find(keys[i], v)) ? 1 : 0;
      }
      return done;
    }

    typename map::handle_type handle_;
    std::vector<request> requests_;
    std::vector<reply> replies_;
  };

private:
  static cubby::options options_for(const table_spec& spec) {
    cubby::options o;
    o.capacity = spec.capacity;
    o.seed = spec.seed;
    return o;
  }

  map map_;
};

template <class K, class V> using dlht_adapter = cubby_adapter<K, V, cubby::dlht, engine_id::dlht>;
template <class K, class V> using reference_adapter = cubby_adapter<K, V, cubby::reference, engine_id::reference>;

std::unique_ptr<table> make_dlht_keys(const table_spec& spec);
std::unique_ptr<table> make_dlht_values(const table_spec& spec);
std::unique_ptr<table> make_reference_keys(const table_spec& spec);
std::unique_ptr<table> make_reference_values(const table_spec& spec);

} // namespace bench
