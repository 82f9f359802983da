// SPDX-License-Identifier: Apache-2.0
// The model: each core has a private cache of 1 MiB, eight ways, least recently used goes. A line that a core wants and does not
// have, while another has it, is one transfer; so is a write to a line that others have, too. What comes from memory or the
// shared cache is none. Every shared word, every message and every line that a writer compares passes the hook.
#include "counting/transfers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <cubby/delegated_map.hpp>
#include <cubby/dramhit.hpp>

#include "support/random.hpp"

namespace cubby_counting {
namespace {

using cubby::detail::sync::step;

class caches {
public:
  explicit caches(std::size_t cores) : ways_(cores * sets * associativity) {}

  void access(std::size_t core, const void* address, bool writes) {
    const std::uint32_t number = number_of(reinterpret_cast<std::uintptr_t>(address) / 64);
    line& l = lines_[number];
    const std::uint64_t mine = std::uint64_t{1} << core;
    const bool had = (l.holders & mine) != 0;
    if ((!had && l.holders != 0) || (writes && (l.holders & ~mine) != 0)) {
      ++l.transfers;
      ++transfers_;
    }
    l.holders = writes ? mine : l.holders | mine;
    keep(core, number);
  }
  void forget_counts() {
    for (line& l : lines_) l.transfers = 0;
    transfers_ = 0;
  }
  [[nodiscard]] std::uint64_t all() const { return transfers_; }
  [[nodiscard]] std::uint64_t busiest() const {
    const auto less = [](const line& a, const line& b) { return a.transfers < b.transfers; };
    return std::max_element(lines_.begin(), lines_.end(), less)->transfers;
  }

private:
  static constexpr std::size_t sets = 2048;
  static constexpr std::size_t associativity = 8;
  static constexpr std::size_t space = std::size_t{1} << 22; // lines that the model can tell apart
  struct line {
    std::uint64_t holders = 0; // a bit for each core
    std::uint32_t transfers = 0;
  };
  struct way {
    std::uint32_t number = 0; // 0: empty
    std::uint32_t used = 0;
  };

  /// Lines are numbered as they are met, so that the model does not depend on where memory lies.
  std::uint32_t number_of(std::uintptr_t at) {
    for (std::size_t i = cubby_test::splitmix(at) % space;; i = (i + 1) % space) {
      if (names_[i].at == at) return names_[i].number;
      if (names_[i].at != 0) continue;
      names_[i] = {at, ++met_};
      if (met_ >= lines_.size()) std::abort(); // more lines than the model has space for
      return met_;
    }
  }
  void keep(std::size_t core, std::uint32_t number) {
    way* const set = &ways_[(core * sets + number % sets) * associativity];
    way* at = set;
    for (way* w = set; w != set + associativity; ++w) {
      if (w->number == number) {
        w->used = ++clock_;
        return;
      }
      if (w->used < at->used) at = w;
    }
    lines_[at->number].holders &= ~(std::uint64_t{1} << core);
    *at = {number, ++clock_};
  }

  struct name {
    std::uintptr_t at = 0;
    std::uint32_t number = 0;
  };
  std::vector<name> names_{space};
  std::vector<line> lines_{space / 2};
  std::vector<way> ways_;
  std::uint32_t met_ = 0;
  std::uint32_t clock_ = 0;
  std::uint64_t transfers_ = 0;
};

caches* watching = nullptr;
std::size_t playing = 0; // the core whose turn it is

void see(step kind, const void* address) {
  if (watching == nullptr || kind == step::wait || kind == step::fence) return;
  watching->access(playing, address, kind != step::load);
}

/// Zipf by its distribution function: exact, and the same everywhere.
class zipf_keys {
public:
  zipf_keys(std::size_t keys, double theta) : below_(keys), state_(17) {
    double sum = 0;
    for (std::size_t i = 0; i < keys; ++i) below_[i] = sum += std::pow(static_cast<double>(i + 1), -theta);
  }
  std::uint64_t next() {
    const double u = static_cast<double>(cubby_test::splitmix(state_++) >> 11) * 0x1.0p-53 * below_.back();
    const auto at = std::upper_bound(below_.begin(), below_.end(), u);
    const auto rank = static_cast<std::uint64_t>(at - below_.begin());
    return cubby_test::splitmix(std::min<std::uint64_t>(rank, below_.size() - 1));
  }

private:
  std::vector<double> below_;
  std::uint64_t state_;
};

/// `one(core, i, key)` for each operation, the cores in turn.
template <class One> transfers count(const traffic& t, One one) {
  zipf_keys keys(t.keys, t.theta);
  const auto model = std::make_unique<caches>(t.cores);
  auto* const before = cubby::detail::sync::installed_hook();
  cubby::detail::sync::install_hook(&see);
  watching = model.get();
  for (std::size_t i = 0; i < t.before + t.operations; ++i) {
    if (i == t.before) model->forget_counts();
    playing = i % t.cores;
    one(playing, i, keys.next());
  }
  watching = nullptr;
  cubby::detail::sync::install_hook(before);
  const auto n = static_cast<double>(t.operations);
  return {static_cast<double>(model->all()) / n, static_cast<double>(model->busiest()) / n};
}

template <class Map> typename Map::options_type options_for(const traffic& t) {
  typename Map::options_type o;
  o.capacity = t.keys;
  if constexpr (Map::capabilities.delegates) o.partitions = t.cores;
  return o;
}
template <class Map> void fill(Map& m, const traffic& t) {
  auto h = m.handle();
  for (std::uint64_t i = 0; i < t.keys; ++i) h.insert_or_add(cubby_test::splitmix(i), 1);
}

} // namespace

transfers of_shared_table(const traffic& t) {
  using map = cubby::map<std::uint64_t, std::uint64_t, cubby::dramhit>;
  map m(options_for<map>(t));
  fill(m, t);
  std::vector<map::handle_type> cores;
  for (std::size_t i = 0; i < t.cores; ++i) cores.push_back(m.handle());
  return count(t, [&](std::size_t core, std::size_t, std::uint64_t key) { cores[core].insert_or_add(key, 1); });
}

transfers of_partitioned_table(const traffic& t) {
  using map = cubby::delegated_map<std::uint64_t, std::uint64_t>;
  map m(options_for<map>(t));
  fill(m, t);
  std::vector<map::handle_type> cores;
  for (std::size_t i = 0; i < t.cores; ++i) {
    cores.push_back(m.handle());
    cores.back().own(i);
  }
  // Every core is a producer and an owner; it looks into its inbox once in so many operations of its own.
  constexpr std::size_t between_looks = 16;
  return count(t, [&](std::size_t core, std::size_t i, std::uint64_t key) {
    cores[core].insert_or_add(key, 1);
    if (i / t.cores % between_looks == 0) cores[core].serve();
  });
}

namespace {

/// Every channel has been filled once round, and then four sections of it.
void play_long_enough(traffic& t) {
  const std::size_t channels = t.cores * t.cores;
  t.before = std::max<std::size_t>(100000, channels * 600);
  t.operations = std::max<std::size_t>(50000, channels * 256);
}

} // namespace

std::string transfers_table() {
  std::string out = "cores   shared: lines  busiest   partitioned: lines  busiest\n";
  for (const std::size_t cores : {2u, 4u, 8u, 16u, 32u, 64u}) {
    traffic t;
    t.cores = cores;
    play_long_enough(t);
    const transfers shared = of_shared_table(t);
    const transfers parts = of_partitioned_table(t);
    std::array<char, 96> line;
    std::snprintf(line.data(), line.size(), "%5zu %15.3f %8.3f %20.3f %8.3f\n", cores, shared.lines, shared.busiest,
                  parts.lines, parts.busiest);
    out += line.data();
  }
  return out;
}

namespace {

traffic small(std::size_t cores, double theta) {
  traffic t;
  t.cores = cores;
  t.keys = 1 << 16;
  t.theta = theta;
  play_long_enough(t);
  return t;
}

// The line of four messages goes to the sender and to the owner: half a line a message, and a little for its section's words. The
// entry costs none.
TEST(transfers, of_delegated_writes_do_not_grow_with_the_skew) {
  for (const std::size_t cores : {4u, 16u}) {
    const transfers uniform = of_partitioned_table(small(cores, 0));
    const transfers skewed = of_partitioned_table(small(cores, 1.09));
    EXPECT_LT(skewed.lines, 0.65) << cores;
    EXPECT_LT(skewed.lines, uniform.lines * 1.2) << cores;
    EXPECT_GT(skewed.lines, 0.4) << "messages that were not counted";
  }
}

TEST(transfers, of_a_hot_entry_are_what_delegation_saves) {
  const transfers shared = of_shared_table(small(16, 1.09));
  const transfers parts = of_partitioned_table(small(16, 1.09));
  EXPECT_GT(shared.busiest, 0.05) << "the hottest entry should change hands at nearly each of its operations";
  EXPECT_LT(parts.busiest * 10, shared.busiest);
  EXPECT_LT(parts.lines, shared.lines);
}

} // namespace
} // namespace cubby_counting
