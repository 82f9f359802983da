// SPDX-License-Identifier: Apache-2.0
// What the hash of a text costs beside XXH3 with a seed, both inlined. `apart`: texts that follow one upon another. `in turn`:
// texts of which each begins where the hash before says. Nanoseconds a text: the medians of rounds that take turns.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cubby/hash.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr std::size_t rounds = 9;
constexpr std::uint64_t texts = 2'000'000;
constexpr std::size_t space = 8192; // in the first cache level
constexpr std::size_t longest = 200;

struct ours {
  std::uint64_t operator()(const char* at, std::size_t size, std::uint64_t seed) const noexcept {
    return cubby::hash_bytes(at, size, seed);
  }
};
struct xxh3 {
  std::uint64_t operator()(const char* at, std::size_t size, std::uint64_t seed) const noexcept {
    return XXH3_64bits_withSeed(at, size, seed);
  }
};

std::uint64_t kept = 0;

/// The size is no constant to the compiler, as it is none to a table.
template <class Hash, bool InTurn> [[gnu::noinline]] double nanoseconds(const std::vector<char>& from,
                                                                        std::size_t size) {
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t sum = 0;
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < texts; ++i) {
    const std::uint64_t hash = Hash{}(from.data() + at, size, 1);
    sum += hash;
    at = InTurn ? hash % space : (at + 24) % space;
  }
  kept += sum;
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
  return spent.count() / static_cast<double>(texts);
}

double median(std::array<double, rounds> all) {
  std::sort(all.begin(), all.end());
  return all[rounds / 2];
}

} // namespace

int main() {
  std::vector<char> from(space + longest);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(cubby::mix(i));
  std::printf("bytes  hash_bytes apart  in turn   XXH3 apart  in turn\n");
  for (const std::size_t size : std::array<std::size_t, 4>{8, 16, 40, longest}) {
    std::array<std::array<double, rounds>, 4> all{};
    for (std::size_t round = 0; round < rounds; ++round) {
      all[0][round] = nanoseconds<ours, false>(from, size);
      all[2][round] = nanoseconds<xxh3, false>(from, size);
      all[1][round] = nanoseconds<ours, true>(from, size);
      all[3][round] = nanoseconds<xxh3, true>(from, size);
    }
    std::printf("%5zu %17.2f %8.2f %12.2f %8.2f\n", size, median(all[0]), median(all[1]), median(all[2]),
                median(all[3]));
  }
  return kept == 0 ? 1 : 0; // what is used is not optimised away
}
