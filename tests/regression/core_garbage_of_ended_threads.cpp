// SPDX-License-Identifier: Apache-2.0
// What a thread retired before it ended is freed, at the latest when the table is told to give space back or goes, and
// before that while others go on retiring. Once those others never looked at it: a thread left up to some hundred
// records behind, for as long as the table lived.
#include <array>
#include <atomic>
#include <optional>

#include "engines.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

enum owner : std::uint8_t { leaver, stayer };

/// A value that counts how many of its owner's live.
class owned {
public:
  explicit owned(owner whose) : whose_(whose) { living(whose_).fetch_add(1); }
  owned(const owned& other) : whose_(other.whose_) { living(whose_).fetch_add(1); }
  owned& operator=(const owned&) = delete;
  ~owned() { living(whose_).fetch_sub(1); }
  static std::atomic<std::int64_t>& living(owner whose) {
    static std::array<std::atomic<std::int64_t>, 2> counts{};
    return counts[whose];
  }

private:
  owner whose_;
};

class regression_core_garbage : public ::testing::Test {
protected:
  using map = cubby::map<std::uint64_t, owned, cubby::dlht>;
  static constexpr unsigned leavers = 3;

  /// Threads replace a value each, again and again, and end. Afterwards their records are garbage, every one.
  void leave_garbage() {
    table->insert(leavers, owned(stayer)); // this thread has its thread record before the others take theirs
    std::atomic<unsigned> recorded{0};
    run_threads(leavers, [&](unsigned t) {
      auto h = table->handle();
      recorded.fetch_add(1);
      while (recorded.load() != leavers) std::this_thread::yield(); // so that no two have the same thread record
      for (unsigned n = 0; n < 300; ++n) h.insert_or_assign(t, owned(leaver));
    });
    ASSERT_GT(owned::living(leaver).load(), 0);
    for (unsigned t = 0; t < leavers; ++t) ASSERT_FALSE(table->insert_or_assign(t, owned(stayer)));
  }
  void TearDown() override {
    table.reset();
    EXPECT_EQ(owned::living(leaver).load(), 0);
    EXPECT_EQ(owned::living(stayer).load(), 0);
  }
  std::optional<map> table{std::in_place, tiny_options()};
};

TEST_F(regression_core_garbage, of_ended_threads_goes_with_the_table) {
  leave_garbage();
  table.reset();
  EXPECT_EQ(owned::living(leaver).load(), 0);
}

TEST_F(regression_core_garbage, of_ended_threads_goes_when_space_is_given_back) {
  leave_garbage();
  ASSERT_TRUE(table->shrink_to_fit());
  EXPECT_EQ(owned::living(leaver).load(), 0);
}

TEST_F(regression_core_garbage, of_ended_threads_goes_while_others_go_on) {
  leave_garbage();
  for (unsigned n = 0; n < 20000; ++n) table->insert_or_assign(0, owned(stayer));
  EXPECT_EQ(owned::living(leaver).load(), 0);
}

} // namespace
} // namespace cubby_test
