// SPDX-License-Identifier: Apache-2.0
// What the machine can do: for each operation one 8-byte load from a random 64-byte line. The line is chosen by the same
// hash of the same key, over as many bytes as the table under test has, and prefetched a batch at a time. No key is
// compared; nothing is written by `limit`, under any workload, and each line by one 16-byte compare-and-swap for each
// update by `limit-swap`.
#include <cubby/map.hpp>

#include "arena.hpp"
#include "table_of.hpp"

namespace bench {

namespace {

struct alignas(64) line {
  cubby::detail::sync::word16<cubby::detail::sync::shared> pair;
  std::uint64_t rest[6];
  // relaxed, here and below: no other memory depends on these words
  std::uint64_t word() const { return pair.first.load(cubby::detail::sync::relaxed); }
  std::uint64_t swap() {
    const std::uint64_t second = pair.second.load(cubby::detail::sync::relaxed);
    return pair.compare_exchange({word(), second}, {word(), second + 1}) ? 1 : 0; // another thread's was as good
  }
};

template <bool Swaps, class K, class V> class limit_adapter {
public:
  using key = K;
  using value = V;
  static constexpr bool stores = false;
  static constexpr std::size_t most_threads = static_cast<std::size_t>(-1);

  explicit limit_adapter(const table_spec& spec)
      : count_(std::max<std::size_t>(1, spec.limit_bytes / sizeof(line))),
        lines_(static_cast<line*>(map_huge(count_ * sizeof(line)))), hash_{spec.seed} {}
  limit_adapter(const limit_adapter&) = delete;
  limit_adapter& operator=(const limit_adapter&) = delete;
  ~limit_adapter() { unmap(lines_, count_ * sizeof(line)); }

  std::size_t own_bytes() const { return count_ * sizeof(line); }

  // Writes to each line of this worker's share, so that every page is there.
  void touch(std::size_t worker, std::size_t threads) {
    const std::size_t to = count_ * (worker + 1) / threads;
    for (std::size_t i = count_ * worker / threads; i < to; ++i)
      lines_[i].pair.first.store(i, cubby::detail::sync::relaxed);
  }

  class thread_record {
  public:
    explicit thread_record(limit_adapter& a) : lines_(a.lines_), count_(a.count_), hash_(a.hash_) {}

    bool find(const K& k, V& v) {
      v = load(hash_(k));
      return true;
    }
    bool insert(const K& k, const V&) { return fetch(hash_(k)); }
    // The erase of a key that was just inserted would meet a warm line: another one keeps it one fetch per operation.
    bool erase(const K& k) { return fetch(~hash_(k)); }
    bool assign(const K& k, const V&) { return fetch(hash_(k)); }
    bool modify(const K& k) { return fetch(hash_(k)); }

    std::size_t find_batch(const K* keys, std::size_t n, V* values, bool* found) {
      for (std::size_t at = 0; at < n; at += window) {
        const std::size_t m = std::min(window, n - at);
        for (std::size_t i = 0; i < m; ++i) __builtin_prefetch(where_[i] = line_of(hash_(keys[at + i])));
        for (std::size_t i = 0; i < m; ++i) {
          if constexpr (sizeof(V) == 8) values[at + i] = where_[i]->word();
          else values[at + i].words[0] = where_[i]->word();
          found[at + i] = true;
        }
      }
      return n;
    }

    std::size_t execute(const K* keys, const verb* verbs, std::size_t n) {
      for (std::size_t at = 0; at < n; at += window) {
        const std::size_t m = std::min(window, n - at);
        for (std::size_t i = 0; i < m; ++i) {
          const std::size_t h = hash_(keys[at + i]);
          __builtin_prefetch(where_[i] = line_of(verbs[at + i] == verb::erase ? ~h : h));
        }
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < m; ++i)
          sum += Swaps && verbs[at + i] != verb::find ? where_[i]->swap() : where_[i]->word();
        keep(sum);
      }
      return n;
    }

  private:
    // Larger batches are fetched in windows of this many lines.
    static constexpr std::size_t window = 1024;

    line* line_of(std::size_t hash) const {
      return lines_ + static_cast<std::size_t>((static_cast<unsigned __int128>(hash) * count_) >> 64);
    }
    V load(std::size_t hash) const { return from_word<V>(line_of(hash)->word()); }
    bool fetch(std::size_t hash) {
      keep(Swaps ? line_of(hash)->swap() : line_of(hash)->word());
      return true;
    }

    line* lines_;
    std::size_t count_;
    key_hash<K> hash_;
    line* where_[window];
  };

private:
  std::size_t count_;
  line* lines_;
  key_hash<K> hash_;
};

template <class K, class V> using reads = limit_adapter<false, K, V>;
template <class K, class V> using swaps = limit_adapter<true, K, V>;

} // namespace

std::unique_ptr<table> make_limit(const table_spec& spec) {
  if constexpr (is_whole_program) {
    if (spec.engine == engine_id::limit_swap) return build<swaps>(spec);
  }
  return build<reads>(spec);
}

} // namespace bench
