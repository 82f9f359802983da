// SPDX-License-Identifier: Apache-2.0
// A map of the numbers below a bound, each to itself, that is resized through its public API: space for twice as many
// entries, and back.
#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <thread>
#include <vector>

#include <cubby/map.hpp>

namespace bench {

template <class Engine> class numbers {
public:
  using map = cubby::map<std::uint64_t, std::uint64_t, Engine>;

  numbers(std::uint64_t entries, unsigned threads)
      : map_(cubby::options{.capacity = entries}), larger_(std::bit_ceil(entries) * 2) {
    std::vector<std::thread> fillers;
    for (unsigned t = 0; t < threads; ++t) {
      fillers.emplace_back([&, t] {
        auto handle = map_.handle();
        for (std::uint64_t i = entries * t / threads; i < entries * (t + 1) / threads; ++i) {
          if (!handle.insert(i, i)) std::abort();
        }
      });
    }
    for (std::thread& t : fillers) t.join();
  }

  class reader {
  public:
    explicit reader(numbers& n) : handle_(n.map_.handle()) {}
    bool find(std::uint64_t key, std::uint64_t& value) {
      const auto got = handle_.find(key);
      if (got) value = *got;
      return got.has_value();
    }
    std::size_t find_batch(std::span<const std::uint64_t> keys, std::span<std::uint64_t> values,
                           std::span<bool> found) {
      return handle_.find_batch(keys, values, found);
    }

  private:
    typename map::handle_type handle_;
  };

  void resize(bool larger) {
    if (!(larger ? map_.reserve(larger_) : map_.shrink_to_fit())) std::abort();
  }
  [[nodiscard]] cubby::table_stats stats() const { return map_.stats(); }

private:
  map map_;
  std::uint64_t larger_;
};

} // namespace bench
