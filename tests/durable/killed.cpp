// SPDX-License-Identifier: Apache-2.0
// A writer process is killed at random moments, again and again, on one file. Each acknowledged change is there afterwards; the one that
// was under way is there whole or not at all. CUBBY_TEST_KILLS says how often; the long command asks for a thousand.
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "durable/files.hpp"
#include "durable/kinds.hpp"
#include "process/child.hpp"

#include <sys/mman.h>

namespace cubby_test {
namespace {

constexpr unsigned writers = 2;
constexpr std::uint64_t keys = 6000; // of each writer
constexpr std::uint64_t absent = ~std::uint64_t{0};

/// What the writers report, in memory that survives them: of each key the number of its value, and the change under way.
struct reports {
  struct writer {
    std::atomic<std::uint64_t> values[keys];
    std::atomic<std::uint64_t> key;    // of the change under way, or `absent`
    std::atomic<std::uint64_t> wanted; // the number of its value
  };
  writer of[writers];
  std::atomic<std::uint64_t> changes;
  std::atomic<std::uint64_t> opened;

  static reports* shared() {
    void* const at = mmap(nullptr, sizeof(reports), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    auto* const made = ::new (at) reports;
    for (auto& w : made->of) {
      for (auto& v : w.values) v = absent;
      w.key = absent;
    }
    return made;
  }
};

std::uint64_t wanted_kills() {
  const char* const given = std::getenv("CUBBY_TEST_KILLS");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 10; // of each test
}

template <class Kind> class durable_kills : public testing::Test {
public:
  using K = typename Kind::key_type;
  using V = typename Kind::mapped_type;
  using table_type = typename Kind::table;

  durable_kills() : path_(folder_.file("table")) {}
  ~durable_kills() override { munmap(all_, sizeof *all_); }

  /// Kills so many writers, and looks at what each has left.
  void play(const cubby::durable_options& wanted) {
    if (cubby::detail::cpu::thread_sanitizer)
      GTEST_SKIP() << "ThreadSanitizer allows no threads in the child of a fork";
    options_ = wanted;
    for (std::uint64_t n = 0; n < wanted_kills() && !this->HasFailure(); ++n) {
      const std::uint64_t moment = random_.below(random_.one_in(4) ? 60'000 : 8000);
      const std::uint64_t salt = random_.next();
      kill_after(moment, [&] { write(salt); });
      SCOPED_TRACE(testing::Message() << "kill " << n << " after " << moment << " us");
      look();
    }
    EXPECT_GT(all_->changes.load(), 0U);
  }

private:
  /// Runs `body` in a child until it is killed, `moment` microseconds after it has opened the table; or, one time in eight, while it opens.
  template <class Body> void kill_after(std::uint64_t moment, Body body) {
    all_->opened = 0;
    std::fflush(nullptr);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(120);
      body();
      _exit(7); // it writes for ever
    }
    const bool early = random_.one_in(8);
    for (int waits = 0; !early && all_->opened == 0 && waits < 100'000; ++waits) usleep(100);
    usleep(static_cast<useconds_t>(moment));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the writer has ended by itself: " << status;
  }

  void write(std::uint64_t salt) {
    auto table = table_type::open(path_.c_str(), options_);
    if (!table) {
      std::fprintf(stderr, "%s\n", table.message());
      _exit(8);
    }
    all_->opened = 1;
    std::thread other([&] { write_as(*table, 1, salt); });
    write_as(*table, 0, salt);
  }
  /// Grows for a while, then shrinks.
  void write_as(table_type& table, unsigned number, std::uint64_t salt) {
    auto& mine = all_->of[number];
    mine.key = absent;
    std::uint64_t seed = splitmix(salt + number);
    for (std::uint64_t i = 0;; ++i) {
      seed = splitmix(seed);
      const bool shrinks = (salt + i) / 4000 % 2 != 0;
      const std::uint64_t key = seed % keys;
      const std::uint64_t before = mine.values[key];
      const bool erases = (seed >> 32) % 8 < (shrinks ? 6 : 1);
      const std::uint64_t after = erases ? absent : (seed >> 40) + 2;
      mine.wanted = after;
      mine.key = key;
      if (!change(table, key_of<K>(key * writers + number), before, after, (seed >> 36) % 3)) _exit(9);
      mine.values[key] = after;
      mine.key = absent;
      ++all_->changes;
      if (number == 0 && seed % 1500 == 0) (void)table.shrink_to_fit();
      if (number == 1 && seed % 700 == 0) (void)table.sync();
    }
  }
  /// Whether the table answers as it must.
  static bool change(table_type& table, const K& k, std::uint64_t before, std::uint64_t after, std::uint64_t how) {
    const bool is = before != absent;
    if (after == absent) return how == 0 ? table.erase(k) == is : table.extract(k).has_value() == is;
    const V v = value_of<V>(after);
    if (!is && how == 0) return table.insert(k, v);
    if (is && how == 1) return table.assign(k, v);
    if (is && how == 2) return table.update(k, [&](const V&) { return v; });
    return table.insert_or_assign(k, v) == !is;
  }

  void look() {
    auto table = table_type::open(path_.c_str(), options_);
    ASSERT_TRUE(table) << table.message();
    const auto& found = table.recovered();
    EXPECT_FALSE(found.power_cut);
    EXPECT_EQ(found.damaged, 0U);
    EXPECT_EQ(found.torn + found.restored, 0U) << "stores of a process are in order";
    std::size_t count = 0;
    for (unsigned number = 0; number < writers; ++number) {
      auto& theirs = all_->of[number];
      for (std::uint64_t key = 0; key < keys; ++key) {
        const auto v = table->find(key_of<K>(key * writers + number));
        const std::uint64_t is = v ? number_of(*v) : absent;
        if (v) {
          EXPECT_TRUE(is_whole_value(*v));
          ++count;
        }
        const std::uint64_t value = theirs.values[key];
        if (theirs.key == key && is == theirs.wanted) theirs.values[key] = is; // it was carried out
        else ASSERT_EQ(is, value) << "key " << key << " of writer " << number;
      }
      theirs.key = absent;
    }
    std::map<K, V> seen;
    table->visit_all([&](const K& k, const V& v) {
      const auto [there, is_new] = seen.emplace(k, v);
      EXPECT_TRUE(is_new) << testing::PrintToString(k) << " twice, with " << number_of(v) << " and "
                          << number_of(there->second);
    });
    EXPECT_EQ(table->size(), count);
    EXPECT_EQ(found.entries, count);
    const auto checked = table->check();
    EXPECT_TRUE(checked.ok()) << checked.lost << " lost, " << checked.damaged << " damaged";
    EXPECT_EQ(checked.entries, count);
    if (random_.one_in(2)) {
      EXPECT_TRUE(table->close());
    }
  }

  own_folder folder_;
  std::string path_;
  cubby::durable_options options_;
  reports* all_ = reports::shared();
  random_source random_{11};
};

TYPED_TEST_SUITE(durable_kills, few_kinds);

TYPED_TEST(durable_kills, keep_what_was_acknowledged) { this->play({.survives = cubby::survive::process}); }
TYPED_TEST(durable_kills, keep_what_was_acknowledged_in_tables_that_sync) {
  this->play(with_log_of<TypeParam>(
      std::size_t{1} << 20, {.survives = cubby::survive::power_cut, .sync_every = std::chrono::milliseconds(2)}));
}
TYPED_TEST(durable_kills, keep_what_was_acknowledged_in_tables_that_write_lines_back) {
  this->play({.write_lines_back = true});
}
TYPED_TEST(durable_kills, keep_what_was_acknowledged_while_a_thread_moves_entries) {
  cubby::durable_options wanted;
  wanted.growth = cubby::growth_policy::background;
  wanted.shrink = cubby::shrink_policy::automatic;
  this->play(wanted);
}

} // namespace
} // namespace cubby_test
