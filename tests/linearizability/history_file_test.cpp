// SPDX-License-Identifier: Apache-2.0
// Histories come back from their files as they went in, and a file that is cut off or is something else is refused.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "linearizability/history_file.hpp"
#include "linearizability/simulated.hpp"

namespace cubby_test {
namespace {

class history_file : public ::testing::Test {
protected:
  void SetUp() override {
    const auto* const info = ::testing::UnitTest::GetInstance()->current_test_info();
    path = std::filesystem::temp_directory_path() / (std::string("cubby-") + info->name() + std::to_string(run_seed()));
    random_source random(4);
    written = {simulated(random, 100, 3, 5), true};
    written.records[7].how = status::full;
    written.records[8].group = grouping::stopping;
    written.records[8].position = 513;
    ASSERT_TRUE(write_history(path, written));
  }
  void TearDown() override { std::filesystem::remove(path); }
  std::filesystem::path path;
  recorded_history written, read;
};

TEST_F(history_file, comes_back_as_it_was_written) {
  ASSERT_TRUE(read_history(path, read));
  EXPECT_TRUE(read.together);
  ASSERT_EQ(read.records.size(), written.records.size());
  EXPECT_EQ(std::memcmp(read.records.data(), written.records.data(), 100 * sizeof(record)), 0);
}

TEST_F(history_file, that_is_cut_off_is_refused) {
  for (const std::uintmax_t left : {0u, 31u, 32u, 32u + 48u, 32u + 100u * 48u - 1u}) {
    std::filesystem::resize_file(path, left);
    EXPECT_FALSE(read_history(path, read)) << left;
    ASSERT_TRUE(write_history(path, written));
  }
  EXPECT_FALSE(read_history(path.string() + "-that-is-not-there", read));
}

TEST_F(history_file, of_another_kind_is_refused) {
  for (const std::streamoff at : {0, 8, 12, 24, 32 + 40 /* a verb */, 32 + 44 /* a status */}) {
    {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(at);
      file.put('\x7f');
    }
    EXPECT_FALSE(read_history(path, read)) << "byte " << at;
    ASSERT_TRUE(write_history(path, written));
  }
}

} // namespace
} // namespace cubby_test
