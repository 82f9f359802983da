// SPDX-License-Identifier: Apache-2.0
// Lookups that wait for memory while other lookups go on, for code that cannot gather its requests into batches. Each
// task follows a chain of references, so its next key is known only when the last lookup has answered.
#include <cubby/coro.hpp>
#include <cubby/map.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

using graph = cubby::map<std::uint64_t, std::uint64_t>;

cubby::task follow(graph::handle_type& edges, std::uint64_t start, int steps, std::uint64_t& end) {
  std::uint64_t node = start;
  for (int i = 0; i < steps; ++i) {
    const auto next = co_await edges.async_find(node);
    if (!next) co_return;
    node = *next;
  }
  end = node;
}

} // namespace

int main() {
  constexpr std::uint64_t nodes = 100'000;
  constexpr std::uint64_t stride = 7919;
  constexpr int steps = 20;
  graph edges(cubby::options{.capacity = nodes});
  for (std::uint64_t n = 0; n < nodes; ++n) edges.insert(n, (n + stride) % nodes);

  auto handle = edges.handle();
  cubby::round_robin runner(16);
  std::vector<std::uint64_t> ends(1000, nodes);
  for (std::uint64_t start = 0; start < ends.size(); ++start) {
    runner.spawn(follow(handle, start, steps, ends[start]));
  }
  runner.run();

  for (std::uint64_t start = 0; start < ends.size(); ++start) {
    if (ends[start] != (start + stride * steps) % nodes) return 1;
  }
  std::printf("%zu chains of %d steps\n", ends.size(), steps);
  return 0;
}
