// SPDX-License-Identifier: Apache-2.0
// How durable files are refused: each refusal has its code and a line of text, and leaves the file as it was.
#include <array>

#include <cubby/seph.hpp>

#include "durable/opening.hpp"
#include "process/child.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

namespace cubby_test {

/// A hash of the user's, with the number that he has given it.
template <int Number> struct own_hash {
  std::uint64_t operator()(std::uint64_t key) const noexcept { return cubby::mix(key, Number); }
};
struct pair_of_words {
  std::uint64_t first;
  std::uint64_t second;
};

} // namespace cubby_test

template <int Number> inline constexpr std::uint64_t cubby::hash_is_stable<cubby_test::own_hash<Number>> = Number;

namespace cubby_test {
namespace {

class durable_refusals : public table_file {};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool has_shadow_memory = true;
#elif defined(__has_feature)
constexpr bool has_shadow_memory = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool has_shadow_memory = false;
#endif

TEST_F(durable_refusals, refuses_other_types) {
  make();
  refuse_both<cubby::durable_map<std::uint32_t, std::uint64_t>>(open_error::other_key);
  refuse_both<cubby::durable_map<std::string, std::uint64_t>>(open_error::other_key);
  refuse_both<cubby::durable_map<std::array<std::uint64_t, 2>, std::uint64_t>>(open_error::other_key);
  refuse_both<cubby::durable_map<std::uint64_t, std::uint32_t>>(open_error::other_value);
  refuse_both<cubby::durable_map<std::uint64_t, std::string>>(open_error::other_value);
  refuse_both<cubby::durable_map<std::uint64_t, pair_of_words>>(open_error::other_value);
  refuse_both<cubby::durable_set<std::uint64_t>>(open_error::other_value);
  expect_entries();
}

TEST_F(durable_refusals, refuses_another_hash) {
  {
    const auto t = must_open<cubby::durable_map<std::uint64_t, std::uint64_t, own_hash<7>>>(path_);
  }
  refuse_both<cubby::durable_map<std::uint64_t, std::uint64_t, own_hash<8>>>(open_error::other_hash);
  refuse_both<words>(open_error::other_hash);
  EXPECT_TRUE((cubby::durable_map<std::uint64_t, std::uint64_t, own_hash<7>>::open(path_.c_str())));
}

TEST_F(durable_refusals, refuses_another_layout) {
  make();
  const bytes made = bytes_in(path_);
  const auto forged = [&](auto change) {
    bytes all = made;
    forge_superblock(all, change);
    write_file(path_, all);
  };
  forged([](pool_layout::superblock& s) { s.what.engine = static_cast<pool_layout::engine_code>(2); });
  refuse_both<words>(open_error::other_layout);
  forged([](pool_layout::superblock& s) { s.what.mode = 2; });
  refuse_both<words>(open_error::other_layout);
  forged([](pool_layout::superblock& s) { s.what.slot_bytes = 32; });
  refuse_both<words>(open_error::other_layout);
  forged([](pool_layout::superblock& s) { s.what.key_words = 2; });
  refuse_both<words>(open_error::other_layout);
  forged([](pool_layout::superblock& s) { s.what.value_words = 2; });
  refuse_both<words>(open_error::other_layout);
}

TEST_F(durable_refusals, refuses_sizes_that_cannot_be) {
  make();
  const bytes made = bytes_in(path_);
  const auto refuse_forged = [&](open_error code, auto change) {
    bytes all = made;
    forge_superblock(all, change);
    write_file(path_, all);
    refuse_both<words>(code);
  };
  using superblock = pool_layout::superblock;
  refuse_forged(open_error::damaged, [](superblock& s) { s.what.fronts = 0; });
  refuse_forged(open_error::damaged, [](superblock& s) { s.what.backs = 0; });
  refuse_forged(open_error::damaged, [](superblock& s) { s.what.fronts = std::uint64_t{1} << 62; });
  refuse_forged(open_error::damaged, [](superblock& s) { s.what.fronts = std::uint64_t{1} << 45; });
  refuse_forged(open_error::damaged, [](superblock& s) { s.what.backs = ~std::uint64_t{0}; });
  refuse_forged(open_error::damaged, [](superblock& s) { ++s.what.backs; });
  refuse_forged(open_error::damaged, [](superblock& s) { s.level = 63; });
  refuse_forged(open_error::damaged, [](superblock& s) { s.level = 40; });
  refuse_forged(open_error::damaged, [](superblock& s) { s.level = 1; });
  refuse_forged(open_error::truncated, [](superblock& s) { s.end += std::uint64_t{1} << 40; });
  refuse_forged(open_error::truncated, [](superblock& s) { s.end = pool_layout::page; });
  refuse_forged(open_error::damaged, [](superblock& s) { s.end -= 8; });
  refuse_forged(open_error::damaged, [](superblock& s) { s.end -= pool_layout::page; });
  refuse_forged(open_error::damaged, [](superblock& s) { s.end = pool_layout::first_extent; });
}

TEST_F(durable_refusals, refuses_extents_that_cannot_be) {
  const auto path = path_;
  {
    must_open<texts>(path)->insert("key", "value");
  }
  const bytes made = bytes_in(path);
  const auto refuse_forged = [&](std::uint64_t where, auto change) {
    bytes all = made;
    auto header = read_at<pool_layout::extent_header>(all, where);
    change(header);
    header.checksum = pool_layout::checksum_of(header);
    write_at(all, where, header);
    write_file(path, all);
    refuse_both<texts>(open_error::damaged);
  };
  const std::uint64_t first = pool_layout::first_extent;
  const auto segment = read_at<pool_layout::extent_header>(made, first);
  ASSERT_EQ(segment.kind, pool_layout::extent_kind::segment);
  const std::uint64_t second = first + segment.bytes;
  ASSERT_EQ(read_at<pool_layout::extent_header>(made, second).kind, pool_layout::extent_kind::records);
  using header = pool_layout::extent_header;
  refuse_forged(first, [](header& h) { h.magic = 0; });
  refuse_forged(first, [](header& h) { h.bytes = 0; });
  refuse_forged(first, [](header& h) { h.bytes += 8; });
  refuse_forged(first, [](header& h) { h.bytes = pool_layout::page; });
  refuse_forged(first, [](header& h) { h.bytes = ~std::uint64_t{0} / pool_layout::page * pool_layout::page; });
  refuse_forged(first, [](header& h) { h.number = 1; });
  for (const std::uint64_t block : {std::uint64_t{0}, std::uint64_t{33}, std::uint64_t{1} << 33, ~std::uint64_t{0}})
    refuse_forged(second, [=](header& h) { h.argument = block; });
}

/// They end the file.
TEST_F(durable_refusals, refuses_extents_of_records_that_are_too_short_or_too_long) {
  const auto path = path_;
  {
    must_open<texts>(path)->insert("key", "value");
  }
  const bytes made = bytes_in(path);
  using header = pool_layout::extent_header;
  const std::uint64_t second = pool_layout::first_extent + read_at<header>(made, pool_layout::first_extent).bytes;
  ASSERT_EQ(read_at<header>(made, second).kind, pool_layout::extent_kind::records);
  for (const std::uint64_t data :
       {pool_layout::least_record_bytes - pool_layout::page, pool_layout::most_record_bytes + pool_layout::page}) {
    bytes all = made;
    auto records = read_at<header>(all, second);
    records.bytes = pool_layout::page + data;
    records.checksum = pool_layout::checksum_of(records);
    write_at(all, second, records);
    forge_superblock(all, [&](pool_layout::superblock& s) { s.end = second + records.bytes; });
    write_file(path, all);
    resize_file(path, second + records.bytes);
    EXPECT_EQ(texts::open(path).error(), open_error::damaged); // not looked at byte by byte: the long one has 4 GiB
    EXPECT_EQ(texts::open_read_only(path).error(), open_error::damaged);
  }
}

TEST_F(durable_refusals, refuses_a_truncated_file) {
  make(1000);
  const bytes made = bytes_in(path_);
  const std::uint64_t end = read_at<pool_layout::superblock>(made, offset_of_superblock(made)).end;
  for (const std::uint64_t size : {end - 1, end - pool_layout::page, pool_layout::first_extent + 1,
                                   pool_layout::first_extent, pool_layout::page + 512}) {
    write_file(path_, made);
    resize_file(path_, size);
    refuse_both<words>(open_error::truncated);
  }
  write_file(path_, made);
  resize_file(path_, end); // what is behind it is only ahead of need
  expect_entries(1000);
}

TEST_F(durable_refusals, refuses_what_is_no_table) {
  const std::string text = "To whom it may concern: this is not a table.\n";
  write_file(path_, bytes(text.begin(), text.end()));
  refuse_both<words>(open_error::foreign);
  bytes nearly(pool_layout::first_extent, 0);
  nearly[pool_layout::first_extent - 1] = 1;
  write_file(path_, nearly);
  refuse_both<words>(open_error::foreign);
  write_file(path_, bytes(pool_layout::first_extent + 1, 0)); // more zeros than a crash leaves
  refuse_both<words>(open_error::foreign);
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_EQ(words::open(path_.c_str()).error(), open_error::foreign);
  EXPECT_EQ(words::open_read_only(path_.c_str()).error(), open_error::foreign);
  std::filesystem::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  const int status = status_of_child([&](result_of_child& told) { // it would wait for a writer
    told.expect(words::open(path_.c_str()).error() == open_error::foreign, "a pipe is no table");
    told.expect(words::open_read_only(path_.c_str()).error() == open_error::foreign, "a pipe is no table to read");
  });
  EXPECT_EQ(status, 0);
}

TEST_F(durable_refusals, refuses_a_newer_version) {
  make();
  change_bytes([](bytes& all) {
    forge_superblock(all, [](pool_layout::superblock& s) { s.format = pool_layout::version + 1; });
  });
  refuse_both<words>(open_error::newer);
}

TEST_F(durable_refusals, refuses_damaged_superblocks) {
  make();
  change_bytes([](bytes& all) {
    for (const std::uint64_t at : pool_layout::copy_at) all[at + 200] = 1;
  });
  refuse_both<words>(open_error::damaged);
}

TEST_F(durable_refusals, refuses_without_permission) {
  make();
  ASSERT_EQ(chmod(path_.c_str(), 0), 0);
  std::filesystem::permissions(std::filesystem::path(path_).parent_path(), std::filesystem::perms::all);
  const auto as_nobody = [&](result_of_child& told) {
    // the superuser has all permissions
    if (getuid() == 0) told.expect(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0, "uid");
    told.expect(words::open(path_.c_str()).error() == open_error::no_permission, "no permission to write");
    told.expect(words::open_read_only(path_.c_str()).error() == open_error::no_permission, "no permission to read");
    told.expect(words::open("/proc/cubby_has_no_table_here").error() != open_error::none, "no permission to create");
  };
  EXPECT_EQ(status_of_child(as_nobody), 0);
  ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
  expect_entries();
}

TEST_F(durable_refusals, needs_addresses) {
  if (has_shadow_memory) GTEST_SKIP() << "the sanitizer needs the addresses";
  make();
  const bytes before = bytes_in(path_);
  const std::string fresh = folder_.file("fresh");
  const int status = status_of_child([&](result_of_child& told) {
    const rlimit none = {std::uint64_t{1} << 20, std::uint64_t{1} << 20};
    const rlimit few = {std::uint64_t{2} << 30, std::uint64_t{1} << 40};
    told.expect(setrlimit(RLIMIT_AS, &few) == 0, "a limit");
    told.expect(static_cast<bool>(words::open_read_only(path_.c_str())), "few addresses are enough");
    told.expect(setrlimit(RLIMIT_AS, &none) == 0, "a lower limit");
    told.expect(words::open(path_.c_str()).error() == open_error::no_memory, "no addresses");
    told.expect(words::open_read_only(path_.c_str()).error() == open_error::no_memory, "no addresses to read");
    told.expect(words::open(fresh.c_str(), {.how = opening::only_new}).error() == open_error::no_memory, "a new one");
  });
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(bytes_in(path_) == before);
  EXPECT_FALSE(std::filesystem::exists(fresh)) << "a file that was to be new is in the way of the next try";
  expect_entries();
}

TEST_F(durable_refusals, refuses_a_table_that_was_to_survive_its_process_after_a_power_cut) {
  make(10, {.survives = cubby::survive::process});
  change_bytes(forge_not_closed);
  expect_entries();
  change_bytes(forge_power_cut);
  refuse_both<words>(open_error::power_cut);
  {
    const auto got = words::open(path_.c_str(), {.accept_power_cut = true});
    ASSERT_TRUE(got) << got.message();
    EXPECT_TRUE(got.recovered().power_cut);
    EXPECT_TRUE(got->check().ok());
  }
  expect_entries();
}

/// The line is whole: what is left out of a long path is its middle, and no character of it is cut in two.
TEST_F(durable_refusals, says_what_to_do_about_any_path) {
  const std::string end = "/table: cannot open it: No such file or directory; check the path";
  const std::string letters = "/\u00e4\u20ac\U0001f511x"; // of 2, 3, 4 bytes and 1 byte
  bool whole = false;
  bool cut = false;
  for (std::string path = folder_.file("a"); path.size() < 3000; path += letters) {
    for (const char* more : {"", "b", "bc", "bcd"}) {
      const std::string name = path + more + "/table";
      const auto got = words::open(name);
      ASSERT_EQ(got.error(), open_error::not_found) << got.message();
      const std::string line = got.message();
      ASSERT_TRUE(line.ends_with(end)) << line;
      if (line == path + more + end) {
        whole = true;
        EXPECT_FALSE(cut) << "a longer path is whole";
        continue;
      }
      cut = true;
      ASSERT_GT(line.size(), 500U) << "more of the path has space";
      const auto gap = line.find("...");
      ASSERT_NE(gap, std::string::npos) << line;
      ASSERT_TRUE(path.starts_with(line.substr(0, gap)));
      ASSERT_NE(line[gap + 3] & 0xc0, 0x80) << "the end begins inside a character";
      ASSERT_NE(path[gap] & 0xc0, 0x80) << "the begin ends inside a character";
    }
  }
  EXPECT_TRUE(whole && cut);
}

/// An engine without a log says so, and leaves no file.
TEST_F(durable_refusals, refuses_a_log_of_seph) {
  using table = cubby::durable_map<std::string, std::string, cubby::hash<std::string>, cubby::seph>;
  const std::string path = folder_.file("table");
  const auto got = table::open(path, {.log_bytes = 1 << 20});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error(), open_error::other_layout);
  EXPECT_TRUE(std::string_view(got.message()).ends_with("have no log; leave log_bytes at 0")) << got.message();
  EXPECT_FALSE(std::filesystem::exists(path));
}
/// A table that `most_bytes` leaves no space for names that option, and leaves no file.
TEST_F(durable_refusals, names_a_bound_of_the_file_that_is_too_small) {
  const std::string path = folder_.file("table");
  const auto got = cubby::durable_map<std::uint64_t, std::uint64_t>::open(
      path, {.capacity = 1000, .how = cubby::opening::only_new, .most_bytes = 4096});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error(), open_error::no_memory);
  EXPECT_NE(std::string_view(got.message()).find("raise most_bytes"), std::string_view::npos) << got.message();
  EXPECT_FALSE(std::filesystem::exists(path));
}
/// Each engine refuses the files of the other one.
TEST_F(durable_refusals, refuses_the_other_engine) {
  make();
  refuse_both<cubby::durable_map<std::uint64_t, std::uint64_t, cubby::hash<std::uint64_t>, cubby::seph>>(
      open_error::other_layout);
  std::filesystem::remove(path_);
  (void)must_open<cubby::durable_map<std::uint64_t, std::uint64_t, cubby::hash<std::uint64_t>, cubby::seph>>(path_);
  refuse_both<words>(open_error::other_layout);
}

} // namespace
} // namespace cubby_test
