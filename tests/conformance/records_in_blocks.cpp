// SPDX-License-Identifier: Apache-2.0
// Records of tables with std::allocator lie in blocks of the library, in programs without a sanitizer: none is lost, torn or shared, whatever its
// size, and they go back.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>
#include <cubby/relativistic.hpp>
#include <cubby/seph.hpp>

#include <gtest/gtest.h>

#include "support/random.hpp"

namespace cubby_test {
namespace {

namespace detail = cubby::detail;
bool in_blocks() { return !detail::allocations_are_watched(); }
using detail::block_pages;
/// `seph` promises even inserts.
template <class Engine> constexpr block_pages pages_for =
    std::is_same_v<Engine, cubby::seph> ? block_pages::small : block_pages::huge;
detail::record_heap* blocks(block_pages pages) {
  const detail::domain_ref home = detail::registry::own_domain();
  EXPECT_TRUE(home);
  return home ? home->blocks(pages) : nullptr;
}
template <class Engine> std::uint64_t bytes_of_blocks() {
  detail::record_heap* const heap = blocks(pages_for<Engine>);
  EXPECT_EQ(heap != nullptr, in_blocks());
  return heap == nullptr ? 0 : heap->bytes();
}

/// Most have up to 100 bytes, some more than a block may have.
std::string text_of(std::uint64_t number) {
  const std::uint64_t random = splitmix(number);
  std::string text = std::to_string(number) + ' ';
  text.resize(text.size() + random % (random / 256 % 16 == 0 ? 1200 : 90), static_cast<char>('a' + random % 26));
  return text;
}

template <class Engine>
class records_in_blocks : public ::testing::Test {};
using engines_of_memory = ::testing::Types<cubby::dlht, cubby::iceberg, cubby::relativistic, cubby::seph>;
TYPED_TEST_SUITE(records_in_blocks, engines_of_memory);

/// Each thread has keys of its own, and a copy of their values.
TYPED_TEST(records_in_blocks, keep_what_each_thread_writes) {
  constexpr std::uint64_t threads = 3;
  constexpr std::uint64_t keys = 3000;
  const std::uint64_t before = bytes_of_blocks<TypeParam>();
  {
    cubby::map<std::string, std::uint64_t, TypeParam> m;
    std::vector<std::thread> all;
    std::vector<std::vector<std::uint64_t>> wanted(threads, std::vector<std::uint64_t>(keys)); // 0: not there
    for (std::uint64_t t = 0; t < threads; ++t) {
      all.emplace_back([&m, t, &mine = wanted[t]] {
        random_source random(t);
        for (std::uint64_t i = 1; i <= 40'000; ++i) {
          const std::uint64_t which = random.below(keys);
          const std::string key = text_of(which * threads + t);
          if (random.below(3) != 0) {
            (void)m.insert_or_assign(key, i);
            mine[which] = i;
          } else {
            EXPECT_EQ(m.erase(key), mine[which] != 0);
            mine[which] = 0;
          }
        }
      });
    }
    for (std::thread& one : all) one.join();
    for (std::uint64_t t = 0; t < threads; ++t) {
      for (std::uint64_t i = 0; i < keys; ++i) {
        const auto found = m.find(text_of(i * threads + t));
        ASSERT_EQ(found.value_or(0), wanted[t][i]);
      }
    }
    EXPECT_EQ(bytes_of_blocks<TypeParam>() > 0, in_blocks());
  }
  EXPECT_LE(bytes_of_blocks<TypeParam>(), before + (in_blocks() ? 19 : 0) * (std::uint64_t{2} << 20))
      << "of each size a slab stays";
}

/// What was erased last waits for the next calls, so a few entries of a living table keep some chunks.
TYPED_TEST(records_in_blocks, go_back_at_the_latest_with_their_table) {
  constexpr std::uint64_t chunk = std::uint64_t{2} << 20;
  const std::uint64_t before = bytes_of_blocks<TypeParam>();
  for (const bool erased : {true, false}) {
    cubby::map<std::string, std::uint64_t, TypeParam> m;
    const std::string tail(200, 'x');
    std::vector<std::uint64_t> order;
    for (std::uint64_t i = 0; i < 100'000; ++i) order.push_back(i);
    for (const std::uint64_t i : order) ASSERT_TRUE(m.insert(std::to_string(i) + tail, i));
    EXPECT_GE(bytes_of_blocks<TypeParam>(), (in_blocks() ? 10 : 0) * chunk);
    random_source random(1);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    if (!erased) order.clear();
    for (const std::uint64_t i : order) ASSERT_TRUE(m.erase(std::to_string(i) + tail));
  }
  EXPECT_LE(bytes_of_blocks<TypeParam>(), before + 4 * chunk);
}

template <class Engine>
class records : public ::testing::Test {};
TYPED_TEST_SUITE(records, engines_of_memory);

TYPED_TEST(records, of_texts_are_free_after_a_clear) {
  cubby::map<std::string, std::uint64_t, TypeParam> m;
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t i = 0; i < 20'000; ++i) ASSERT_TRUE(m.insert(text_of(i) + std::string(60, 'y'), i));
    {
      [[maybe_unused]] const auto guard = m.guard();
      m.clear();
      EXPECT_GE(m.stats().retired, 20'000U) << "a guard holds what it can have seen";
    }
    m.clear();
    EXPECT_LE(m.stats().retired, 16U * 256) << "few of each stripe may wait";
    EXPECT_TRUE(m.empty());
  }
}

/// A lookup of a word reads one line of a record.
TEST(records_in_blocks_of_seph, have_words_in_one_line) {
  constexpr std::uint64_t entries = 5000;
  cubby::map<std::uint64_t, std::uint64_t, cubby::seph> m;
  for (std::uint64_t i = 0; i < entries; ++i) ASSERT_TRUE(m.insert(i, i));
  std::uint64_t in_two = 0;
  for (std::uint64_t i = 0; i < entries; ++i) {
    (void)m.visit(i, [&](const std::uint64_t& value) {
      const auto end = reinterpret_cast<std::uintptr_t>(&value + 1); // behind the item, which is in front of it
      const auto begin = end - sizeof value - sizeof(detail::engines::seph::item);
      in_two += begin / 64 != (end - 1) / 64 ? 1U : 0U;
    });
  }
  EXPECT_TRUE(!in_blocks() || in_two == 0) << in_two << " of " << entries;
}

/// What the kernel says of the mapping with an address: "nh" for one that is to have no huge pages.
std::string flags_of(const void* at) {
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long long from = 0;
    unsigned long long to = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &from, &to) == 2)
      here = from <= reinterpret_cast<std::uintptr_t>(at) && reinterpret_cast<std::uintptr_t>(at) < to;
    if (here && line.starts_with("VmFlags:")) return line + ' ';
  }
  return {};
}
/// Also where the system maps huge pages unasked.
TEST(records_in_blocks_of_seph, lie_in_small_pages) {
  const bool has_huge_pages = std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled").good();
  if (!in_blocks() || !has_huge_pages) GTEST_SKIP() << "no blocks, or a system without huge pages";
  cubby::map<std::uint64_t, std::uint64_t, cubby::seph> m;
  for (std::uint64_t i = 0; i < 5000; ++i) ASSERT_TRUE(m.insert(i, i));
  (void)m.visit(7U, [](const std::uint64_t& value) { EXPECT_NE(flags_of(&value).find(" nh "), std::string::npos); });
}

struct alignas(64) aligned {
  std::byte raw[64];
};

TEST(record_space, has_blocks_for_all_but_large_and_aligned_records) {
  const detail::record_space<block_pages::small> space;
  for (const std::size_t words : {1U, 2U, 3U, 128U, 129U, 100'000U}) {
    auto* const one = space.take<std::uint64_t>(words);
    ASSERT_NE(one, nullptr);
    EXPECT_EQ(detail::record_heap::is_block(one), in_blocks() && words <= 128);
    std::fill_n(one, words, ~std::uint64_t{0});
    space.give(one, words);
  }
  auto* const lines = space.take<aligned>(2);
  ASSERT_NE(lines, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(lines) % 64, 0U);
  space.give(lines, 2);
  EXPECT_EQ(space.take<std::uint64_t>(~std::size_t{0} / 8), nullptr);
}

/// Code that takes no blocks may give them back, and the other way round: the address says what it is.
TEST(record_space, knows_blocks_by_their_addresses) {
  const detail::record_space<block_pages::huge> space;
  detail::record_heap* const heap = blocks(block_pages::huge);
  for (std::size_t words = 1; words < 150; ++words) {
    struct alignas(16) unit {
      std::uint64_t of[2];
    };
    auto* const plain = detail::take_raw<unit>((words + 1) / 2);
    EXPECT_FALSE(detail::record_heap::is_block(plain)) << words;
    space.give(reinterpret_cast<std::uint64_t*>(plain), words);
    if (heap == nullptr || words > 128) continue;
    auto* const block = static_cast<std::uint64_t*>(heap->take(words * 8));
    ASSERT_TRUE(detail::record_heap::is_block(block)) << words;
    space.give(block, words);
  }
}

} // namespace
} // namespace cubby_test
