// SPDX-License-Identifier: Apache-2.0
// One key asked for twice in a batch, beside a writer that only counts it up, is never answered with the newer value first
// and the older one second (D). The same where the writer takes the key out, and puts it back. Seen in a lookup that was put off because its bin had changed, while a later one of the
// same key was answered at once.
#include <array>
#include <memory>
#include <span>
#include <string>

#include "engines.hpp"
#include "support/fiber_scheduler.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

constexpr std::uint64_t fillers = 1000;
constexpr std::uint64_t most_fillers = 1000;
/// All keys but the fillers in one bin, one line, one chain.
struct one_bin_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept {
    return key < fillers ? 0x9e3779b97f4a7c15 : (key << 40) * 0x9e3779b97f4a7c15;
  }
};

constexpr std::uint64_t counted_key = 50;
constexpr std::uint64_t neighbour = 60;
constexpr std::size_t asked = 3;
/// How often a batch stands still before a step, at most, in these tests.
constexpr std::uint64_t most_steps = 300;

template <class Engine> struct words_of {
  using engine = Engine;
  using map = cubby::map<std::uint64_t, std::uint64_t, Engine, one_bin_hash>;
  static std::uint64_t value(std::uint64_t n) { return n; }
  static std::uint64_t number(std::uint64_t v) { return v; }
};
template <class Engine> struct records_of {
  using engine = Engine;
  using map = cubby::map<std::uint64_t, std::string, Engine, one_bin_hash>;
  static std::string value(std::uint64_t n) { return std::string(40, 'x') + std::to_string(n); }
  static std::uint64_t number(const std::string& v) { return std::stoull(v.substr(40)); }
};
template <class Engine> struct tuples_of {
  using engine = Engine;
  using map = cubby::map<std::uint64_t, std::array<std::uint64_t, 2>, Engine, one_bin_hash>;
  static std::array<std::uint64_t, 2> value(std::uint64_t n) { return {n, n}; }
  static std::uint64_t number(const std::array<std::uint64_t, 2>& v) { return v[0]; }
};

template <class Coding>
class regression_api_equal_keys : public ::testing::Test {
protected:
  using map = typename Coding::map;
  using value = typename map::mapped_type;

  /// `others` entries come before the counted one, so that it lies in the first bucket, or line, or further on.
  static std::unique_ptr<map> made(std::uint64_t others, bool present, bool moving) {
    table_options o = tiny_options();
    o.capacity = moving ? 150 : 64; // then a few writes do not end the move
    auto m = std::make_unique<map>(o);
    const std::uint64_t last = moving ? fillers + most_fillers : 0;
    for (std::uint64_t n = fillers; n < last && !m->stats().migrating; ++n) EXPECT_TRUE(m->insert(n, Coding::value(0)));
    for (std::uint64_t n = 0; n < others; ++n) EXPECT_TRUE(m->insert(100 + n, Coding::value(0)));
    EXPECT_TRUE(m->insert(neighbour, Coding::value(0)));
    if (present) {
      EXPECT_TRUE(m->insert(counted_key, Coding::value(1)));
    }
    return m;
  }
  /// One thing that the writer does between two steps of the batch: the bin changes, and the count goes up.
  static void count_up(map& m, std::uint64_t to, bool elsewhere) {
    if (elsewhere) {
      (void)m.erase(counted_key);
      (void)m.erase(100); // leaves a slot in front
    }
    EXPECT_TRUE(m.erase(neighbour));
    (void)m.insert_or_assign(counted_key, Coding::value(to));
    EXPECT_TRUE(m.insert(neighbour, Coding::value(0)));
  }

  static std::array<std::uint64_t, asked> numbers(const map& m) {
    const std::array<std::uint64_t, asked> keys{counted_key, counted_key, counted_key};
    std::array<value, asked> values{};
    std::array<bool, asked> found{};
    (void)m.find_batch(std::span<const std::uint64_t>(keys), std::span(values), std::span(found));
    std::array<std::uint64_t, asked> out{};
    for (std::size_t i = 0; i < asked; ++i) out[i] = found[i] ? Coding::number(values[i]) : 0;
    return out;
  }

  /// No count is followed by a lower one. 0 is absence, which a key that is taken out and put back shows in between.
  static bool is_in_order(const std::array<std::uint64_t, asked>& seen, bool may_be_absent) {
    std::uint64_t last = 0;
    for (const std::uint64_t one : seen) {
      if (one == 0 && may_be_absent) continue;
      if (one < last) return false;
      last = one;
    }
    return true;
  }

  /// The writer comes before step `first` of the batch, and again `second` steps later. True: the batch was over by then.
  template <class Write>
  static bool play(map& m, std::uint64_t first, std::uint64_t second, std::array<std::uint64_t, asked>& seen,
                   const Write& write) {
    fiber_scheduler turns;
    const auto batch = turns.start([&] { seen = numbers(m); });
    bool over = turns.run(batch, first) == fiber_scheduler::stopped::finished;
    write(2);
    over = over || turns.run(batch, second) == fiber_scheduler::stopped::finished;
    write(3);
    EXPECT_TRUE(turns.finish_all());
    return over;
  }
  static std::string shown(const std::array<std::uint64_t, asked>& seen, std::uint64_t first, std::uint64_t second) {
    std::string out;
    for (const std::uint64_t one : seen) out += std::to_string(one) + ' ';
    return out + "with the writer before step " + std::to_string(first) + " and " + std::to_string(second) +
           " steps later";
  }
  static bool play_count(std::uint64_t others, unsigned how, std::uint64_t first, std::uint64_t second) {
    const bool present = how % 2 == 0;
    const bool elsewhere = how / 2 % 2 == 1;
    const bool moving = how / 4 == 1;
    const auto m = made(others, present, moving);
    EXPECT_EQ(m->stats().migrating, moving);
    std::array<std::uint64_t, asked> seen{};
    const bool over = play(*m, first, second, seen, [&](std::uint64_t to) { count_up(*m, to, elsewhere); });
    EXPECT_TRUE(is_in_order(seen, elsewhere))
        << shown(seen, first, second) << ", and " << others << " others, way " << how;
    return over;
  }
  /// The key is taken out, and then put back. No other one is there: an equal tag leads to another way in some engines.
  static bool play_return(std::uint64_t first, std::uint64_t second) {
    const auto m = std::make_unique<map>(tiny_options());
    EXPECT_TRUE(m->insert(counted_key, Coding::value(1)));
    std::array<std::uint64_t, asked> seen{};
    const bool over = play(*m, first, second, seen, [&](std::uint64_t to) {
      if (to == 2) EXPECT_TRUE(m->erase(counted_key));
      else EXPECT_TRUE(m->insert(counted_key, Coding::value(to)));
    });
    for (std::uint64_t& one : seen) one = one == 0 ? 2 : one; // absent: behind the first value, before the last one
    EXPECT_TRUE(is_in_order(seen, false)) << shown(seen, first, second);
    return over;
  }

  /// The writer comes before each step of the batch, in a short run before every other one.
  template <class Play>
  static void play_all(std::uint64_t drawn, const Play& play_one) {
    std::uint64_t first = (run_seed() + drawn) % sparse_stride(2);
    for (bool any = true; any && first < most_steps; first += sparse_stride(2)) {
      any = false;
      // One step later is always tried: only then does a batch that is over show that `first` was its last step.
      for (std::uint64_t second = 1; second < most_steps;
           second += second == 1 ? 1 + first % sparse_stride(16) : sparse_stride(16)) {
        if (play_one(first, second)) break;
        any = true;
        if (::testing::Test::HasFailure()) return;
      }
    }
    ASSERT_LT(first, most_steps) << "a batch has more steps than the test tries";
  }
  static void play_counts(std::uint64_t others, unsigned how) {
    play_all(how, [&](std::uint64_t first, std::uint64_t second) { return play_count(others, how, first, second); });
  }
};
/// Engines whose moves end within the inserts that begin them. Of others `play_count` expects that they stand in one.
template <class Engine>
inline constexpr bool is_quick = std::is_same_v<Engine, cubby::iceberg> || std::is_same_v<Engine, cubby::seph>;
/// `reference` answers one by one under its lock; a writer would wait for a batch that stands still in there.
template <class Line>
inline constexpr bool is_asked =
    Line::shared && Line::capabilities.ordered_batch && !std::is_same_v<typename Line::engine, cubby::reference>;
template <class Line>
using codings_of =
    join<types_if<is_asked<Line> && Line::records, words_of<typename Line::engine>, records_of<typename Line::engine>>,
         types_if<is_asked<Line> && (Line::tuples || Line::wide_slots), tuples_of<typename Line::engine>>>;
using equal_key_codings = join_over<codings_of, listed_engines>;
TYPED_TEST_SUITE(regression_api_equal_keys, equal_key_codings);

TYPED_TEST(regression_api_equal_keys, are_answered_in_order_wherever_the_writer_comes_between) {
  for (const std::uint64_t others : {0u, 3u, 5u})
    for (unsigned how = 0; how < 4 && !::testing::Test::HasFailure(); ++how) this->play_counts(others, how);
}

TYPED_TEST(regression_api_equal_keys, are_not_absent_behind_the_value_that_was_put_back) {
  this->play_all(0, [&](std::uint64_t first, std::uint64_t second) { return this->play_return(first, second); });
}

TYPED_TEST(regression_api_equal_keys, are_answered_in_order_while_entries_move) {
  if (is_quick<typename TypeParam::engine>) GTEST_SKIP() << "a move of such a table ends within a few inserts";
  for (unsigned how = 4; how < 8 && !::testing::Test::HasFailure(); ++how) this->play_counts(0, how);
}

} // namespace
} // namespace cubby_test
