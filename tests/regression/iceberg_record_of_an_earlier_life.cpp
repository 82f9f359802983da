// SPDX-License-Identifier: Apache-2.0
// A power cut left a slot without its new record. Recovery then took a record of the key that was too old: a sync had covered a newer one. That
// one was erased, and its mark had reached the disk. The mark of the old one had not.
#include <algorithm>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "durable/files.hpp"

namespace cubby_test {
namespace {

using table_of_texts = cubby::durable_map<std::string, std::string>;

class earlier_life : public testing::Test {
protected:
  /// A record is in sectors of its own.
  static std::string value(char letter) { return std::string(2000, letter); }
  /// The sectors of the record with this value, as `from` has them.
  static void take_record(bytes& to, const bytes& from, char letter) {
    const std::string all(to.begin(), to.end());
    const std::size_t at = all.find(value(letter));
    ASSERT_NE(at, std::string::npos) << letter;
    const auto first = static_cast<std::ptrdiff_t>((at - 64) / 512 * 512); // with the header of the record
    std::copy(from.begin() + first, from.begin() + static_cast<std::ptrdiff_t>(at + 2000), to.begin() + first);
  }
  [[nodiscard]] bytes now() const { return bytes_in(folder_.file("table")); }
  /// The value of the key if a power cut leaves this, but these records as the last sync has left them.
  std::optional<std::string> left_of(bytes cut, const std::string& letters) {
    for (const char one : letters) take_record(cut, synced_, one);
    forge_power_cut(cut);
    write_file(folder_.file("cut"), cut);
    return must_open<table_of_texts>(folder_.file("cut"))->find("key");
  }
  /// What the table writes after the last sync of the file is not durable.
  void sync(table_of_texts& t) {
    synced_by() = this;
    cubby::detail::file::installed_sync() = [](int) {
      synced_by()->synced_ = synced_by()->now();
      return 0;
    };
    const bool done = t.sync();
    cubby::detail::file::installed_sync() = nullptr;
    ASSERT_TRUE(done);
  }
  own_folder folder_;
  bytes synced_;

private:
  static earlier_life*& synced_by() {
    static earlier_life* one = nullptr;
    return one;
  }
};

TEST_F(earlier_life, is_not_restored_for_a_new_one) {
  const auto t = must_open<table_of_texts>(folder_.file("table"));
  t->insert("key", value('x'));
  sync(*t);
  t->assign("key", value('a'));
  sync(*t);
  t->erase("key");
  t->insert("key", value('c'));
  EXPECT_EQ(left_of(now(), "xc"), std::nullopt);
  t->assign("key", value('d'));
  EXPECT_EQ(left_of(now(), "xcd"), std::nullopt);
}
/// The mark of an erased record has reached the disk, and that of the record before it has not.
TEST_F(earlier_life, is_not_restored_for_an_erased_one) {
  const auto t = must_open<table_of_texts>(folder_.file("table"));
  t->insert("key", value('x'));
  sync(*t);
  t->assign("key", value('a'));
  sync(*t);
  t->assign("key", value('d'));
  const bytes before = now();
  t->erase("key");
  bytes left = before;
  take_record(left, now(), 'a');
  EXPECT_EQ(left_of(left, "xd"), std::nullopt);
}
/// The older record of the same life is restored.
TEST_F(earlier_life, ends_with_the_sync_of_the_new_one) {
  const auto t = must_open<table_of_texts>(folder_.file("table"));
  t->insert("key", value('x'));
  sync(*t);
  t->erase("key");
  t->insert("key", value('c'));
  sync(*t);
  t->assign("key", value('d'));
  EXPECT_EQ(left_of(now(), "d"), value('c'));
  sync(*t);
  t->assign("key", value('e'));
  t->assign("key", value('f'));
  EXPECT_EQ(left_of(now(), "ef"), value('d'));
}

} // namespace
} // namespace cubby_test
