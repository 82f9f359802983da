// SPDX-License-Identifier: Apache-2.0
// An `open` that makes a file and fails removes it, and one that finds a file leaves it as it was.
#include <fstream>

#include <gtest/gtest.h>

#include "durable/faults.hpp"
#include "durable/files.hpp"
#include "durable/kinds.hpp"
#include "support/failing_memory.hpp"

namespace cubby_test {
namespace {

using cubby::open_error;

template <class Kind> class durable_new_file : public testing::Test {
public:
  durable_new_file() : path_(folder_.file("table")) {}

protected:
  own_folder folder_;
  std::string path_;
};
TYPED_TEST_SUITE(durable_new_file, main_kinds);

TYPED_TEST(durable_new_file, without_disk_space_is_removed) {
  using table = typename TypeParam::table;
  for (const auto how : {cubby::opening::any, cubby::opening::only_new}) {
    for (const long granted : {0, 1}) {
      // a table without slots in its file takes no more space than that of the superblock
      if (granted == 1 && table::engine_type::code == cubby::detail::pool_layout::engine_code::seph) continue;
      cubby::durable_options wanted;
      wanted.how = how;
      {
        const full_disk full(granted);
        const auto got = table::open(this->path_.c_str(), wanted);
        ASSERT_FALSE(got);
        EXPECT_EQ(got.error(), granted == 0 ? open_error::no_space : open_error::no_memory) << got.message();
      }
      EXPECT_FALSE(std::filesystem::exists(this->path_)) << "a file that this call has made";
      EXPECT_TRUE(table::open(this->path_.c_str(), wanted)) << "a refused open is in the way of the next one";
      std::filesystem::remove(this->path_);
    }
  }
}

TYPED_TEST(durable_new_file, that_was_there_with_zeros_has_them_again_after_a_failure) {
  using table = typename TypeParam::table;
  const auto fail = [&](auto failure, open_error why, std::size_t size) {
    const std::string zeros(size, '\0');
    std::ofstream(this->path_) << zeros;
    {
      const decltype(failure()) now = failure();
      const auto got = table::open(this->path_.c_str());
      ASSERT_FALSE(got);
      EXPECT_EQ(got.error(), why) << got.message();
    }
    EXPECT_EQ(bytes_in(this->path_), bytes(zeros.begin(), zeros.end()));
    EXPECT_TRUE(table::open(this->path_.c_str()));
    std::filesystem::remove(this->path_);
  };
  for (const std::size_t size : {std::size_t{0}, std::size_t{5000}, std::size_t{16384}}) {
    fail([] { return full_disk(0); }, open_error::no_space, size);
    fail([] { return failing_syncs(1); }, open_error::io, size); // behind the superblock
  }
}

TYPED_TEST(durable_new_file, without_memory_is_removed) {
  using table = typename TypeParam::table;
  for (std::uint64_t number = 1;; ++number) {
    {
      const memory_failure at(number);
      const auto got = table::open(this->path_.c_str(), {.how = cubby::opening::only_new});
      if (!at.struck()) break;
      if (!got) {
        EXPECT_EQ(got.error(), open_error::no_memory) << got.message();
        EXPECT_FALSE(std::filesystem::exists(this->path_)) << number;
      }
    }
    std::filesystem::remove(this->path_);
  }
}

/// A table that survives only the end of a process would be refused after the next start of the machine.
TYPED_TEST(durable_new_file, that_was_closed_is_closed_after_an_open_without_memory) {
  using table = typename TypeParam::table;
  const cubby::durable_options wanted{.survives = cubby::survive::process};
  {
    const auto t = must_open<table>(this->path_, wanted);
    for (std::uint64_t n = 0; n < 60; ++n)
      ASSERT_TRUE(t->insert(key_of<typename TypeParam::key_type>(n), value_of<typename TypeParam::mapped_type>(n)));
    ASSERT_TRUE(t->close());
  }
  int refused = 0;
  for (std::uint64_t number = 1;; ++number) {
    const memory_failure at(number);
    const auto got = table::open(this->path_.c_str(), wanted);
    if (!at.struck()) break;
    if (got) continue;
    EXPECT_EQ(got.error(), open_error::no_memory) << got.message();
    const bytes all = bytes_in(this->path_);
    EXPECT_EQ(read_at<pool_layout::superblock>(all, offset_of_superblock(all)).clean, 1U) << number;
    ++refused;
  }
  EXPECT_GT(refused, 0);
  EXPECT_EQ(must_open<table>(this->path_, wanted)->size(), 60U);
}

using plain_words = cubby::durable_map<std::uint64_t, std::uint64_t>;

TEST(durable_new_name, of_a_link_is_made_durable_in_the_folder_of_its_target) {
  const own_folder folder;
  std::filesystem::create_directory(folder.file("other"));
  std::filesystem::create_symlink("other/target", folder.file("link"));
  static ino_t synced;
  synced = 0;
  cubby::detail::file::installed_folder_sync() = [](int at) {
    struct stat about = {};
    if (fstat(at, &about) == 0) synced = about.st_ino;
    return 0;
  };
  EXPECT_TRUE(plain_words::open(folder.file("link")));
  cubby::detail::file::installed_folder_sync() = nullptr;
  struct stat other = {};
  ASSERT_EQ(stat(folder.file("other").c_str(), &other), 0);
  EXPECT_EQ(synced, other.st_ino);
}

/// A file without a name, which its path in /proc leads to.
TEST(durable_new_name, may_be_none) {
  const own_folder folder;
  const int file = ::open(folder.file(".").c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) GTEST_SKIP() << "no file without a name: " << std::strerror(errno);
  {
    const auto got = plain_words::open("/proc/self/fd/" + std::to_string(file));
    EXPECT_TRUE(got) << got.message();
  }
  ::close(file);
}

/// Another open that made the file may fail and remove it before this one has the lock. A table in it would be lost.
TYPED_TEST(durable_new_file, that_was_removed_meanwhile_is_not_used) {
  using table = typename TypeParam::table;
  static std::string removed;
  removed = this->path_;
  cubby::detail::file::installed_sync() = [](int) {
    std::filesystem::remove(removed);
    return 0;
  };
  const auto got = table::open(this->path_.c_str());
  cubby::detail::file::installed_sync() = nullptr;
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error(), open_error::in_use) << got.message();
  EXPECT_NE(std::string_view(got.message()).find("removed while"), std::string_view::npos) << got.message();
  EXPECT_TRUE(table::open(this->path_.c_str()));
}

} // namespace
} // namespace cubby_test
