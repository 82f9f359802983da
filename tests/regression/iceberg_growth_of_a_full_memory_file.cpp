// SPDX-License-Identifier: Apache-2.0
// A file in memory (tmpfs) that has too little space for a growth. The system took all pages that were left, one by one, and gave them back,
// in one of 64 inserts behind the mark: a fill stood still for minutes.
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include <gtest/gtest.h>

#include <cubby/durable_map.hpp>

#include "durable/files.hpp"
#include "process/child.hpp"

#include <sched.h>
#include <sys/mount.h>

namespace cubby_test {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

/// Seconds of processor time of this process.
double spent() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// On a disk of 64 MiB: 64 refusals of more than it has cost less than one grant of the half.
void take_too_much(const std::string& path, result_of_child& told) {
  namespace file = cubby::detail::file;
  file::descriptor of;
  told.expect(of.open(path.c_str(), O_RDWR | O_CREAT) == 0, "a file is made");
  const double begin = spent();
  told.expect(file::take_space(of.number(), 0, 32 * mebibyte) == 0, "the half is granted");
  const double granted = spent();
  for (int i = 0; i < 64; ++i)
    told.expect(file::take_space(of.number(), 32 * mebibyte, 33 * mebibyte) == ENOSPC,
                "more than there is, is refused");
  told.expect(spent() - granted < granted - begin, "by little work");
  told.expect(file::take_space(of.number(), 32 * mebibyte, 31 * mebibyte) == 0, "the rest is granted");
}

/// On the same disk: a hole counts as free, whether it is filled again or the file grows behind it.
void grow_with_a_hole(const std::string& path, result_of_child& told) {
  namespace file = cubby::detail::file;
  file::descriptor of;
  told.expect(of.open(path.c_str(), O_RDWR | O_CREAT) == 0, "a file is made");
  told.expect(file::take_space(of.number(), 0, 20 * mebibyte) == 0, "the beginning is granted");
  told.expect(file::give_space(of.number(), 2 * mebibyte, 16 * mebibyte) == 0, "a hole is made");
  std::byte* const at = file::reserve(128 * mebibyte);
  told.expect(at != nullptr && file::map(of.number(), at, 0, 128 * mebibyte, false, false) == 0, "it is mapped");
  told.expect(file::take_memory(of.number(), at, 20 * mebibyte, 76 * mebibyte) == 0, "nearly all is granted");
  told.expect(file::lacks_pages(of.number(), 2 * mebibyte, 16 * mebibyte), "the hole cannot be filled then");
}

template <class F> void on_a_disk_of_64_mebibytes(F take) {
  const own_folder folder;
  const std::string disk = folder.file("disk");
  std::filesystem::create_directory(disk);
  constexpr int not_allowed = 100;
  const int status = status_of_child([&](result_of_child& told) {
    const int apart = getuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;
    if (unshare(apart) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64m") != 0)
      _exit(not_allowed);
    take(disk + "/file", told);
  });
  if (status == not_allowed) GTEST_SKIP() << "this process may not mount a disk of its own";
  EXPECT_EQ(status, 0);
}
TEST(iceberg_growth_of_a_full_memory_file, is_refused_at_once) { on_a_disk_of_64_mebibytes(take_too_much); }
TEST(iceberg_growth_of_a_full_memory_file, is_granted_where_holes_leave_space) {
  on_a_disk_of_64_mebibytes(grow_with_a_hole);
}

} // namespace
} // namespace cubby_test
