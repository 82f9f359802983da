// SPDX-License-Identifier: Apache-2.0
// Guarantee H on an ordinary file. After a power cut everything is there that a sync has covered. What none has covered is there whole or
// not at all (docs/format.md, Assumptions about the medium, 4). A power cut leaves each sector of 512 bytes as it was at the last sync or at
// some moment since. The test keeps the contents of the file at all of these moments, and draws the moment of each sector. It does so between
// calls, and before each sync: those of the test, of the table's own threads, and of an open that recovers. And after the end of the process,
// without a power cut, everything is there that was acknowledged. A sync of a part of the file makes the sectors of that part durable.
#pragma once

#include <cubby/durable_map.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "durable/files.hpp"
#include "durable/kinds.hpp"
#include "support/random.hpp"

namespace cubby_test {

inline constexpr std::size_t sector = 512;

/// The contents of the file at the last sync, and at moments since.
struct moments {
  std::mutex lock;
  std::string path;
  std::vector<bytes> all;
  std::vector<bytes> cut; // what power cuts in syncs have left, to be looked at
  std::mt19937_64 random{1};
  void note() {
    const std::lock_guard alone(lock);
    all.push_back(bytes_in(path));
  }
  void synced() {
    const std::lock_guard alone(lock);
    all.push_back(bytes_in(path));
    if (cut.size() < most_cuts) cut.push_back(after_power_cut());
    all.erase(all.begin(), all.end() - 1);
  }
  void synced_range(std::uint64_t from, std::uint64_t count) {
    const std::lock_guard alone(lock);
    all.push_back(bytes_in(path));
    if (cut.size() < most_cuts) cut.push_back(after_power_cut());
    const auto begin = static_cast<std::ptrdiff_t>(from);
    for (bytes& one : all)
      std::copy_n(all.back().begin() + begin, static_cast<std::ptrdiff_t>(count), one.begin() + begin);
  }
  bytes power_cut() {
    const std::lock_guard alone(lock);
    return after_power_cut();
  }
  /// The file and its disk have these contents from here on.
  void begin_with(const bytes& left) {
    const std::lock_guard alone(lock);
    std::ofstream(path, std::ios::binary).write(left.data(), static_cast<std::streamsize>(left.size()));
    all.assign(1, left);
  }
  std::vector<bytes> take_cuts() {
    const std::lock_guard alone(lock);
    return std::exchange(cut, {});
  }

private:
  static constexpr std::size_t most_cuts = 6;
  bytes after_power_cut();
  void tear_superblocks(bytes& out);
};
inline moments& seen() {
  static moments one;
  return one;
}
/// Syncs of the table under test; those of recovered copies change nothing.
inline int sync_of_test(int file) {
  struct stat synced = {};
  struct stat watched = {};
  if (fstat(file, &synced) != 0 || stat(seen().path.c_str(), &watched) != 0) return EIO;
  if (synced.st_ino == watched.st_ino) seen().synced();
  return 0;
}
inline int sync_range_of_test(int file, std::uint64_t from, std::uint64_t count) {
  struct stat synced = {};
  struct stat watched = {};
  if (fstat(file, &synced) != 0 || stat(seen().path.c_str(), &watched) != 0) return EIO;
  if (synced.st_ino == watched.st_ino) seen().synced_range(from, count);
  return 0;
}

/// A disk may take a copy of the superblock while it is written: its first words are of one moment then, the others of the one before.
inline void moments::tear_superblocks(bytes& out) {
  constexpr std::size_t words = sector / sizeof(std::uint64_t);
  for (const std::size_t at : cubby::detail::pool_layout::copy_at) {
    if (all.size() < 2 || random() % 2 == 0) continue;
    const std::size_t moment = 1 + random() % (all.size() - 1);
    const std::size_t part = random() % (words + 1) * sizeof(std::uint64_t);
    for (std::size_t i = 0; i < sector; ++i) {
      const bytes& from = all[i < part ? moment : moment - 1];
      out[at + i] = at + i < from.size() ? from[at + i] : 0;
    }
  }
}
/// What a power cut leaves: each sector of some moment. The machine was started again, so it has another boot identity.
inline bytes moments::after_power_cut() {
  std::size_t size = 0; // the size of the file is written with its first sync, or later
  for (const bytes& one : all) size = std::max(size, one.size());
  bytes out(size, 0);
  const auto how =
      random() % 3; // each sector by itself; those in front of a border new and the others old; the reverse
  const std::size_t border = size == 0 ? 0 : random() % size;
  for (std::size_t at = 0; at < size; at += sector) {
    const bytes& from = how == 0 ? all[random() % all.size()] : (how == 1) == (at < border) ? all.back() : all.front();
    if (at < from.size())
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(at), sector,
                  out.begin() + static_cast<std::ptrdiff_t>(at));
  }
  if (size >= cubby::detail::pool_layout::first_extent) tear_superblocks(out);
  for (const std::size_t at : cubby::detail::pool_layout::copy_at) {
    cubby::detail::pool_layout::superblock copy;
    std::memcpy(&copy, out.data() + at, sizeof copy);
    if (copy.checksum != cubby::detail::pool_layout::checksum_of(copy)) continue;
    ++copy.boot[0];
    copy.checksum = cubby::detail::pool_layout::checksum_of(copy);
    std::memcpy(out.data() + at, &copy, sizeof copy);
  }
  return out;
}

/// A hash with few bits, so that tiny tables use their back yard and their chains.
template <class K> struct poor_hash {
  using is_avalanching = void;
  std::uint64_t operator()(const K& k) const noexcept { return cubby::hash<K>()(k) & 0xf0ff'0000'0000'00ff; }
};

/// The same for texts. Keys of the test have different hashes.
struct poor_text_hash {
  using is_avalanching = void;
  using is_transparent = void;
  std::uint64_t operator()(std::string_view k) const noexcept {
    return cubby::hash<std::string>()(k) & 0xf000'00ff'ffff'ffff;
  }
};

template <class Table> struct words_of_test;
template <class K, class Engine> struct words_of_test<cubby::durable_map<K, std::uint64_t, poor_hash<K>, Engine>> {
  static std::uint64_t value(std::uint64_t n) { return n; }
};
template <class Hash, class Engine> struct words_of_test<cubby::durable_map<std::string, std::string, Hash, Engine>> {
  static std::string value(std::uint64_t n) { return std::to_string(n) + std::string(n % 1200, 'v'); }
};
template <class K> K numbered_key(std::uint64_t n) {
  if constexpr (std::is_same_v<K, std::string>) return "key " + std::to_string(n) + std::string(n % 40, 'k');
  else if constexpr (std::is_same_v<K, std::uint64_t>) return n;
  else return K{n, n * 3};
}

/// The tables that the tests run over: with slots or records that meet under one hash, and texts also as users have them.
template <class Engine>
using cut_tables_of =
    join<testing::Types<cubby::durable_map<std::uint64_t, std::uint64_t, poor_hash<std::uint64_t>, Engine>>,
         types_if<has_slots<Engine>, cubby::durable_map<two_words, std::uint64_t, poor_hash<two_words>, Engine>>,
         testing::Types<cubby::durable_map<std::string, std::string, cubby::hash<std::string>, Engine>,
                        cubby::durable_map<std::string, std::string, poor_text_hash, Engine>>>;

template <class Table> class power_cut_test : public testing::Test {
protected:
  using K = typename Table::key_type;
  using V = typename Table::mapped_type;
  using states = std::set<std::optional<V>>; // that an entry may have after a power cut

  void SetUp() override {
    seen().path = folder_.file("table");
    seen().all.clear();
    seen().cut.clear();
    seen().random.seed(cubby_test::run_seed());
    cubby::detail::file::installed_sync() = sync_of_test;
    cubby::detail::file::installed_sync_range() = sync_range_of_test;
  }
  void TearDown() override {
    cubby::detail::file::installed_sync() = nullptr;
    cubby::detail::file::installed_sync_range() = nullptr;
  }
  /// Of the log that the table is to have.
  virtual std::size_t log_bytes() { return 0; }

  void play(std::uint64_t keys, std::uint64_t rounds, std::uint64_t changes) {
    std::mt19937_64 random(cubby_test::run_seed());
    keys_ = keys;
    auto opened = open(seen().path);
    ASSERT_TRUE(opened) << opened.message();
    covered();
    for (std::uint64_t round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
      erases_ = round / 8 % 2 == 0 ? 1 : 6; // grows, and then shrinks
      for (std::uint64_t i = random() % changes; i != 0; --i) {
        change(*opened, random);
        if (i % (changes / 15) == 0) seen().note();
      }
      if (round % 16 == 15) (void)opened->shrink_to_fit();
      if (round % 10 == 4) open_again(opened);
      if (round % 10 == 9) cut_power(opened);
      seen().note();
      look();
      look_after_a_crash();
      if (random() % 2 == 0) {
        ASSERT_TRUE(opened->sync());
        look();
        covered();
        look();
      }
    }
  }

private:
  cubby::opened<Table> open(const std::string& path) {
    cubby::durable_options wanted;
    wanted.log_bytes = log_bytes();
    typename Table::own_options own;
    if constexpr (requires { own.grow_at; }) own.grow_at = 97;
    else own.segment_bits = 1;
    return Table::open(path.c_str(), wanted, own);
  }
  void change(Table& table, std::mt19937_64& random) {
    const std::uint64_t n = random() % keys_;
    const K key = numbered_key<K>(n);
    const auto what = random() % 8;
    std::optional<V> now;
    if (const auto at = live_.find(n); at != live_.end()) now = at->second;
    const V value = words_of_test<Table>::value(random() % 5000);
    if (what < erases_) {
      EXPECT_EQ(table.erase(key), now.has_value());
      live_.erase(n);
      allowed_[n].insert(std::nullopt);
    } else {
      table.insert_or_assign(key, value);
      live_[n] = value;
      allowed_[n].insert(value);
    }
  }
  [[nodiscard]] std::map<std::uint64_t, states> what_is_there() const {
    std::map<std::uint64_t, states> out;
    for (std::uint64_t n = 0; n < keys_; ++n) {
      const auto at = live_.find(n);
      out[n].insert(at == live_.end() ? std::nullopt : std::optional<V>(at->second));
    }
    return out;
  }
  void covered() { allowed_ = what_is_there(); }
  /// What a table of an earlier opening has left in its blocks is of no account.
  void open_again(cubby::opened<Table>& opened) {
    opened = {};
    look();
    opened = open(seen().path);
    ASSERT_TRUE(opened) << opened.message();
    covered();
  }
  /// A power cut, and the machine goes on with what it has left. What the table then has is durable.
  void cut_power(cubby::opened<Table>& opened) {
    look();
    const bytes left = seen().power_cut();
    opened = {};
    seen().begin_with(left);
    (void)seen().take_cuts(); // of the end of the table
    opened = open(seen().path);
    ASSERT_TRUE(opened) << opened.message();
    live_.clear();
    for (std::uint64_t n = 0; n < keys_; ++n) {
      const std::optional<V> is = opened->find(numbered_key<K>(n));
      ASSERT_TRUE(allowed_[n].contains(is)) << n;
      if (is) live_.emplace(n, *is);
    }
    look(); // cuts in the recovery
    covered();
  }
  /// Recovers what power cuts have left, now and in syncs since the last look, and compares.
  void look() {
    for (const bytes& one : seen().take_cuts()) look_at(one, allowed_, "a power cut in a sync");
    look_at(seen().power_cut(), allowed_, "a power cut");
  }
  /// The same for the end of the process: all that was acknowledged is in the file.
  void look_after_a_crash() { look_at(bytes_in(seen().path), what_is_there(), "the end of the process"); }
  void look_at(const bytes& left, const std::map<std::uint64_t, states>& allowed, const char* after) {
    if (testing::Test::HasFatalFailure()) return;
    const std::string path = folder_.file("cut");
    std::ofstream(path, std::ios::binary).write(left.data(), static_cast<std::streamsize>(left.size()));
    const bool can_be_read = look_as_reader(path, allowed, after);
    for (int again = 0; again < 2; ++again) { // what was recovered is recovered again
      auto found = open(path);
      ASSERT_TRUE(found) << found.message();
      EXPECT_EQ(found.recovered().damaged, 0U) << after;
      EXPECT_TRUE(can_be_read || again != 0 || found.recovered().created) << after;
      compare(*found, allowed, again == 0 ? after : "a second opening");
    }
  }
  /// A reader repairs in memory. False: there is no table yet.
  bool look_as_reader(const std::string& path, const std::map<std::uint64_t, states>& allowed, const char* after) {
    const auto reader = Table::open_read_only(path.c_str());
    if (reader) compare(*reader, allowed, after);
    return static_cast<bool>(reader);
  }
  void compare(const Table& found, const std::map<std::uint64_t, states>& allowed, const char* after) {
    EXPECT_TRUE(found.check().ok());
    std::size_t entries = 0;
    for (std::uint64_t n = 0; n < keys_; ++n) {
      const std::optional<V> is = found.find(numbered_key<K>(n));
      entries += is.has_value() ? 1 : 0;
      ASSERT_TRUE(allowed.at(n).contains(is))
          << "key " << n << (is ? " has a value that it had not" : " is lost") << " after " << after;
    }
    EXPECT_EQ(found.size(), entries);
  }

  cubby_test::own_folder folder_;
  std::map<std::uint64_t, V> live_;
  std::map<std::uint64_t, states> allowed_;
  std::uint64_t keys_ = 300;
  std::uint64_t erases_ = 2; // of 8 changes
};

} // namespace cubby_test

template <class K> inline constexpr std::uint64_t cubby::hash_is_stable<cubby_test::poor_hash<K>> = 77;
template <> inline constexpr std::uint64_t cubby::hash_is_stable<cubby_test::poor_text_hash> = 78;
