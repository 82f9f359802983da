// SPDX-License-Identifier: Apache-2.0
// A verb and what moves its entry, each to be stopped at any of its steps. In the table one thread migrates all entries,
// and callers use one key. The file also judges what they saw. For every engine that moves entries one by one.
#pragma once

#include <cstdlib>
#include <functional>
#include <string>

#include "linearizability/play.hpp"
#include "support/random.hpp"

namespace cubby_test::scripted {

inline constexpr std::uint64_t hot_keys = 14; // keys that a suite's hash lets meet; those below 4 are marks as words

/// What moves every entry, and what the table holds before.
template <class Coding>
struct migration {
  using map = typename Coding::map;
  const char* name;
  std::function<void(map&)> before;
  std::function<void(map&)> act;
};

/// Where the key of a schedule lies, and who came before it.
struct place {
  std::uint64_t key;
  std::uint64_t before; // entries 4, 5, ... that its search passes
};
inline constexpr place places[] = {{10, 0}, {10, 5}, {1, 1}};

template <class Coding>
struct arena {
  arena(const migration<Coding>& how, const place& where, bool present) : r(tiny_options()), key(where.key) {
    how.before(r.map);
    script before;
    for (std::uint64_t k = 0; k < where.before; ++k) before.push_back({act::insert, 4 + k, 3});
    if (present) before.push_back({act::insert, key, 5});
    r.now(before);
    mover = r.turns.start([this, &how] { how.act(r.map); });
  }
  std::size_t caller(act what, std::uint64_t value) {
    calls.push_back(std::make_unique<script>(script{{what, key, value}, {act::find, key}}));
    return r.thread(*calls.back());
  }
  /// True when all went well; the table then holds what it says.
  bool ended(const std::string& at) {
    const finding f = r.end(hot_keys);
    EXPECT_EQ(f.what, judgement::linearizable) << at << "\n" << f.text;
    std::size_t seen = 0, met = 0;
    for (std::uint64_t k = 0; k < hot_keys; ++k) seen += r.map.contains(k) ? 1 : 0;
    r.map.visit_all([&](const auto&, const auto&) { ++met; });
    EXPECT_EQ(r.map.size(), seen) << at;
    EXPECT_EQ(met, seen) << at;
    return !::testing::Test::HasFailure();
  }
  run<Coding> r;
  std::uint64_t key;
  std::size_t mover;
  std::vector<std::unique_ptr<script>> calls;
};

/// Calls `one(migration, place, present, verb, name)` for the first so many verbs in every combination, until it returns
/// false.
template <class Coding, class One>
void for_each_combination_of(const std::vector<migration<Coding>>& all, std::size_t verbs, One one) {
  for (const auto& how : all) {
    for (const place& where : places) {
      for (const bool present : {true, false}) {
        for (std::size_t what = 0; what < verbs; ++what) {
          const std::string name = std::string(how.name) + ", verb " + std::to_string(what) + ", key " +
                                   std::to_string(where.key) + " behind " + std::to_string(where.before) +
                                   (present ? ", present" : ", absent") + ", stops ";
          if (!one(how, where, present, static_cast<act>(what), name)) return;
        }
      }
    }
  }
}

/// One combination in this many is taken by each run; all are, when a longer run is asked for. Sparse runs take fewer, and so does
/// ThreadSanitizer: each combination starts its own threads, which come dear there.
inline std::uint64_t rarity(std::uint64_t usual) {
  const bool fewer = cubby::detail::cpu::thread_sanitizer || sparse();
  return scaled(1) > 1 ? 1 : usual * (fewer ? 4 : 1);
}

} // namespace cubby_test::scripted
