// SPDX-License-Identifier: Apache-2.0
// Disks that are full, syncs that fail, memory that is short while a file is opened, and files that others cut. Each time there is
// an answer and no signal, and the table goes on and opens right.
#include <atomic>
#include <csignal>
#include <iterator>
#include <map>

#include <gtest/gtest.h>

#include "durable/faults.hpp"
#include "durable/files.hpp"
#include "durable/kinds.hpp"
#include "process/child.hpp"
#include "support/failing_memory.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

namespace cubby_test {
namespace {

using cubby::open_error;
using cubby::outcome;

template <class Kind> class durable_space : public testing::Test {
public:
  using K = typename Kind::key_type;
  using V = typename Kind::mapped_type;
  using table_type = typename Kind::table;
  using model_type = std::map<K, V>;

  durable_space() : path_(folder_.file("table")) {}

  /// Inserts keys until there is no space, then goes on with what needs none. The keys that were refused.
  static std::size_t fill(table_type& t, model_type& model, std::uint64_t most) {
    std::size_t refused = 0;
    for (std::uint64_t n = 0; n < most && refused < 200; ++n) {
      const outcome how = t.try_insert(key_of<K>(n), value_of<V>(n));
      if (how == outcome::inserted) {
        model.emplace(key_of<K>(n), value_of<V>(n));
      } else {
        ++refused;
        EXPECT_TRUE(how == outcome::no_memory || how == outcome::full) << static_cast<int>(how);
        EXPECT_FALSE(t.contains(key_of<K>(n)));
      }
    }
    return refused;
  }
  /// A table without space changes and erases, and uses again what was erased.
  static void go_on(table_type& t, model_type& model) {
    for (auto i = model.begin(); i != model.end();) {
      if (number_of(i->second) % 2 == 0) {
        EXPECT_TRUE(t.erase(i->first));
        i = model.erase(i);
      } else {
        ++i;
      }
    }
    (void)t.sync(); // blocks can be used again after it
    for (auto& [k, v] : model) {
      const V other = value_of<V>(number_of(v) + 2);
      try {
        if (t.assign(k, other)) v = other;
      } catch (const std::bad_alloc&) {
      }
      EXPECT_TRUE(t.find(k) == v);
    }
    for (std::uint64_t n = 0; n < 50; n += 2)
      if (t.try_insert(key_of<K>(n), value_of<V>(n)) == outcome::inserted) model.emplace(key_of<K>(n), value_of<V>(n));
    compare(t, model);
  }
  static void compare(table_type& t, const model_type& model) {
    EXPECT_EQ(t.size(), model.size());
    for (const auto& [k, v] : model) EXPECT_TRUE(t.find(k) == v);
    EXPECT_TRUE(t.check().ok());
  }
  void reopen_and_grow(model_type& model) {
    {
      const auto t = must_open<table_type>(path_);
      compare(*t, model);
      for (std::uint64_t n = 100'000; n < 105'000; ++n) {
        ASSERT_TRUE(t->insert(key_of<K>(n), value_of<V>(n)));
        model.emplace(key_of<K>(n), value_of<V>(n));
      }
    }
    compare(*must_open<table_type>(path_), model);
  }

  /// Opens a file that a crash has left once for each allocation of an open, which fails there.
  void fail_each_allocation(bool moving, model_type& model) {
    bytes all = bytes_in(path_);
    forge_superblock(all, [&](pool_layout::superblock& s) {
      s.clean = 0;
      s.moving = moving ? pool_layout::move_state::grows : pool_layout::move_state::none;
    });
    for (std::uint64_t number = 1;; ++number) {
      write_file(path_, all);
      if (!fail_allocation(number)) break;
      compare(*must_open<table_type>(path_), model);
    }
    compare(*must_open<table_type>(path_), model);
  }
  /// False: an open has fewer allocations.
  bool fail_allocation(std::uint64_t number) {
    const memory_failure at(number);
    const auto got = table_type::open(path_.c_str());
    if (!at.struck()) {
      EXPECT_GT(number, 4U);
      return false;
    }
    if (!got) {
      EXPECT_EQ(got.error(), open_error::no_memory) << got.message();
      const bytes left = bytes_in(path_);
      EXPECT_EQ(read_at<pool_layout::superblock>(left, offset_of_superblock(left)).clean, 0U) << "no open has ended";
    }
    return true;
  }

protected:
  own_folder folder_;
  std::string path_;
};
TYPED_TEST_SUITE(durable_space, main_kinds);

TYPED_TEST(durable_space, that_is_refused_is_an_answer) {
  constexpr long grants[] = {0, 1, 2, 3, 5, 8};
  for (std::uint64_t which = 0; which < std::size(grants); ++which) {
    const long granted = grants[which];
    if (granted != 0 && which % sparse_stride(2) != run_seed() % sparse_stride(2)) continue;
    SCOPED_TRACE(granted);
    typename TestFixture::model_type model;
    std::filesystem::remove(this->path_);
    {
      const auto t = must_open<typename TypeParam::table>(this->path_);
      {
        const full_disk full(granted);
        EXPECT_GT(this->fill(*t, model, 200'000), 0U);
        this->go_on(*t, model);
        (void)t->shrink_to_fit();
        this->compare(*t, model);
      }
      for (std::uint64_t n = 200'000; n < 202'000; ++n) { // there is space again
        ASSERT_TRUE(t->insert(key_of<typename TypeParam::key_type>(n), value_of<typename TypeParam::mapped_type>(n)));
        model.emplace(key_of<typename TypeParam::key_type>(n), value_of<typename TypeParam::mapped_type>(n));
      }
      EXPECT_TRUE(t->close());
    }
    this->reopen_and_grow(model);
  }
}

TYPED_TEST(durable_space, of_addresses_ends) {
  typename TestFixture::model_type model;
  {
    const auto t = must_open<typename TypeParam::table>(this->path_, {.most_bytes = std::uint64_t{1} << 20});
    const auto before = t->stats().file_bytes;
    EXPECT_FALSE(t->reserve(std::size_t{1} << 40)); // at once, before the file has grown
    EXPECT_EQ(t->stats().file_bytes, before);
    EXPECT_GT(this->fill(*t, model, 200'000), 0U);
    EXPECT_LE(t->stats().file_bytes, std::size_t{1} << 20);
    this->go_on(*t, model);
  }
  this->reopen_and_grow(model);
}

/// In a child: fills a table on a disk that is full soon, and makes a file of what the parent must find.
template <class Fixture> void fill_in_child(const std::string& path, result_of_child& told) {
  typename Fixture::model_type model;
  auto t = Fixture::table_type::open(path.c_str());
  told.expect(static_cast<bool>(t), t.message());
  if (!t) return;
  told.expect(Fixture::fill(*t, model, 500'000) != 0, "the disk is never full");
  Fixture::go_on(*t, model);
  told.expect(!testing::Test::HasFailure(), "what the table answers");
  told.expect(t->close(), "close needs no space");
  auto table = t.take();
  table.reset();
  auto again = Fixture::table_type::open(path.c_str());
  told.expect(static_cast<bool>(again), again.message());
  if (again) Fixture::compare(*again, model);
  told.expect(!testing::Test::HasFailure(), "what is there again");
}

TYPED_TEST(durable_space, of_a_limited_file_ends) {
  if (cubby::detail::cpu::thread_sanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in the child of a fork";
  const int status = status_of_child([&](result_of_child& told) {
    const rlimit few = {std::uint64_t{1} << 20, std::uint64_t{1} << 20};
    told.expect(setrlimit(RLIMIT_FSIZE, &few) == 0 && signal(SIGXFSZ, SIG_IGN) != SIG_ERR, "a limit");
    fill_in_child<TestFixture>(this->path_, told);
  });
  EXPECT_EQ(status, 0);
}

TYPED_TEST(durable_space, of_a_disk_ends) {
  if (cubby::detail::cpu::thread_sanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in the child of a fork";
  const std::string folder = this->folder_.file("disk");
  std::filesystem::create_directory(folder);
  constexpr int not_allowed = 100;
  const int status = status_of_child([&](result_of_child& told) {
    const int apart = getuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;
    if (unshare(apart) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=1m") != 0)
      _exit(not_allowed);
    fill_in_child<TestFixture>(folder + "/table", told);
  });
  if (status == not_allowed) GTEST_SKIP() << "this process may not mount a disk of its own";
  EXPECT_EQ(status, 0);
}

TYPED_TEST(durable_space, that_is_used_by_several_threads_ends) {
  using K = typename TypeParam::key_type;
  using V = typename TypeParam::mapped_type;
  const std::uint64_t each = scaled(30'000);
  const std::uint64_t most_refused = sparse() ? 500 : each; // of a thread
  std::atomic<std::size_t> inserted{0};
  {
    const auto t = must_open<typename TypeParam::table>(this->path_);
    const full_disk full(4);
    run_threads(3, [&](unsigned thread) {
      std::uint64_t refused = 0;
      for (std::uint64_t n = 0; n < each && refused < most_refused; ++n) {
        const K k = key_of<K>(n * 3 + thread);
        if (t->try_insert(k, value_of<V>(n)) != outcome::inserted) {
          ++refused;
          continue;
        }
        ++inserted;
        EXPECT_TRUE(t->contains(k));
      }
    });
    EXPECT_LT(inserted.load(), 3 * each);
  }
  const auto t = must_open<typename TypeParam::table>(this->path_);
  EXPECT_EQ(t->size(), inserted.load());
  EXPECT_TRUE(t->check().ok());
}

TYPED_TEST(durable_space, that_is_cut_by_others_is_missed) {
  using table = typename TypeParam::table;
  {
    const auto t = must_open<table>(this->path_);
    for (std::uint64_t n = 0; n < 3000; ++n)
      t->insert(key_of<typename TypeParam::key_type>(n), value_of<typename TypeParam::mapped_type>(n));
    EXPECT_TRUE(t->sync());
    resize_file(this->path_, t->stats().file_bytes - pool_layout::page);
  }
  const auto got = table::open(this->path_.c_str());
  EXPECT_FALSE(got);
  EXPECT_EQ(got.error(), open_error::truncated) << got.message();
}

TYPED_TEST(durable_space, of_memory_ends_while_a_file_is_opened) {
  using K = typename TypeParam::key_type;
  using V = typename TypeParam::mapped_type;
  using table = typename TypeParam::table;
  std::map<K, V> model;
  cubby::durable_options wanted;
  wanted.capacity = 100;
  {
    const auto t = must_open<table>(this->path_, wanted);
    for (std::uint64_t n = 0; n < 300; ++n) {
      t->insert(key_of<K>(n), value_of<V>(n));
      model.emplace(key_of<K>(n), value_of<V>(n));
    }
  }
  for (const bool moving : {false, true}) this->fail_each_allocation(moving, model);
}

TYPED_TEST(durable_space, whose_syncs_fail_in_recovery_is_refused_as_such) {
  using table = typename TypeParam::table;
  {
    const auto t = must_open<table>(this->path_);
    for (std::uint64_t n = 0; n < 300; ++n)
      t->insert(key_of<typename TypeParam::key_type>(n), value_of<typename TypeParam::mapped_type>(n));
  }
  bytes all = bytes_in(this->path_);
  forge_power_cut(all);
  for (const long good : {0, 1}) {
    write_file(this->path_, all);
    {
      const failing_syncs others(good);
      const auto got = table::open(this->path_);
      ASSERT_FALSE(got) << good;
      EXPECT_EQ(got.error(), open_error::io) << got.message();
    }
    EXPECT_EQ(must_open<table>(this->path_)->size(), 300U);
  }
}

TYPED_TEST(durable_space, whose_sync_has_failed_stays_failed) {
  using K = typename TypeParam::key_type;
  using V = typename TypeParam::mapped_type;
  using table = typename TypeParam::table;
  std::map<K, V> model;
  {
    const auto t = must_open<table>(this->path_);
    const auto insert = [&](std::uint64_t from, std::uint64_t to) {
      for (std::uint64_t n = from; n < to; ++n) {
        if (t->try_insert(key_of<K>(n), value_of<V>(n)) == outcome::inserted)
          model.emplace(key_of<K>(n), value_of<V>(n));
      }
    };
    insert(0, 10);
    EXPECT_TRUE(t->sync());
    {
      const failing_syncs all;
      insert(10, 20);
      EXPECT_FALSE(t->sync());
    }
    EXPECT_FALSE(t->sync()) << "the system may have dropped what it could not write";
    insert(20, 2000); // also where a growth would need a sync
    EXPECT_GE(model.size(), 20U);
    this->compare(*t, model);
    EXPECT_FALSE(t->close());
  }
  auto got = table::open(this->path_.c_str());
  ASSERT_TRUE(got) << got.message();
  EXPECT_FALSE(got.recovered().clean);
  this->compare(*got, model);
}

/// No sync settles the move. So the slots that it has left are still there when the process ends, and lead to nothing old.
TYPED_TEST(durable_space, whose_move_is_not_settled_keeps_changes) {
  using K = typename TypeParam::key_type;
  using V = typename TypeParam::mapped_type;
  using table = typename TypeParam::table;
  constexpr std::uint64_t keys = 150;
  const std::string copy = this->folder_.file("copy");
  {
    cubby::durable_options wanted;
    wanted.capacity = 100;
    const auto t = must_open<table>(this->path_, wanted);
    const failing_syncs all;
    const std::size_t before = t->capacity();
    for (std::uint64_t n = 0; n < keys; ++n) ASSERT_TRUE(t->insert(key_of<K>(n), value_of<V>(n)));
    ASSERT_TRUE(t->reserve(before + 1));
    ASSERT_GT(t->capacity(), before);
    for (std::uint64_t n = 0; n < keys; ++n) {
      if (n % 2 == 0) EXPECT_TRUE(t->erase(key_of<K>(n)));
      else EXPECT_TRUE(t->assign(key_of<K>(n), value_of<V>(n + 1)));
    }
    write_file(copy, bytes_in(this->path_)); // as the end of the process leaves it
  }
  const auto t = must_open<table>(copy);
  EXPECT_EQ(t->size(), keys / 2);
  for (std::uint64_t n = 0; n < keys; ++n)
    EXPECT_TRUE(t->find(key_of<K>(n)) == (n % 2 == 0 ? std::nullopt : std::optional<V>(value_of<V>(n + 1)))) << n;
}

TYPED_TEST(durable_space, of_a_disk_that_cannot_sync_is_refused) {
  using table = typename TypeParam::table;
  {
    const auto made = must_open<table>(this->path_);
  }
  {
    const failing_syncs all;
    EXPECT_EQ(table::open(this->path_.c_str()).error(), open_error::io);
    EXPECT_EQ(table::open(this->folder_.file("other").c_str()).error(), open_error::io);
  }
  EXPECT_TRUE(table::open(this->path_.c_str()));
}

} // namespace
} // namespace cubby_test
