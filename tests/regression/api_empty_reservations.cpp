// SPDX-License-Identifier: Apache-2.0
// A reservation costs what the entries cost that are there: its memory is not touched, its index is not scanned (F.7). What no
// memory can hold is refused at once, and the table works on. Seen: `reserve(2^34)` on ten entries took 14 s, 2^40 all memory.
#include <atomic>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <new>
#include <optional>
#include <unordered_set>

#include <unistd.h>

#include <cubby/delegated_map.hpp>

#include "engines.hpp"
#include "support/hooks.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

constexpr std::uint64_t entries = 10;
/// At least 8 TiB, which the kernel would grant: nobody has touched it.
constexpr std::size_t absurd[] = {std::size_t{1} << 40,
                                  std::size_t{1} << 45,
                                  std::size_t{1} << 60,
                                  std::size_t{1} << 63,
                                  std::numeric_limits<std::size_t>::max() / 2,
                                  std::numeric_limits<std::size_t>::max() - 1,
                                  std::numeric_limits<std::size_t>::max()};
/// Some GiB: the largest power of two that this machine can hold in every engine, or a little less. A short run takes half of that, which
/// is still more than these calls may touch.
std::size_t large() {
  std::size_t n = (std::size_t{1} << 26) / sparse_stride(2);
  while (n > (std::size_t{1} << 20) && !cubby::detail::memory::can_hold(n * 128)) n /= 2;
  return n;
}

std::size_t resident_bytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  unsigned long all = 0;
  unsigned long here = 0;
  EXPECT_EQ(std::fscanf(file, "%lu %lu", &all, &here), 2);
  std::fclose(file);
  return here * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Atomic words that this thread looks at, and lines that are asked for. Words and not steps: a wait for the table's own thread
/// looks at a few words as often as it takes.
class step_counter final : public watcher {
public:
  step_counter() { asked = 0; }
  void before(step, const void* word) override { words.insert(word); }
  [[nodiscard]] std::uint64_t count() const { return words.size() + asked; }

private:
  static inline std::atomic<std::uint64_t> asked{0};
  // Once, before any thread: the hook itself is not an atomic word.
  static inline const bool installed =
      (cubby::detail::install_prefetch_hook([](const void*) { asked.fetch_add(1, std::memory_order_relaxed); }), true);
  std::unordered_set<const void*> words;
};

template <class Engine> struct plain_table {
  using map = cubby::map<std::uint64_t, std::uint64_t, Engine>;
  explicit plain_table(const table_options& o) : all(o) {}
  void fill(std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t n = from; n < to; ++n) ASSERT_TRUE(all.insert(n, n));
  }
  void empty(std::uint64_t to) {
    for (std::uint64_t n = 0; n < to; ++n) ASSERT_TRUE(all.erase(n));
  }
  map all;
};
struct delegated_table {
  using map = cubby::delegated_map<std::uint64_t, std::uint64_t>;
  explicit delegated_table(const table_options& o) : all(o) {}
  void fill(std::uint64_t from, std::uint64_t to) {
    auto h = all.handle();
    for (std::uint64_t n = from; n < to; ++n) ASSERT_EQ(h.insert_or_assign(n, n), cubby::outcome::done);
    ASSERT_TRUE(h.flush());
  }
  void empty(std::uint64_t to) {
    auto h = all.handle();
    for (std::uint64_t n = 0; n < to; ++n) h.erase(n);
    ASSERT_TRUE(h.flush());
  }
  map all;
};

constexpr cubby::growth_policy all_policies[] = {cubby::growth_policy::cooperative, cubby::growth_policy::incremental,
                                                 cubby::growth_policy::background, cubby::growth_policy::fixed};

template <class Table> class regression_api_reservations : public ::testing::Test {};
template <class Engine> using plain_table_of = ::testing::Types<plain_table<Engine>>;
using reserving_tables = join<join_over<plain_table_of, every_plain_engine>, ::testing::Types<delegated_table>>;
TYPED_TEST_SUITE(regression_api_reservations, reserving_tables);

TYPED_TEST(regression_api_reservations, that_no_memory_can_hold_are_refused_at_once) {
  for (const auto growth : all_policies) {
    table_options o = tiny_options(growth);
    o.capacity = 100;
    TypeParam t(o);
    ASSERT_NO_FATAL_FAILURE(t.fill(0, entries));
    const std::size_t mapped = t.all.stats().bytes;
    for (const std::size_t size : absurd) {
      step_counter steps;
      EXPECT_FALSE(t.all.reserve(size)) << size;
      EXPECT_LT(steps.count(), 3000u) << size;
    }
    EXPECT_EQ(t.all.stats().bytes, mapped);
    ASSERT_NO_FATAL_FAILURE(t.fill(entries, 80));
    for (std::uint64_t n = 0; n < 80; ++n) ASSERT_EQ(t.all.find(n), n);
  }
}

TYPED_TEST(regression_api_reservations, that_no_memory_can_hold_are_refused_as_capacities) {
  for (const auto growth : all_policies) {
    for (const std::size_t size : absurd) {
      table_options o = tiny_options(growth);
      o.capacity = size;
      EXPECT_THROW(TypeParam{o}, std::bad_alloc) << size;
    }
  }
}

/// The bytes that this process has read from files; 0 if the kernel does not say.
std::uint64_t bytes_read() {
  unsigned long long bytes = 0;
  std::FILE* const file = std::fopen("/proc/self/io", "re");
  if (file == nullptr) return 0;
  if (std::fscanf(file, "rchar: %llu", &bytes) != 1) bytes = 0;
  std::fclose(file);
  return bytes;
}
/// A table without memory to grow asks at each insert. The files took most of its time.
TEST(regression_memory, that_there_is_not_is_asked_for_without_reading_files_each_time) {
  const std::uint64_t before = bytes_read();
  if (before == 0) GTEST_SKIP() << "this kernel counts no reads";
  for (int i = 0; i < 10000; ++i) ASSERT_TRUE(cubby::detail::memory::can_hold(cubby::detail::memory::asked_from));
  EXPECT_LT(bytes_read() - before, 100'000U);
}

/// One page at most of each entry and each partition, before and after: huge ones, where the kernel gives them.
constexpr std::size_t touched = (2 * entries + 2 * 16 + 8) * cubby::detail::memory::huge_page;

TYPED_TEST(regression_api_reservations, of_a_few_entries_scan_nothing_and_touch_no_memory) {
  if (std::same_as<TypeParam, plain_table<cubby::iceberg>> || std::same_as<TypeParam, plain_table<cubby::seph>>)
    GTEST_SKIP() << "they split each bucket or segment";
  if (std::same_as<TypeParam, plain_table<cubby::reference>>) GTEST_SKIP() << "std::unordered_map clears its buckets";
  for (const auto growth : growing_policies) {
    TypeParam t(tiny_options(growth));
    ASSERT_NO_FATAL_FAILURE(t.fill(0, entries));
    const std::size_t before = resident_bytes();
    {
      step_counter steps;
      ASSERT_TRUE(t.all.reserve(large()));
      EXPECT_LT(steps.count(), 20000u);
    }
    EXPECT_GE(t.all.stats().bytes, large() * sizeof(std::uint64_t));
    ASSERT_NO_FATAL_FAILURE(t.fill(entries, 2 * entries));
    for (std::uint64_t n = 0; n < 2 * entries; ++n) ASSERT_EQ(t.all.find(n), n);
    EXPECT_EQ(t.all.size(), 2 * entries);
    ASSERT_NO_FATAL_FAILURE(t.empty(2 * entries));
    EXPECT_EQ(t.all.size(), 0u);
    if (!cubby::detail::cpu::thread_sanitizer) {
      EXPECT_LT(resident_bytes(), before + touched);
    }
  }
}

TYPED_TEST(regression_api_reservations, of_the_constructor_touch_no_memory) {
  if (std::same_as<TypeParam, plain_table<cubby::seph>>) GTEST_SKIP() << "it makes each level segment";
  if (std::same_as<TypeParam, plain_table<cubby::reference>>) GTEST_SKIP() << "std::unordered_map clears its buckets";
  for (const auto growth : all_policies) {
    const std::size_t before = resident_bytes();
    table_options o = tiny_options(growth);
    o.capacity = large();
    std::optional<step_counter> steps(std::in_place);
    TypeParam t(o);
    ASSERT_NO_FATAL_FAILURE(t.fill(0, entries));
    EXPECT_LT(steps->count(), 20000u);
    steps.reset(); // the destructor may look at every bucket
    if (!cubby::detail::cpu::thread_sanitizer) {
      EXPECT_LT(resident_bytes(), before + touched);
    }
  }
}

/// The way back scans the table: so a smaller one.
TYPED_TEST(regression_api_reservations, are_given_back_by_shrink_to_fit) {
  for (const auto growth : growing_policies) {
    TypeParam t(tiny_options(growth));
    ASSERT_NO_FATAL_FAILURE(t.fill(0, entries));
    const std::size_t mapped = t.all.stats().bytes;
    ASSERT_TRUE(t.all.reserve(100000));
    const std::size_t reserved = t.all.stats().bytes;
    ASSERT_GT(reserved, mapped);
    ASSERT_NO_FATAL_FAILURE(t.fill(entries, 40));
    const auto given_back = [&] {
      EXPECT_TRUE(t.all.shrink_to_fit());
      return t.all.stats().bytes <= mapped + (reserved - mapped) / 4;
    };
    // The thread of a `background` table may still look at the larger index, whose memory is then given back a little later.
    EXPECT_TRUE(growth == cubby::growth_policy::background ? eventually(given_back) : given_back() || given_back())
        << t.all.stats().bytes << " bytes, " << mapped << " before, " << reserved << " reserved";
    for (std::uint64_t n = 0; n < 40; ++n) ASSERT_EQ(t.all.find(n), n);
  }
}

} // namespace
} // namespace cubby_test
