// SPDX-License-Identifier: Apache-2.0
// DRAMHiT-P: every worker is a producer and an owner. The partitions are shared out among the workers of a round. A worker
// sends what belongs to others, and carries out what comes for its own. It has flushed all when a slice of its stream
// ends.
#include <atomic>

#include <cubby/delegated_map.hpp>

#include "arena.hpp"
#include "table_of.hpp"

namespace bench {

namespace {

class partitioned_adapter {
public:
  using key = std::uint64_t;
  using value = std::uint64_t;
  using map = cubby::delegated_map<key, value, key_hash<key>>;
  static constexpr bool stores = true;
  static constexpr std::size_t most_threads = static_cast<std::size_t>(-1);

  explicit partitioned_adapter(const table_spec& spec) : map_(options_for(spec)) {}
  std::size_t own_bytes() const { return map_.stats().bytes; }

  class thread_record {
  public:
    explicit thread_record(partitioned_adapter& a)
        : adapter_(a), handle_(a.map_.handle()), number_(a.thread_records_.fetch_add(1)) {}
    thread_record(const thread_record&) = delete;
    thread_record& operator=(const thread_record&) = delete;
    ~thread_record() { adapter_.thread_records_.fetch_sub(1); }

    bool find(key k, value& v) {
      const auto seen = handle_.find(k);
      if (seen) v = *seen;
      return seen.has_value();
    }
    std::size_t find_batch(const key* keys, std::size_t n, value* values, bool* found) {
      return handle_.find_batch({keys, n}, {values, n}, {found, n});
    }
    bool insert(key k, value v) { return handle_.insert_or_assign(k, v) == cubby::outcome::done; }
    bool assign(key k, value v) { return insert(k, v); }
    bool modify(key k) { return handle_.insert_or_add(k, 1) == cubby::outcome::done; }
    bool erase(key k) {
      handle_.erase(k);
      return true;
    }

    std::size_t stream(const key* keys, std::size_t n, std::size_t window) {
      std::size_t hits = 0;
      if (values_.size() < window) {
        values_.resize(window);
        found_ = std::make_unique<bool[]>(window);
      }
      for (std::size_t i = 0; i < n; i += window) {
        hits += find_batch(keys + i, std::min(window, n - i), values_.data(), found_.get());
        keep(values_[0]);
      }
      return hits;
    }
    /// Keys that are asked for are prefetched a window ahead; a write is on its way as soon as it is sent.
    std::size_t stream(const key* keys, const verb* verbs, std::size_t n, std::size_t window) {
      own_a_share();
      std::size_t done = 0;
      for (std::size_t first = 0; first < n; first += window) {
        const std::size_t last = std::min(n, first + window);
        for (std::size_t i = first; i < last; ++i)
          if (verbs[i] == verb::find) handle_.prefetch(keys[i]);
        for (std::size_t i = first; i < last; ++i) done += one(keys[i], verbs[i]) ? 1 : 0;
      }
      return handle_.flush() ? done : 0;
    }

  private:
    bool one(key k, verb what) {
      value v = 7;
      switch (what) {
      case verb::find: return find(k, v);
      case verb::erase: return erase(k);
      case verb::modify: return modify(k);
      default: return insert(k, v);
      }
    }
    /// All thread records of a round are there before the first stream runs, so that each knows how many share the partitions.
    void own_a_share() {
      if (owns_) return;
      owns_ = true;
      const std::size_t thread_records = adapter_.thread_records_.load();
      for (std::size_t i = number_ % thread_records; i < handle_.partitions(); i += thread_records) handle_.own(i);
    }

    partitioned_adapter& adapter_;
    map::handle_type handle_;
    std::size_t number_;
    bool owns_ = false;
    std::vector<value> values_;
    std::unique_ptr<bool[]> found_;
  };

private:
  static cubby::options options_for(const table_spec& spec) {
    cubby::options o;
    o.capacity = spec.capacity;
    o.seed = spec.seed;
    return o;
  }

  map map_;
  std::atomic<std::size_t> thread_records_{0};
};

} // namespace

std::unique_ptr<table> make_partitioned(const table_spec& spec) {
  return std::make_unique<table_of<partitioned_adapter>>(spec);
}

} // namespace bench
