// SPDX-License-Identifier: Apache-2.0
// Pipelines of DRAMHiT by their two options: how many requests may be pending, and for how many memory is asked together.
// Threads that begin together, each with a pipeline of its own; the combinations take turns, round after round.
//   bench_pipelines [entries] [requests of a thread] [rounds] [threads] [percent full]
#include <cubby/dramhit.hpp>
#include <cubby/map.hpp>
#include <cubby/pipeline.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "rounds.hpp"

namespace {

using table = cubby::map<std::uint64_t, std::uint64_t, cubby::dramhit>;
using cubby::verb;

struct plan {
  std::uint64_t entries = 50'000'000;
  std::uint64_t requests = 10'000'000;
  std::uint64_t rounds = 5;
  std::uint64_t threads = 2;
  std::uint64_t percent = 37;
};
struct combination {
  cubby::pipeline_options options;
  bench::rounds finds{};
  bench::rounds adds{};
};

void fill(table& map, const plan& p) {
  std::vector<std::thread> fillers;
  for (std::uint64_t t = 0; t < p.threads; ++t) {
    fillers.emplace_back([&, t] {
      auto handle = map.handle();
      for (std::uint64_t k = t; k < p.entries; k += p.threads)
        if (!handle.insert(k, k)) std::abort();
    });
  }
  for (std::thread& t : fillers) t.join();
}

/// The seconds of one thread's requests, from when all threads are ready.
double play(table& map, const plan& p, cubby::pipeline_options chosen, verb what, bench::course& way,
            std::uint64_t seed) {
  auto pending = map.handle().pipeline(chosen);
  bench::random_numbers draw(seed, p.entries);
  std::uint64_t done = 0;
  const auto count = [&done](auto&& r) { done += r.result == cubby::outcome::done ? 1 : 0; };
  way.start();
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < p.requests; ++i) pending.submit({what, draw.next(), 1, i}, count);
  pending.drain(count);
  if (done != p.requests) std::abort();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Million requests a second of all threads, over the slowest one's time.
double rate(table& map, const plan& p, cubby::pipeline_options chosen, verb what) {
  bench::course way;
  std::vector<double> seconds(p.threads);
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < p.threads; ++t) {
    threads.emplace_back([&, t] {
      bench::pin_to_cpu(static_cast<unsigned>(t));
      seconds[t] = play(map, p, chosen, what, way, t + 1);
    });
  }
  way.open(static_cast<unsigned>(p.threads));
  for (std::thread& t : threads) t.join();
  return static_cast<double>(p.threads * p.requests) / *std::max_element(seconds.begin(), seconds.end()) / 1e6;
}

std::vector<combination> combinations() {
  std::vector<combination> all;
  for (const std::size_t window : {32UL, 64UL, 128UL})
    for (std::size_t batch = 4; batch <= window; batch *= 2) all.push_back({{window, batch}});
  return all;
}

} // namespace

int main(int count, char** words) {
  plan p;
  p.entries = bench::number(count, words, 1, p.entries);
  p.requests = bench::number(count, words, 2, p.requests);
  p.rounds = bench::number(count, words, 3, p.rounds);
  p.threads = bench::number(count, words, 4, p.threads);
  p.percent = bench::number(count, words, 5, p.percent);
  if (p.entries == 0 || p.requests == 0 || p.rounds == 0 || p.threads == 0 || p.percent == 0 || p.percent > 75)
    return 2;
  // A table makes so many slots that its capacity fills 75 % of them.
  table map(cubby::options{.capacity = p.entries * 75 / p.percent});
  fill(map, p);
  const auto figures = map.stats();
  std::printf("%zu entries in %zu slots, %zu %% full, %zu %% in huge pages\n", figures.size, figures.capacity,
              figures.size * 100 / figures.capacity, figures.huge_bytes * 100 / figures.bytes);
  std::vector<combination> all = combinations();
  for (std::uint64_t i = 0; i < p.rounds; ++i) {
    for (combination& c : all) {
      c.finds.add(rate(map, p, c.options, verb::find));
      c.adds.add(rate(map, p, c.options, verb::insert_or_add));
    }
  }
  for (const combination& c : all) {
    std::printf("window %3zu batch %3zu: find %6.1f Mops/s (spread %2.0f %%), insert_or_add %6.1f (%2.0f %%)\n",
                c.options.window, c.options.batch, c.finds.median(), c.finds.spread(), c.adds.median(),
                c.adds.spread());
  }
}
