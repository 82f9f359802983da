// SPDX-License-Identifier: Apache-2.0
// What the typed API adds to the raw engine: finds in a cached table of 16 K keys, by turns, one thread.
#include <cubby/map.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <vector>

namespace {

using map_type = cubby::map<std::uint64_t, std::uint64_t>;
using engine_type = map_type::engine_type;
constexpr std::uint64_t keys = 16 * 1024;
constexpr std::size_t batch = 32;
constexpr int repeats = 200;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class F> double nanoseconds(F&& pass) {
  const double begin = seconds();
  for (int i = 0; i < repeats; ++i) pass();
  return (seconds() - begin) * 1e9 / (repeats * static_cast<double>(keys));
}

double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

// The two pairs of loops; each returns the nanoseconds of one find.
class contest {
public:
  contest() {
    for (std::uint64_t key = 0; key < keys; ++key) handle_.insert(key * 7, key);
  }
  double engine_one() {
    return nanoseconds([&] {
      for (std::uint64_t key = 0; key < keys; ++key) {
        const auto pin = engine_.pin(context_.at);
        sum_ += engine_.find(context_.at, probe(key * 7)).word;
      }
    });
  }
  double api_one() {
    return nanoseconds([&] {
      for (std::uint64_t key = 0; key < keys; ++key) sum_ += handle_.find(key * 7).value_or(0);
    });
  }
  double engine_many() {
    return nanoseconds([&] {
      for (std::uint64_t key = 0; key < keys; key += batch) {
        ask(key);
        const auto pin = engine_.pin(context_.at);
        engine_.find_many(
            context_.at, batch, [&](std::size_t i) { return probe(asked_[i]); },
            [&](std::size_t i, const cubby::detail::found_word& seen) {
              found_[i] = seen.found;
              if (seen.found) values_[i] = seen.word;
            });
        sum_ += values_[0];
      }
    });
  }
  double api_many() {
    return nanoseconds([&] {
      for (std::uint64_t key = 0; key < keys; key += batch) {
        ask(key);
        sum_ += handle_.find_batch(asked_, values_, found_) + values_[0];
      }
    });
  }
  std::uint64_t sum() const { return sum_; }

private:
  cubby::detail::word_probe probe(std::uint64_t key) const { return engine_.slots().probe_of(key); }
  void ask(std::uint64_t from) {
    for (std::size_t i = 0; i < batch; ++i) asked_[i] = (from + i) * 7;
  }

  map_type map_{cubby::options{.capacity = keys}};
  decltype(map_.handle()) handle_ = map_.handle();
  decltype(cubby::detail::engine_access::context_of(handle_)) context_ =
      cubby::detail::engine_access::context_of(handle_);
  engine_type& engine_ = context_.engine;
  std::uint64_t sum_ = 0;
  std::array<std::uint64_t, batch> asked_{};
  std::array<std::uint64_t, batch> values_{};
  std::array<bool, batch> found_{};
};

} // namespace

int main() {
  contest both;
  std::vector<double> one[2];
  std::vector<double> many[2];
  for (int round = 0; round < 15; ++round) {
    one[0].push_back(both.engine_one());
    one[1].push_back(both.api_one());
    many[0].push_back(both.engine_many());
    many[1].push_back(both.api_many());
  }
  const auto print = [](const char* what, const std::vector<double>(&times)[2]) {
    const double engine = median(times[0]);
    const double api = median(times[1]);
    std::printf("%-11s engine %.2f ns, API %.2f ns, ratio %.2f\n", what, engine, api, api / engine);
  };
  print("find:", one);
  print("find_batch:", many);
  return both.sum() == 0 ? 1 : 0;
}
