// SPDX-License-Identifier: Apache-2.0
// A mapped file that another program makes shorter (docs/durability.md, What it costs): the process that has it open ends with SIGBUS where
// it touches the missing part, and nowhere else. The next open says that the file is truncated, and with the bytes of a copy it is as before.
#include <csignal>

#include <gtest/gtest.h>

#include "durable/files.hpp"
#include "durable/kinds.hpp"
#include "process/child.hpp"

namespace cubby_test {
namespace {

template <class Kind> class durable_truncation : public testing::Test {
public:
  using K = typename Kind::key_type;
  using V = typename Kind::mapped_type;
  using table = typename Kind::table;
  static constexpr std::uint64_t keys = 3000;

  durable_truncation() : path_(folder_.file("table")) {
    const auto t = must_open<table>(path_);
    for (std::uint64_t n = 0; n < keys; ++n) t->insert(key_of<K>(n), value_of<V>(n));
  }
  static void expect_all(const table& t) {
    for (std::uint64_t n = 0; n < keys; ++n) ASSERT_TRUE(t.find(key_of<K>(n)) == value_of<V>(n)) << n;
  }

protected:
  own_folder folder_;
  std::string path_;
};
TYPED_TEST_SUITE(durable_truncation, few_kinds);

TYPED_TEST(durable_truncation, ends_the_process_and_is_told_by_the_next_open) {
  if (cubby::detail::cpu::thread_sanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in the child of a fork";
  using table_type = typename TypeParam::table;
  using key_type = typename TypeParam::key_type;
  const bytes copy = bytes_in(this->path_);
  const int status = status_of_child([&](result_of_child& told) {
    (void)std::signal(SIGBUS, SIG_DFL); // a sanitizer has a handler of its own
    const auto t = must_open<table_type>(this->path_);
    told.expect(truncate(this->path_.c_str(), pool_layout::first_extent) == 0, "another program cuts the file");
    told.expect(t->size() == TestFixture::keys, "what is in memory is there");
    for (std::uint64_t n = 0; n < TestFixture::keys; ++n) (void)t->find(key_of<key_type>(n));
  });
  EXPECT_EQ(status, -SIGBUS);
  EXPECT_EQ(bytes_in(this->path_).size(), pool_layout::first_extent);
  EXPECT_EQ(table_type::open(this->path_.c_str()).error(), cubby::open_error::truncated);
  EXPECT_EQ(bytes_in(this->path_).size(), pool_layout::first_extent) << "a refused file is as it was";

  write_file(this->path_, copy);
  this->expect_all(*must_open<table_type>(this->path_));
}
/// The space ahead of need, behind the last extent, has nothing.
TYPED_TEST(durable_truncation, of_what_is_not_used_is_no_loss) {
  using table_type = typename TypeParam::table;
  const auto end =
      read_at<pool_layout::superblock>(bytes_in(this->path_), offset_of_superblock(bytes_in(this->path_))).end;
  resize_file(this->path_, end);
  this->expect_all(*must_open<table_type>(this->path_));
  resize_file(this->path_, end - 1);
  EXPECT_EQ(table_type::open(this->path_.c_str()).error(), cubby::open_error::truncated);
}

} // namespace
} // namespace cubby_test
