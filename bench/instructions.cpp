// SPDX-License-Identifier: Apache-2.0
// What `tools/suite/instructions.py` counts: `bench_instructions ENGINE VERB COUNT` fills a table, the same for every verb,
// and then carries out the verb COUNT times. The difference of two counts is the verb's own; nothing here is timed.
#include <cubby/map.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

namespace {

constexpr std::uint64_t keys = 1 << 14; // 3 MiB of bins hold them without growth
constexpr std::size_t batch = 32;

// So that the order of the keys is not the order of the bins, and yet every run asks the same.
constexpr std::uint64_t key_of(std::uint64_t i) { return (i * 40503) % keys; }

template <class Engine> class bench {
public:
  bench() : map_(wanted()) {
    for (std::uint64_t k = 0; k < keys; ++k) map_.insert(k, k);
  }

  /// The sum of what was found; false for a verb that there is not.
  bool run(std::string_view verb, std::uint64_t count) {
    if (verb == "find") find(count);
    else if (verb == "miss") miss(count);
    else if (verb == "insert_erase") insert_erase(count);
    else if (verb == "assign") assign(count);
    else if (verb == "find_batch") find_batch(count);
    else return false;
    return true;
  }
  [[nodiscard]] std::uint64_t sum() const { return sum_; }

private:
  static cubby::options wanted() {
    cubby::options o;
    o.capacity = 4 * keys;
    return o;
  }
  [[gnu::noinline]] void find(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) sum_ += map_.find(key_of(i)).value_or(0);
  }
  [[gnu::noinline]] void miss(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) sum_ += map_.find(keys + key_of(i)).value_or(0);
  }
  [[gnu::noinline]] void insert_erase(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      sum_ += map_.insert(keys + key_of(i), i) ? 1u : 0u;
      sum_ += map_.erase(keys + key_of(i)) ? 1u : 0u;
    }
  }
  [[gnu::noinline]] void assign(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) sum_ += map_.assign(key_of(i), i) ? 1u : 0u;
  }
  /// COUNT keys, not batches; a multiple of `batch`.
  [[gnu::noinline]] void find_batch(std::uint64_t count) {
    std::array<std::uint64_t, batch> asked{};
    std::array<std::uint64_t, batch> values{};
    std::array<bool, batch> found{};
    for (std::uint64_t i = 0; i < count; i += batch) {
      for (std::size_t j = 0; j < batch; ++j) asked[j] = key_of(i + j);
      sum_ += map_.find_batch(std::span<const std::uint64_t>(asked), values, found);
    }
  }

  cubby::map<std::uint64_t, std::uint64_t, Engine> map_;
  std::uint64_t sum_ = 0;
};

template <class Engine> int run(std::string_view verb, std::uint64_t count) {
  bench<Engine> b;
  if (!b.run(verb, count)) return 2;
  std::printf("%llu\n", static_cast<unsigned long long>(b.sum())); // what is used is not optimised away
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: bench_instructions dlht|dlht_single find|miss|insert_erase|assign|find_batch COUNT\n", stderr);
    return 2;
  }
  const std::string_view engine = argv[1];
  const std::uint64_t count = std::strtoull(argv[3], nullptr, 10);
  if (engine == "dlht") return run<cubby::dlht>(argv[2], count);
  if (engine == "dlht_single") return run<cubby::dlht_single>(argv[2], count);
  return 2;
}
