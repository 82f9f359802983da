// SPDX-License-Identifier: Apache-2.0
// Files of texts and of larger plain keys from versions up to 0.2.0 say another hash, whose mask does not depend on the seed (docs/format.md, Hash).
// They are opened, and all their keys keep that hash. New files say the hash of today.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "durable/files.hpp"
#include "engines.hpp"

namespace cubby_test {
namespace {

using two_words = std::array<std::uint64_t, 2>;
constexpr std::uint64_t count = 2000;

/// Keys of both kinds, from their number, and their hash with this mask.
template <class K> K older_key(std::uint64_t number) {
  if constexpr (std::is_same_v<K, std::string>) return "a key of the file " + std::to_string(number);
  else return {number, number * 3};
}
std::uint64_t hash_with(const std::string& key, std::uint64_t seed, std::uint64_t mask) {
  return cubby::detail::hash_masked(key.data(), key.size(), seed, mask);
}
std::uint64_t hash_with(const two_words& key, std::uint64_t seed, std::uint64_t mask) {
  return cubby::detail::hash_masked(key.data(), sizeof key, seed, mask);
}

template <class K, class V, class Engine> class of_an_older_version {
public:
  using table = cubby::durable_map<K, V, cubby::hash<K>, Engine>;
  explicit of_an_older_version(std::uint64_t identity) : identity_(identity) {}

  void run() {
    ASSERT_NO_FATAL_FAILURE(make());
    ASSERT_NO_FATAL_FAILURE(fill());
    const auto t = must_open<table>(path_);
    ASSERT_NE(t, nullptr);
    ASSERT_EQ(t->size(), count);
    for (std::uint64_t n = 0; n < count; ++n) ASSERT_TRUE(t->contains(older_key<K>(n))) << n;
    EXPECT_EQ(identity_of(*t), identity_) << "the file stays as old as it is";
  }

private:
  static std::uint64_t identity_of(const table& t) {
    return cubby::detail::engine_access::file_of(t).state().what.hash;
  }
  /// An empty file with the hash of today, and then with the older one.
  void make() {
    {
      const auto t = must_open<table>(path_);
      ASSERT_NE(t, nullptr);
      EXPECT_EQ(identity_of(*t), cubby::hash_is_stable<cubby::hash<K>>);
      const std::uint64_t seed = seed_of(*t);
      EXPECT_EQ(t->hash_for(older_key<K>(1)), hash_with(older_key<K>(1), seed, cubby::detail::mask_of(seed)));
    }
    bytes all = bytes_in(path_);
    forge_superblock(all, [&](pool_layout::superblock& s) { s.what.hash = identity_; });
    ASSERT_NO_FATAL_FAILURE(write_file(path_, all));
  }
  void fill() {
    const auto t = must_open<table>(path_);
    ASSERT_NE(t, nullptr);
    for (std::uint64_t n = 0; n < count; ++n) {
      ASSERT_TRUE(t->insert(older_key<K>(n), V{})) << n;
      ASSERT_EQ(t->hash_for(older_key<K>(n)), hash_with(older_key<K>(n), seed_of(*t), cubby::detail::seedless_mask))
          << n;
    }
  }
  static std::uint64_t seed_of(const table& t) { return cubby::detail::engine_access::file_of(t).state().what.seed; }

  std::uint64_t identity_;
  own_folder folder_;
  const std::string path_ = folder_.file("table");
};

constexpr std::uint64_t older_text = 0x6375626279'02;
constexpr std::uint64_t older_plain = 0x6375626279'03;

template <class Engine> class durable_files_of_an_older_hash : public ::testing::Test {};
using engines_of_files = ::testing::Types<cubby::iceberg, cubby::seph>;
TYPED_TEST_SUITE(durable_files_of_an_older_hash, engines_of_files);

TYPED_TEST(durable_files_of_an_older_hash, keep_it_for_texts) {
  of_an_older_version<std::string, std::uint64_t, TypeParam>(older_text).run();
}
TYPED_TEST(durable_files_of_an_older_hash, keep_it_for_plain_keys) {
  of_an_older_version<two_words, std::uint64_t, TypeParam>(older_plain).run();
  of_an_older_version<two_words, std::array<std::uint64_t, 9>, TypeParam>(older_plain).run();
}
TYPED_TEST(durable_files_of_an_older_hash, are_not_those_of_words) {
  const own_folder folder;
  const std::string path = folder.file("table");
  using table = cubby::durable_map<std::uint64_t, std::uint64_t, cubby::hash<std::uint64_t>, TypeParam>;
  {
    ASSERT_NE(must_open<table>(path), nullptr);
  }
  bytes all = bytes_in(path);
  forge_superblock(all, [](pool_layout::superblock& s) { s.what.hash = 0; });
  ASSERT_NO_FATAL_FAILURE(write_file(path, all));
  EXPECT_EQ(table::open(path.c_str()).error(), cubby::open_error::other_hash);
}

/// A hash of the user's that he changes without a new number.
struct changed_hash {
  using is_transparent = void;
  static inline std::uint64_t seed_of_all = 1;
  std::uint64_t operator()(std::string_view key) const noexcept {
    return cubby::hash_bytes(key.data(), key.size(), seed_of_all);
  }
};

} // namespace
} // namespace cubby_test

template <> inline constexpr std::uint64_t cubby::hash_is_stable<cubby_test::changed_hash> = 81;

namespace cubby_test {
namespace {

/// Without the refusal, recovery would find that no slot leads to a record of its key, and drop all entries.
void refuse_changed_hash(std::uint64_t entries, std::size_t value_bytes, std::size_t capacity = 0) {
  const own_folder folder;
  const std::string path = folder.file("table");
  using table = cubby::durable_map<std::string, std::string, changed_hash>;
  {
    const auto t = must_open<table>(path, {.capacity = capacity});
    for (std::uint64_t n = 0; n < entries; ++n)
      ASSERT_TRUE(t->insert(older_key<std::string>(n), std::string(value_bytes, 'v')));
  }
  changed_hash::seed_of_all = 2;
  const auto refused = table::open(path.c_str());
  changed_hash::seed_of_all = 1;
  ASSERT_EQ(refused.error(), cubby::open_error::other_hash) << refused.message();
  const auto t = must_open<table>(path);
  ASSERT_EQ(t->size(), entries);
  for (std::uint64_t n = 0; n < entries; ++n) ASSERT_TRUE(t->contains(older_key<std::string>(n))) << n;
}
TEST(durable_hash, that_has_changed_is_refused_before_anything_is_dropped) {
  refuse_changed_hash(count, 8);
  refuse_changed_hash(4, 8);
  refuse_changed_hash(4, 8, 100000); // most slots are empty
  refuse_changed_hash(100, 8000);    // records that recovery does not read ahead
}

} // namespace
} // namespace cubby_test
