// SPDX-License-Identifier: Apache-2.0
// What a program and its plugin agree on: tables that one makes and the other uses.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/map.hpp>

namespace cubby_test {

/// A value that is torn, or has been destroyed, when its words differ.
struct wide {
  std::uint64_t words[6] = {};
  explicit wide(std::uint64_t n = 0) noexcept {
    for (auto& one : words) one = n;
  }
  wide(const wide&) = default;
  wide& operator=(const wide&) = default;
  ~wide() {
    volatile std::uint64_t& last = words[5];
    last = ~words[0];
  }
  [[nodiscard]] bool is_whole() const noexcept {
    for (const auto one : words) {
      if (one != words[0]) return false;
    }
    return true;
  }
};

template <class Engine> using shared_map = cubby::map<std::uint64_t, wide, Engine>;
inline constexpr std::uint64_t shared_keys = 8;

/// What a plugin gives for each engine. Plain functions: found by name after `dlopen`.
template <class Engine> struct plugin_calls {
  shared_map<Engine>* (*make)(bool background);
  void (*destroy)(shared_map<Engine>*);
  std::size_t (*read)(const shared_map<Engine>&, std::size_t rounds); ///< answers how many values were torn
  void (*write)(shared_map<Engine>&, std::size_t rounds);
};

/// Both sides compile these: which image runs them is the test.
template <class Engine> std::size_t read_all(const shared_map<Engine>& m, std::size_t rounds) {
  std::size_t wrong = 0;
  for (std::size_t n = 0; n < rounds; ++n) {
    m.visit(n % shared_keys, [&wrong](const wide& v) {
      for (int look = 0; look < 20; ++look) wrong += v.is_whole() ? 0 : 1;
    });
  }
  return wrong;
}
template <class Engine> void write_all(shared_map<Engine>& m, std::size_t rounds) {
  for (std::size_t n = 0; n < rounds; ++n) m.insert_or_assign(n % shared_keys, wide(n));
}

} // namespace cubby_test
