// SPDX-License-Identifier: Apache-2.0
// What `tools/suite/instructions.py` counts: `bench_instructions ENGINE VERB COUNT` fills a table, the same for every verb,
// and then carries out the verb COUNT times. The difference of two counts is the verb's own; nothing here is timed.
#include <cubby/dramhit.hpp>
#include <cubby/dramhit_tuples.hpp>
#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>
#include <cubby/pipeline.hpp>
#include <cubby/relativistic.hpp>
#include <cubby/seph.hpp>

#include <array>
#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::uint64_t keys = 1 << 14; // 3 MiB of bins hold them without growth
constexpr std::size_t batch = 32;

// So that the order of the keys is not the order of the bins, and yet every run asks the same.
constexpr std::uint64_t key_of(std::uint64_t i) { return (i * 40503) % keys; }

// More than a slot holds: with its key and its header 32 bytes, the smaller kind of tuple.
struct two_words {
  std::uint64_t number = 0;
  std::uint64_t other = 0;
};
template <class Value> constexpr Value value_of(std::uint64_t number) {
  if constexpr (std::same_as<Value, two_words>) return {number, ~number};
  else return number;
}
template <class Value> constexpr std::uint64_t number_of(const Value& value) {
  if constexpr (std::same_as<Value, two_words>) return value.number;
  else return value;
}

template <class Engine, class Value = std::uint64_t> class bench {
  using map_type = cubby::map<std::uint64_t, Value, Engine>;
  static constexpr bool has_pipeline =
      std::same_as<Value, std::uint64_t> && cubby::detail::contract::pipelined<typename map_type::engine_type>;

  // Figures of handles and guards as well, and of an insert and an erase of one key, which change no bin for good.
  static constexpr bool is_dlht = std::same_as<Engine, cubby::dlht> || std::same_as<Engine, cubby::dlht_single>;

public:
  bench() : map_(wanted()) {
    for (std::uint64_t k = 0; k < keys; ++k) map_.insert(k, value_of<Value>(k));
  }

  /// The sum of what was found; false for a verb that there is not.
  bool run(std::string_view verb, std::uint64_t count) {
    if (verb == "find_batch") {
      find_batch(count);
      return true;
    }
    if constexpr (is_dlht) {
      if (verb.starts_with("handle_")) {
        auto h = map_.handle();
        return run_single(h, verb.substr(7), count);
      }
      if (verb.starts_with("guarded_")) {
        auto h = map_.handle();
        const auto g = h.guard();
        return run_single(h, verb.substr(8), count);
      }
    }
    return run_single(map_, verb, count) || run_pipeline(verb, count);
  }
  [[nodiscard]] std::uint64_t sum() const { return sum_; }

private:
  static cubby::options wanted() {
    cubby::options o;
    o.capacity = 4 * keys;
    return o;
  }
  /// Each verb through the map itself or through a handle.
  template <class Table> bool run_single(Table& in, std::string_view verb, std::uint64_t count) {
    if (verb == "find") find(in, count);
    else if (verb == "miss") miss(in, count);
    else if (verb == "insert") insert(in, count);
    else if (verb == "erase") erase(in, count);
    else if (verb == "assign") assign(in, count);
    else return run_pair(in, verb, count);
    return true;
  }
  /// Of `dlht` alone: a verb with more calls than one may be inlined elsewhere or not at all.
  template <class Table> bool run_pair(Table& in, std::string_view verb, std::uint64_t count) {
    if constexpr (is_dlht) {
      if (verb != "insert_erase") return false;
      insert_erase(in, count);
      return true;
    }
    return false;
  }
  template <class Table> [[gnu::noinline]] void find(Table& in, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) sum_ += number_of(in.find(key_of(i)).value_or(Value{}));
  }
  template <class Table> [[gnu::noinline]] void miss(Table& in, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) sum_ += number_of(in.find(keys + key_of(i)).value_or(Value{}));
  }
  template <class Table> [[gnu::noinline]] void insert_erase(Table& in, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      sum_ += in.insert(keys + key_of(i), value_of<Value>(i)) ? 1u : 0u;
      sum_ += in.erase(keys + key_of(i)) ? 1u : 0u;
    }
  }
  template <class Table> [[gnu::noinline]] void assign(Table& in, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) sum_ += in.assign(key_of(i), value_of<Value>(i)) ? 1u : 0u;
  }
  /// COUNT new keys up to twice as many as are there: the table holds them without growth.
  template <class Table> [[gnu::noinline]] void insert(Table& in, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t fresh = keys + (i * 40503) % (2 * keys);
      sum_ += in.insert(fresh, value_of<Value>(i)) ? 1u : 0u;
    }
  }
  /// Up to all keys that are there.
  template <class Table> [[gnu::noinline]] void erase(Table& in, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) sum_ += in.erase(key_of(i)) ? 1u : 0u;
  }
  /// COUNT keys, not batches; a multiple of `batch`.
  [[gnu::noinline]] void find_batch(std::uint64_t count) {
    std::array<std::uint64_t, batch> asked{};
    std::array<Value, batch> values{};
    std::array<bool, batch> found{};
    for (std::uint64_t i = 0; i < count; i += batch) {
      for (std::size_t j = 0; j < batch; ++j) asked[j] = key_of(i + j);
      sum_ += map_.find_batch(std::span<const std::uint64_t>(asked), values, found);
    }
  }

  bool run_pipeline(std::string_view verb, std::uint64_t count) {
    if constexpr (has_pipeline) {
      if (verb == "pipelined_find") pipelined(cubby::verb::find, count);
      else if (verb == "pipelined_add") pipelined(cubby::verb::insert_or_add, count);
      else return false;
      return true;
    }
    return false;
  }
  /// Of keys that are there.
  [[gnu::noinline]] void pipelined(cubby::verb what, std::uint64_t count)
    requires has_pipeline
  {
    auto pending = map_.handle().pipeline();
    using reply = typename map_type::reply_type;
    const auto add_up = [this](reply&& r) { sum_ += r.value.value_or(1); };
    for (std::uint64_t i = 0; i < count; ++i) pending.submit({what, key_of(i), 1, i}, add_up);
    pending.drain(add_up);
  }

  map_type map_;
  std::uint64_t sum_ = 0;
};

// Text keys made beforehand, so that a figure holds the table's own instructions and the allocator's. `Spread`: how many sizes they
// have, from 18 bytes on: 18 to 40 bytes, or 18 to 22, which iceberg keeps in its slots.
template <class Engine, unsigned Spread> class text_bench {
public:
  text_bench() : map_(wanted()) {
    for (std::uint64_t k = 0; k < 3 * keys; ++k) {
      std::string text = "text key " + std::to_string(100'000'000 + key_of(k) + k / keys * keys);
      texts_.push_back(text + std::string(k % Spread, 'x'));
    }
    for (std::uint64_t k = 0; k < keys; ++k) map_.insert(texts_[k], k);
  }
  bool run(std::string_view verb, std::uint64_t count) {
    if (verb == "find") find(0, count);
    else if (verb == "miss") find(keys, count);
    else if (verb == "insert") insert(count);
    else if (verb == "upsert") upsert(count);
    else if (verb == "erase") erase(count);
    else if (verb == "find_batch") find_batch(0, count);
    else if (verb == "miss_batch") find_batch(keys, count);
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
  [[gnu::noinline]] void find(std::uint64_t from, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) sum_ += map_.find(texts_[from + i % keys]).value_or(0);
  }
  [[gnu::noinline]] void insert(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) sum_ += map_.insert(texts_[keys + i], i) ? 1u : 0u;
  }
  [[gnu::noinline]] void upsert(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) sum_ += map_.insert_or_assign(texts_[i % keys], i) ? 1u : 0u;
  }
  [[gnu::noinline]] void erase(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) sum_ += map_.erase(texts_[i]) ? 1u : 0u;
  }
  [[gnu::noinline]] void find_batch(std::uint64_t from, std::uint64_t count) {
    std::array<std::uint64_t, batch> values{};
    std::array<bool, batch> found{};
    for (std::uint64_t i = 0; i < count; i += batch) {
      sum_ += map_.find_batch(std::span<const std::string>(&texts_[from + i % keys], batch), values, found);
    }
  }

  cubby::map<std::string, std::uint64_t, Engine> map_;
  std::vector<std::string> texts_;
  std::uint64_t sum_ = 0;
};

template <class Bench> int run_on(std::string_view verb, std::uint64_t count) {
  Bench b;
  if (!b.run(verb, count)) return 2;
  std::printf("%llu\n", static_cast<unsigned long long>(b.sum())); // what is used is not optimised away
  return 0;
}
template <class Engine, class Value = std::uint64_t> int run(std::string_view verb, std::uint64_t count) {
  return run_on<bench<Engine, Value>>(verb, count);
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: bench_instructions dlht|dlht_single|dlht_text|dramhit|dramhit_tuples|relativistic|iceberg|"
               "iceberg_text|seph VERB COUNT\n",
               stderr);
    return 2;
  }
  const std::string_view engine = argv[1];
  const std::uint64_t count = std::strtoull(argv[3], nullptr, 10);
  if (engine == "dlht") return run<cubby::dlht>(argv[2], count);
  if (engine == "dlht_single") return run<cubby::dlht_single>(argv[2], count);
  if (engine == "dlht_text") return run_on<text_bench<cubby::dlht, 23>>(argv[2], count);
  if (engine == "dramhit") return run<cubby::dramhit>(argv[2], count);
  if (engine == "dramhit_tuples") return run<cubby::dramhit_tuples, two_words>(argv[2], count);
  if (engine == "relativistic") return run<cubby::relativistic>(argv[2], count);
  if (engine == "seph") return run<cubby::seph>(argv[2], count);
  if (engine == "iceberg") return run<cubby::iceberg>(argv[2], count);
  if (engine == "iceberg_text") return run_on<text_bench<cubby::iceberg, 5>>(argv[2], count);
  return 2;
}
