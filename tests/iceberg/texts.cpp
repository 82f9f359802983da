// SPDX-License-Identifier: Apache-2.0
// Text keys in iceberg's slots, and long ones in key records: all sizes and bytes, equal prefixes, equal hashes, the memory of
// records, and records that leave while a reader compares.
#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "engines.hpp"
#include "support/counting.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace cubby_test {
namespace {

/// All texts share a hash.
struct equal_hash {
  using is_transparent = void;
  std::uint64_t operator()(std::string_view) const noexcept { return 5; }
};
template <class V, class Hash = cubby::hash<std::string>>
using slot_texts = cubby::map<std::string, V, cubby::iceberg, Hash>;
template <class V, class Hash = cubby::hash<std::string>>
using wide_texts = cubby::map<std::string, V, cubby::iceberg_wide, Hash>;
using text_words = slot_texts<std::uint64_t>;
static_assert(text_words::mode == cubby::storage_mode::texts);
static_assert(slot_texts<std::uint64_t, equal_hash>::mode == cubby::storage_mode::texts);
static_assert(slot_texts<std::string>::mode == cubby::storage_mode::records);
template <class Map>
constexpr std::size_t short_bytes = Map::engine_type::policy::short_bytes;
static_assert(short_bytes<text_words> == 23 && short_bytes<wide_texts<std::uint64_t>> == 55);
static_assert(short_bytes<cubby::set<std::string, cubby::iceberg>> == 31);
static_assert(short_bytes<cubby::set<std::string, cubby::iceberg_wide>> == 63);

/// A text of `size` bytes, which begins like all others of its kind.
enum class text_kind : std::uint8_t { letters, zero_bytes, high_bytes };
std::string text_of(std::size_t size, text_kind what) {
  constexpr char bytes[] = {'a', '\0', '\xff'};
  return std::string(size, bytes[static_cast<unsigned>(what)]);
}

constexpr std::size_t most_bytes = 300;

/// Calls `one(kind, size, number)` for each text: numbers 0, 1, 2 ...
template <class One>
std::uint64_t for_each_text(One one) {
  std::uint64_t number = 0;
  for (const text_kind what : {text_kind::letters, text_kind::zero_bytes, text_kind::high_bytes}) {
    for (std::size_t size = what == text_kind::letters ? 0 : 1; size <= most_bytes; ++size) {
      one(what, size, number);
      if (::testing::Test::HasFatalFailure()) return number;
      ++number;
    }
  }
  return number;
}

/// A text that differs in one byte alone is absent.
template <class Map>
void expect_no_neighbours(const Map& m, text_kind what, std::size_t size) {
  for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
    std::string k = text_of(size, what);
    k[at] = 'b';
    ASSERT_FALSE(m.contains(k)) << size << " at " << at;
  }
}

template <class Map>
void expect_all_sizes(Map& m) {
  using value = typename Map::mapped_type;
  const std::uint64_t count = for_each_text([&](text_kind what, std::size_t size, std::uint64_t n) {
    const std::string k = text_of(size, what);
    ASSERT_FALSE(m.contains(k)) << size;
    ASSERT_TRUE(m.insert(k, value{n})) << size;
    ASSERT_FALSE(m.insert(k, value{0})) << size;
  });
  ASSERT_EQ(m.size(), count);
  for_each_text([&](text_kind what, std::size_t size, std::uint64_t n) {
    const std::string k = text_of(size, what);
    ASSERT_EQ(m.find(k), value{n}) << size;
    ASSERT_EQ(m.find(std::string_view(k)), value{n}) << size;
    if (size != 0) expect_no_neighbours(m, what, size);
  });
  std::vector<unsigned> met(count, 0);
  m.visit_all([&](const std::string& k, const value& v) {
    ASSERT_EQ(m.find(k), v);
    ++met[static_cast<std::uint64_t>(v)];
  });
  for (const unsigned one : met) ASSERT_EQ(one, 1u);
  ASSERT_TRUE(m.shrink_to_fit());
  for_each_text([&](text_kind what, std::size_t size, std::uint64_t) {
    ASSERT_TRUE(m.erase(text_of(size, what))) << size;
    ASSERT_FALSE(m.erase(text_of(size, what))) << size;
  });
  EXPECT_EQ(m.size(), 0u);
}

TEST(iceberg_texts, of_every_size_are_told_apart) {
  text_words m(tiny_options());
  expect_all_sizes(m);
}
TEST(iceberg_texts, of_every_size_with_equal_hashes_are_told_apart) {
  CUBBY_SKIP_UNDER_TSAN();
  slot_texts<std::uint64_t, equal_hash> m(tiny_options());
  expect_all_sizes(m);
}

TEST(iceberg_texts, in_wide_slots_are_told_apart) {
  wide_texts<std::uint64_t> m(tiny_options());
  expect_all_sizes(m);
}
TEST(iceberg_texts, in_wide_slots_with_equal_hashes_are_told_apart) {
  CUBBY_SKIP_UNDER_TSAN();
  wide_texts<std::uint64_t, equal_hash> m(tiny_options());
  expect_all_sizes(m);
}
/// A lookup reads nothing behind the text of the caller.
TEST(iceberg_texts, of_the_caller_may_end_where_memory_ends) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const got = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(got, MAP_FAILED);
  char* const end = static_cast<char*>(got) + page;
  ASSERT_EQ(mprotect(end, page, PROT_NONE), 0);
  wide_texts<std::uint64_t> m;
  for (std::size_t size = 0; size < 80; ++size) {
    const std::string_view k(end - size, size);
    for (std::size_t i = 0; i < size; ++i) *(end - size + i) = static_cast<char>('a' + i % 26);
    ASSERT_TRUE(m.insert(k, size));
    ASSERT_FALSE(m.insert(k, size));
    ASSERT_EQ(m.find(k), size);
    ASSERT_FALSE(m.insert_or_assign(k, size + 1));
    ASSERT_EQ(m.find(k), size + 1);
    ASSERT_TRUE(m.erase(k));
  }
  EXPECT_EQ(munmap(got, 2 * page), 0);
}

/// A value of `Words` words that is one number.
template <std::size_t Words>
struct wide_number {
  std::uint64_t at[Words] = {};
  wide_number() = default;
  explicit wide_number(std::uint64_t n) {
    for (std::uint64_t& one : at) one = n++;
  }
  explicit operator std::uint64_t() const { return at[0]; }
  bool operator==(const wide_number&) const = default;
};
TEST(iceberg_texts, beside_values_of_every_width_are_told_apart) {
  const auto one = [](auto value) {
    slot_texts<decltype(value)> m(tiny_options());
    static_assert(decltype(m)::mode == cubby::storage_mode::texts);
    expect_all_sizes(m);
    wide_texts<decltype(value)> wide(tiny_options());
    expect_all_sizes(wide);
  };
  one(wide_number<1>());
  one(wide_number<2>());
  one(wide_number<3>());
  one(wide_number<4>());
  one(wide_number<5>());
}
template <class Engine>
void expect_all_sizes_in_a_set() {
  cubby::set<std::string, Engine> s(tiny_options());
  for (std::size_t size = 0; size <= 300; ++size) ASSERT_TRUE(s.insert(text_of(size, text_kind::zero_bytes))) << size;
  for (std::size_t size = 0; size <= 300; ++size) {
    ASSERT_FALSE(s.insert(text_of(size, text_kind::zero_bytes))) << size;
    ASSERT_EQ(s.contains(text_of(size, text_kind::letters)), size == 0) << size;
  }
  EXPECT_EQ(s.size(), 301u);
  for (std::size_t size = 0; size <= 300; ++size) ASSERT_TRUE(s.erase(text_of(size, text_kind::zero_bytes))) << size;
}
TEST(iceberg_texts, in_sets_are_told_apart) {
  expect_all_sizes_in_a_set<cubby::iceberg>();
  expect_all_sizes_in_a_set<cubby::iceberg_wide>();
}

/// The suite's mode has keys of both kinds: this is where it is seen.
TEST(iceberg_texts, of_the_suite_lie_in_slots_and_in_records) {
  using mode = slot_text_mode<cubby::iceberg>;
  static_assert(mode::map::mode == cubby::storage_mode::texts);
  using codec = mode::map::engine_type::policy;
  EXPECT_EQ(codec::short_bytes, 23u);
  for (std::uint64_t n = 0; n < 5000; ++n) EXPECT_EQ(mode::key(n).size() > codec::short_bytes, n % 2 == 1) << n;
}

template <class Hash>
using counted_texts = cubby::map<std::string, std::uint64_t, cubby::iceberg, Hash, counting_allocator<std::byte>>;

std::string long_key(std::uint64_t n) { return "a key that is too long for a slot " + std::to_string(n); }

template <class Hash>
void expect_no_leak() {
  allocation_account account;
  {
    counted_texts<Hash> m(tiny_options(), Hash(), counting_allocator<std::byte>(account));
    for (std::uint64_t n = 0; n < 400; ++n) ASSERT_TRUE(m.insert("short" + std::to_string(n), n));
    EXPECT_EQ(account.blocks.load(), 0) << "short keys need no memory of their own";
    for (std::uint64_t n = 0; n < 400; ++n) ASSERT_TRUE(m.insert(long_key(n), n));
    EXPECT_EQ(account.blocks.load(), 400);
    for (std::uint64_t n = 0; n < 400; ++n) ASSERT_FALSE(m.insert(long_key(n), n));
    for (std::uint64_t n = 0; n < 400; ++n) ASSERT_TRUE(m.assign(long_key(n), n + 1));
    EXPECT_EQ(account.asked.load(), 400u) << "a present key needs no record";
    for (std::uint64_t n = 0; n < 300; ++n) ASSERT_TRUE(m.erase(long_key(n)));
    ASSERT_TRUE(m.reserve(5000));
    ASSERT_TRUE(m.shrink_to_fit());
    EXPECT_EQ(account.blocks.load(), 100);
    for (std::uint64_t n = 300; n < 400; ++n) ASSERT_EQ(m.find(long_key(n)), n + 1);
  }
  EXPECT_EQ(account.blocks.load(), 0);
  EXPECT_EQ(account.bytes.load(), 0);
}
TEST(iceberg_texts, take_their_records_from_the_allocator_and_give_them_back) {
  CUBBY_SKIP_UNDER_TSAN();
  expect_no_leak<cubby::hash<std::string>>();
  expect_no_leak<equal_hash>(); // entries in the back yard and in chains, too
}

/// Each record's allocation is refused in turn, in each verb that may insert.
TEST(iceberg_texts, without_memory_for_a_record_say_so_and_lose_nothing) {
  allocation_account account;
  {
    using map = counted_texts<equal_hash>;
    map m(tiny_options(), equal_hash(), counting_allocator<std::byte>(account));
    std::uint64_t present = 0;
    for (; present < 90; ++present) { // in all three levels
      account.refuse_at.store(account.asked.load() + 1);
      ASSERT_EQ(m.try_insert(long_key(present), present), cubby::outcome::no_memory) << present;
      account.refuse_at.store(account.asked.load() + 1);
      ASSERT_THROW(m.insert_or_assign(long_key(present), present), std::bad_alloc);
      account.refuse_at.store(account.asked.load() + 1);
      ASSERT_THROW(m.insert_or_update(long_key(present), [](std::uint64_t v) { return v; }, present), std::bad_alloc);
      ASSERT_FALSE(m.contains(long_key(present)));
      ASSERT_EQ(m.size(), present);
      ASSERT_EQ(account.blocks.load(), static_cast<std::int64_t>(present));
      ASSERT_EQ(m.try_insert(long_key(present), present), cubby::outcome::inserted);
      account.refuse_at.store(account.asked.load() + 1);
      ASSERT_TRUE(m.assign(long_key(present), present)) << "a present key needs no memory";
      ASSERT_EQ(m.try_insert("short" + std::to_string(present), present), cubby::outcome::inserted);
      ASSERT_TRUE(m.erase("short" + std::to_string(present)));
      account.refuse_at.store(0);
    }
    for (std::uint64_t n = 0; n < present; ++n) ASSERT_EQ(m.find(long_key(n)), n);
  }
  EXPECT_EQ(account.blocks.load(), 0);
}

/// Long keys of one hash come and go. The allocator poisons what comes back, so a reader that compares with a record that was
/// freed under it takes the key for another one, and AddressSanitizer tells of it.
template <class Hash>
void expect_readers_keep_records() {
  allocation_account account;
  counted_texts<Hash> m(tiny_options(), Hash(), counting_allocator<std::byte>(account));
  constexpr std::uint64_t keys = 12;
  for (std::uint64_t n = 0; n < 60; ++n) ASSERT_TRUE(m.insert(long_key(1000 + n), 1000 + n));
  std::atomic<bool> stop{false};
  run_threads(2, [&](unsigned t) {
    random_source random(2600 + t);
    if (t == 0) {
      for (std::uint64_t i = 0; i < scaled(20000); ++i) {
        const std::uint64_t n = random.below(keys);
        if (!m.insert(long_key(n), n)) {
          ASSERT_TRUE(m.erase(long_key(n)));
        }
        if (i % 500 == 0) (void)m.reserve(i % 1000 == 0 ? 2000 : 0);
        if (i % 500 == 250) (void)m.shrink_to_fit();
      }
      stop.store(true);
      return;
    }
    while (!stop.load()) {
      const std::uint64_t n = random.below(keys);
      const auto got = m.find(long_key(n));
      ASSERT_TRUE(!got || *got == n) << n;
      const std::uint64_t stays = 1000 + random.below(60);
      ASSERT_EQ(m.find(long_key(stays)), stays);
      if (random.one_in(64)) {
        m.visit_all([&](const std::string& k, std::uint64_t v) { ASSERT_EQ(k, long_key(v)); });
      }
    }
  });
  for (std::uint64_t n = 0; n < keys; ++n) m.erase(long_key(n));
  ASSERT_TRUE(m.shrink_to_fit());
  ASSERT_TRUE(m.shrink_to_fit());
  EXPECT_EQ(m.size(), 60u);
  EXPECT_EQ(account.blocks.load(), 60);
}
TEST(iceberg_texts, keep_their_records_while_a_reader_compares) {
  expect_readers_keep_records<cubby::hash<std::string>>();
  expect_readers_keep_records<equal_hash>();
}

/// A guard, or a handle's pin, holds the freeing of key records up, and nothing else.
TEST(iceberg_texts, keep_their_records_for_a_guard) {
  allocation_account account;
  counted_texts<equal_hash> m(tiny_options(), equal_hash(), counting_allocator<std::byte>(account));
  for (std::uint64_t n = 0; n < 90; ++n) ASSERT_TRUE(m.insert(long_key(n), n));
  {
    auto reader = m.handle();
    const auto stay = reader.guard();
    for (std::uint64_t n = 0; n < 90; ++n) ASSERT_TRUE(m.erase(long_key(n)));
    ASSERT_TRUE(m.shrink_to_fit());
    EXPECT_EQ(account.blocks.load(), 90);
  }
  ASSERT_TRUE(m.shrink_to_fit());
  ASSERT_TRUE(m.shrink_to_fit());
  EXPECT_EQ(account.blocks.load(), 0);
}

} // namespace
} // namespace cubby_test
