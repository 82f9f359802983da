// SPDX-License-Identifier: Apache-2.0
// A call of `insert_or_assign` makes its record for an assign. If another thread erases the entry before that, the same record is inserted,
// and replaces none then. The erased record has one owner: the thread that has erased it, and not also the sync that comes next.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include <cubby/seph.hpp>

#include "durable/files.hpp"
#include "support/fiber_scheduler.hpp"

namespace cubby_test {
namespace {

using table = cubby::durable_map<std::uint64_t, std::uint64_t, cubby::hash<std::uint64_t>, cubby::seph>;
using stopped = fiber_scheduler::stopped;
constexpr std::uint64_t key = 7;
constexpr std::uint64_t others = 60;

/// A list that a block is in twice has no end.
class steps_of_sync final : public watcher {
public:
  void before(step, const void*) override {
    if (++steps_ < 100'000) return;
    std::fputs("a sync does not end: a block was given back twice\n", stderr);
    std::abort();
  }

private:
  std::uint64_t steps_ = 0;
};

struct setting {
  const char* name;
  cubby::persistence domain;
  cubby::durable_options options;
};
class lost_assigns : public testing::TestWithParam<setting> {
protected:
  /// The call stops before this step, and another thread erases the entry. From then on that one looks the key up before each
  /// step. False: the call has fewer steps.
  bool meet(std::uint64_t stop) {
    own_folder folder;
    auto t = must_open<table>(folder.file("table"), GetParam().options);
    EXPECT_EQ(t->domain(), GetParam().domain);
    EXPECT_TRUE(t->insert(key, std::uint64_t{1}));
    EXPECT_TRUE(t->sync());
    bool stands = true;
    {
      fiber_scheduler threads;
      bool erased = false;
      bool ended = false;
      const auto call = threads.start([&, h = std::make_shared<table::handle_type>(t->handle())] {
        inserted_ += h->insert_or_assign(key, std::uint64_t{2}) ? 1 : 0;
        ended = true;
      });
      const auto other = threads.start([&, h = std::make_shared<table::handle_type>(t->handle())] {
        (void)h->erase(key);
        erased = true;
        while (!ended) (void)h->contains(key);
      });
      stands = threads.run(call, stop) != stopped::finished;
      while (!erased) // it may wait for a lock that the call has
        if (threads.run(other, 500) != stopped::finished && !erased) (void)threads.run(call, 1);
      while (!ended) {
        (void)threads.run(other, 200);
        (void)threads.run(call, 1);
      }
      EXPECT_TRUE(threads.finish(other));
    }
    look(*t);
    return stands;
  }
  /// Syncs and reclaims, so that what has two owners is given back twice. Then two entries would share a block.
  static void look(table& t) {
    for (int i = 0; i < 3; ++i) {
      const steps_of_sync bounded;
      EXPECT_TRUE(t.sync());
      (void)t.shrink_to_fit();
    }
    const bool there = t.contains(key);
    const std::uint64_t bytes = t.stats().block_bytes;
    for (std::uint64_t k = 100; k < 100 + others; ++k) EXPECT_TRUE(t.insert(k, k));
    for (std::uint64_t k = 100; k < 100 + others; ++k) EXPECT_EQ(t.find(k), std::optional(k));
    EXPECT_EQ(t.find(key), there ? std::optional<std::uint64_t>(2) : std::nullopt);
    const std::uint64_t each = (t.stats().block_bytes - bytes) / others;
    EXPECT_EQ(bytes, there ? each : 0) << "a block for each entry";
    EXPECT_TRUE(t.check().ok());
  }
  std::uint64_t inserted_ = 0;
};

TEST_P(lost_assigns, replace_nothing_when_they_are_inserted) {
  std::uint64_t stop = 0;
  while (meet(stop) && !HasFailure()) ++stop;
  EXPECT_GT(stop, 10U) << "the call has few steps";
  EXPECT_GT(inserted_, 0U) << "no assign has lost its entry";
  EXPECT_LT(inserted_, stop) << "none has found it";
}
INSTANTIATE_TEST_SUITE_P(
    in, lost_assigns,
    testing::Values(setting{"page", cubby::persistence::page, {}},
                    setting{"process", cubby::persistence::process, {.survives = cubby::survive::process}},
                    setting{"line", cubby::persistence::line, {.write_lines_back = true}}),
    [](const auto& one) { return one.param.name; });

} // namespace
} // namespace cubby_test
