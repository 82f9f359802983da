// SPDX-License-Identifier: Apache-2.0
// A record whose header had another size of its key than the table's keys have, with a checksum that agreed, was taken for an entry of `seph`. A
// lookup reads no sizes where all keys have one. So recovery has to look at them, in each engine.
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "durable/files.hpp"
#include "engines.hpp"

namespace cubby_test {
namespace record_of_another_size {

using two_words = std::array<std::uint64_t, 2>;
constexpr std::uint64_t entries = 300;
constexpr std::uint64_t forged = 123;
two_words key_for(std::uint64_t number) { return {number, ~number}; }

/// Gives the record of a key other sizes, and the checksum that these have. False: there is no such record.
bool forge(bytes& all, std::uint64_t value_bytes, std::uint32_t key_bytes) {
  using pool_layout::record_header;
  for (std::size_t at = 0; at + sizeof(record_header) + sizeof(two_words) + value_bytes <= all.size(); at += 8) {
    auto in_header = [&](std::size_t offset) { return read_at<std::uint64_t>(all, at + offset); };
    const std::uint64_t sequence_and_key = in_header(8);
    if (sequence_and_key >> 32 != sizeof(two_words) || (in_header(16) & pool_layout::size_mask) != value_bytes)
      continue;
    const char* const contents = &all[at + sizeof(record_header)];
    if (read_at<two_words>(all, at + sizeof(record_header)) != key_for(forged)) continue;
    const auto sequence = static_cast<std::uint32_t>(sequence_and_key);
    const auto sum = [&](std::uint64_t key) {
      return pool_layout::with_sequence(pool_layout::contents_checksum(contents, key, value_bytes), sequence);
    };
    if (in_header(0) != sum(sizeof(two_words))) continue;
    write_at(all, at, sum(key_bytes));
    write_at(all, at + 8, std::uint64_t{key_bytes} << 32 | sequence);
    return true;
  }
  return false;
}

template <class Table> class durable_record : public testing::Test {
public:
  static void fill(Table& t) {
    for (std::uint64_t n = 0; n < entries; ++n) ASSERT_TRUE(t.insert(key_for(n), key_for(n + 1)));
  }
  own_folder folder;
};
template <class Engine> using map_of = cubby::durable_map<two_words, two_words, cubby::hash<two_words>, Engine>;
using tables = testing::Types<map_of<cubby::iceberg>, map_of<cubby::seph>>;
TYPED_TEST_SUITE(durable_record, tables);

TYPED_TEST(durable_record, of_another_size_is_no_entry) {
  for (const std::uint32_t key_bytes : {0U, 8U, 24U}) {
    const std::string path = this->folder.file(("table" + std::to_string(key_bytes)).c_str());
    {
      const auto t = must_open<TypeParam>(path);
      ASSERT_NO_FATAL_FAILURE(this->fill(*t));
      ASSERT_TRUE(t->close());
    }
    bytes all = bytes_in(path);
    ASSERT_TRUE(forge(all, sizeof(two_words), key_bytes));
    write_file(path, all);
    const auto got = TypeParam::open(path);
    ASSERT_TRUE(got) << got.message();
    EXPECT_EQ(got.recovered().damaged + got.recovered().torn, 1U) << key_bytes;
    EXPECT_EQ(got->size(), entries - 1);
    EXPECT_FALSE(got->contains(key_for(forged)));
    EXPECT_TRUE(got->check().ok());
    got->visit_all([&](const two_words& key, const two_words& value) {
      EXPECT_EQ(key, key_for(key[0]));
      EXPECT_EQ(value, key_for(key[0] + 1));
    });
  }
}

} // namespace record_of_another_size
} // namespace cubby_test
