// SPDX-License-Identifier: Apache-2.0
// A sync that has many pages to write unmaps them first, so that the system does not interrupt other threads for each of them. One that has few
// leaves them mapped, so that lookups do not have to map them again. Linux only: /proc says which pages are mapped.
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cubby/seph.hpp>

#include "durable/faults.hpp"
#include "durable/files.hpp"

namespace cubby_test {
namespace {

using records_of_seph = cubby::durable_map<std::string, std::string, cubby::hash<std::string>, cubby::seph>;
using records = cubby::durable_map<std::string, std::string>;
using pairs = cubby::durable_map<std::uint64_t, std::uint64_t>;

/// KiB of a file that are mapped into page tables.
std::uint64_t mapped_of(const std::string& file) {
  const std::string path = std::filesystem::canonical(file).string();
  std::ifstream in("/proc/self/smaps");
  std::uint64_t sum = 0;
  bool of_file = false;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string first;
    std::uint64_t number = 0;
    words >> first;
    if (first.back() != ':') of_file = line.ends_with(path); // the first line of a mapping
    else if (of_file && first == "Rss:" && words >> number) sum += number;
  }
  return sum;
}

/// What was mapped at each sync of the pages while it lives.
class watched_syncs {
public:
  explicit watched_syncs(std::string path) {
    watched() = std::move(path);
    seen().clear();
    cubby::detail::file::installed_sync() = [](int) {
      seen().push_back(mapped_of(watched()));
      return 0;
    };
  }
  ~watched_syncs() { cubby::detail::file::installed_sync() = nullptr; }
  watched_syncs(const watched_syncs&) = delete;
  watched_syncs& operator=(const watched_syncs&) = delete;
  static std::vector<std::uint64_t>& seen() {
    static std::vector<std::uint64_t> all;
    return all;
  }

private:
  static std::string& watched() {
    static std::string path;
    return path;
  }
};

constexpr std::uint64_t entries = 20'000;
std::string name(std::uint64_t n) { return "a key of some length, so that it has a record: " + std::to_string(n); }
void put_one(pairs& t, std::uint64_t n, std::uint64_t by) { t.insert_or_assign(n, n + by); }
void erase_one(pairs& t, std::uint64_t n) { t.erase(n); }
template <class Table> void erase_one(Table& t, std::uint64_t n) { t.erase(name(n)); }
template <class Table> void put_one(Table& t, std::uint64_t n, std::uint64_t by) {
  t.insert_or_assign(name(n), name(n + by));
}
template <class Table> void put(Table& t, std::uint64_t count, std::uint64_t by) {
  for (std::uint64_t n = 0; n < count; ++n) put_one(t, n, by);
}
void expect(const pairs& t, std::uint64_t by) {
  for (std::uint64_t n = 0; n < entries; ++n) ASSERT_EQ(t.find(n), n + by);
}
template <class Table> void expect(const Table& t, std::uint64_t by) {
  for (std::uint64_t n = 0; n < entries; ++n) ASSERT_EQ(t.find(name(n)), name(n + by));
}

template <class Table, std::size_t LogBytes> struct kind {
  using table = Table;
  static constexpr std::size_t log_bytes = LogBytes;
};
constexpr std::size_t some_log = std::size_t{4} << 20;

template <class Kind> class pages_let_go : public testing::Test {
protected:
  using table = typename Kind::table;
  void SetUp() override {
    reopen();
    put(*table_, entries, 1);
    ASSERT_TRUE(table_->close());
    reopen();
    ASSERT_EQ(table_->domain(), cubby::persistence::page);
    expect(*table_, 1); // so all of it is mapped
    all_ = mapped_of(path_);
    ASSERT_GT(all_, 100U) << "in KiB; /proc shows none of them";
  }
  void reopen() {
    table_.reset();
    cubby::durable_options wanted;
    wanted.capacity = entries;
    wanted.log_bytes = Kind::log_bytes;
    table_ = must_open<table>(path_, wanted);
  }
  /// What is mapped when the sync begins that makes all changes durable.
  std::uint64_t mapped_in_sync() {
    const watched_syncs watched(path_);
    EXPECT_TRUE(table_->close());
    EXPECT_FALSE(watched.seen().empty());
    return watched.seen().empty() ? 0 : watched.seen().front();
  }
  own_folder folder_;
  std::string path_ = folder_.file("table");
  std::unique_ptr<table> table_;
  std::uint64_t all_ = 0;
};
using kinds =
    testing::Types<kind<records_of_seph, 0>, kind<records, 0>, kind<records, some_log>, kind<pairs, some_log>>;
using kinds_without_log = testing::Types<kind<records_of_seph, 0>, kind<records, 0>>;
TYPED_TEST_SUITE(pages_let_go, kinds);

TYPED_TEST(pages_let_go, before_a_sync_of_many) {
  put(*this->table_, entries, 2);
  EXPECT_LT(this->mapped_in_sync(), this->all_ / 2);
  this->reopen();
  expect(*this->table_, 2);
}

TYPED_TEST(pages_let_go, before_the_sync_of_a_clear) {
  this->table_->clear();
  EXPECT_LT(this->mapped_in_sync(), this->all_ / 2);
}

/// Those that free blocks, and so change them once more.
TYPED_TEST(pages_let_go, before_the_sync_behind_an_erase_of_many) {
  for (std::uint64_t n = 0; n < entries; ++n) erase_one(*this->table_, n);
  ASSERT_TRUE(this->table_->sync());
  EXPECT_LT(this->mapped_in_sync(), this->all_ / 2);
}

TYPED_TEST(pages_let_go, but_not_where_each_of_many_syncs_has_few) {
  for (std::uint64_t n = 0; n < 100; ++n) {
    put_one(*this->table_, n * 191 % entries, 1);
    ASSERT_TRUE(this->table_->sync());
  }
  EXPECT_GT(this->mapped_in_sync(), this->all_ * 3 / 4);
}

template <class Kind> class pages_let_go_without_log : public pages_let_go<Kind> {};
TYPED_TEST_SUITE(pages_let_go_without_log, kinds_without_log);

TYPED_TEST(pages_let_go_without_log, but_not_when_a_sync_has_failed) {
  const failing_syncs none;
  put(*this->table_, entries, 2);
  EXPECT_FALSE(this->table_->sync());
  put(*this->table_, entries, 1);
  expect(*this->table_, 1);
  EXPECT_FALSE(this->table_->sync());
  EXPECT_GT(mapped_of(this->path_), this->all_ * 3 / 4);
}

TYPED_TEST(pages_let_go, but_not_before_a_sync_of_few) {
  put(*this->table_, 3, 1);
  EXPECT_GT(this->mapped_in_sync(), this->all_ * 3 / 4);
  this->reopen();
  expect(*this->table_, 1);
}

} // namespace
} // namespace cubby_test
