// SPDX-License-Identifier: Apache-2.0
// The child of a fork may end a table of its parent, and that changes nothing in the file (docs/durability.md, Who may open it).
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "durable/files.hpp"
#include "engines.hpp"
#include "process/child.hpp"

#include <sched.h>

namespace cubby_test {
namespace {

/// Of a child that begins at once and ends its table when the parent has done what it does `meanwhile`.
template <class Table, class F> int status_of_child_that_ends(std::unique_ptr<Table>& t, F meanwhile) {
  int go[2];
  if (pipe(go) != 0) return -1000;
  const pid_t child = begin_child([&](result_of_child&) {
    close(go[1]);
    char none = 0;
    (void)!read(go[0], &none, 1);
    t.reset();
  });
  close(go[0]);
  meanwhile();
  close(go[1]);
  return end_of_child(child);
}

TEST(durable_children, give_no_segment_back_that_the_parent_uses_again) {
  using words = cubby::durable_map<std::uint64_t, std::uint64_t>;
  for (const bool lines : {false, true}) {
    const own_folder folder;
    auto t =
        must_open<words>(folder.file("table"), {.capacity = 1000,
                                                .survives = lines ? cubby::survive::power_cut : cubby::survive::process,
                                                .write_lines_back = lines});
    ASSERT_TRUE(t->reserve(20'000));
    {
      std::optional<words::handle_type> reader(t->handle());
      const auto stay = reader->guard(); // so that the shrink keeps the segments until it ends
      ASSERT_TRUE(t->shrink_to_fit());
    }
    constexpr std::uint64_t entries = 40'000;
    const int status = status_of_child_that_ends(t, [&] {
      for (std::uint64_t k = 1; k <= entries; ++k) ASSERT_TRUE(t->insert(k, k * 3));
    });
    EXPECT_EQ(status, 0);
    for (std::uint64_t k = 1; k <= entries; ++k) ASSERT_EQ(t->find(k), k * 3);
  }
}

template <class Engine> class durable_children_of : public ::testing::Test {};
using engines_of_files = ::testing::Types<cubby::iceberg, cubby::seph>;
TYPED_TEST_SUITE(durable_children_of, engines_of_files);

TYPED_TEST(durable_children_of, a_table_leave_its_records_and_their_links) {
  using texts = cubby::durable_map<std::string, std::string, cubby::hash<std::string>, TypeParam>;
  const own_folder folder;
  const std::string path = folder.file("table");
  auto t = must_open<texts>(path);
  const auto put_all = [&](const std::string& value) {
    for (int n = 0; n < 1000; ++n) (void)t->insert_or_assign("key " + std::to_string(n), value + std::to_string(n));
    ASSERT_TRUE(t->sync());
  };
  ASSERT_NO_FATAL_FAILURE(put_all("first "));
  ASSERT_NO_FATAL_FAILURE(put_all("second ")); // what is retired now has links in the file
  const bytes before = bytes_in(path);
  EXPECT_EQ(status_of_child([&](result_of_child&) { t.reset(); }), 0);
  EXPECT_TRUE(bytes_in(path) == before);
  const int status = status_of_child_that_ends(t, [&] {
    for (int round = 0; round < 10; ++round) ASSERT_NO_FATAL_FAILURE(put_all("round " + std::to_string(round) + ' '));
  });
  EXPECT_EQ(status, 0);
  ASSERT_NO_FATAL_FAILURE(put_all("last "));
  for (int n = 0; n < 1000; ++n) ASSERT_EQ(t->find("key " + std::to_string(n)), "last " + std::to_string(n));
  ASSERT_TRUE(t->close());
  t.reset();
  t = must_open<texts>(path);
  EXPECT_EQ(t->size(), 1000U);
}

/// A process and its child, both the first of their namespaces.
TEST(durable_children, with_the_number_of_their_parent_are_told_apart) {
  const auto in_namespace = [](auto f) {
    if (unshare(CLONE_NEWPID) != 0) return 77;
    return status_of_child(f);
  };
  const int status = status_of_child([&](result_of_child&) {
    _exit(in_namespace([&](result_of_child&) {
      cubby::detail::file::process_mark mark;
      mark.set();
      if (getpid() != 1 || !mark.is_of_this_process()) _exit(2);
      _exit(in_namespace([&](result_of_child&) { _exit(getpid() == 1 && !mark.is_of_this_process() ? 0 : 1); }));
    }));
  });
  if (status == 77) GTEST_SKIP() << "this process may make no namespaces";
  EXPECT_EQ(status, 0);
}

} // namespace
} // namespace cubby_test
