// SPDX-License-Identifier: Apache-2.0
// What the tests of opening share: a file with a table of ten words, and how an open of it is refused.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "durable/files.hpp"

namespace cubby_test {

using words = cubby::durable_map<std::uint64_t, std::uint64_t>;
using texts = cubby::durable_map<std::string, std::string>;
using cubby::open_error;
using cubby::opening;

/// One file, which is made, changed and opened.
class table_file : public testing::Test {
public:
  table_file() : path_(folder_.file("table")) {}
  /// A closed table with `count` entries.
  void make(std::uint64_t count = 10, const cubby::durable_options& wanted = {}) {
    const auto t = must_open<words>(path_, wanted);
    for (std::uint64_t k = 0; k < count; ++k) t->insert(k, k + 1);
    ASSERT_TRUE(t->close());
  }
  /// Opens the file, which must be refused with this code, with a line of text, and stay as it was.
  template <class Table> void refuse(open_error code, const cubby::durable_options& wanted = {}) {
    const bytes before = bytes_in(path_);
    const auto got = Table::open(path_.c_str(), wanted);
    EXPECT_FALSE(got);
    EXPECT_EQ(got.error(), code) << got.message();
    const std::string_view text = got.message();
    EXPECT_NE(text.find(path_), std::string_view::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string_view::npos) << text;
    EXPECT_TRUE(bytes_in(path_) == before) << "a refused open has changed the file";
  }
  /// The same for both ways to open it.
  template <class Table> void refuse_both(open_error code) {
    refuse<Table>(code);
    const bytes before = bytes_in(path_);
    const auto got = Table::open_read_only(path_.c_str());
    EXPECT_FALSE(got);
    EXPECT_EQ(got.error(), code) << got.message();
    EXPECT_TRUE(bytes_in(path_) == before);
  }
  /// The table opens and has the entries of `make`.
  cubby::recovered expect_entries(std::uint64_t count = 10) {
    auto got = words::open(path_.c_str());
    EXPECT_TRUE(got) << got.message();
    if (!got) return {};
    EXPECT_EQ(got->size(), count);
    for (std::uint64_t k = 0; k < count; ++k) EXPECT_EQ(got->find(k), k + 1) << k;
    return got.recovered();
  }
  void change_bytes(const std::function<void(bytes&)>& change) {
    bytes all = bytes_in(path_);
    change(all);
    write_file(path_, all);
  }

protected:
  own_folder folder_;
  std::string path_;
};

} // namespace cubby_test
