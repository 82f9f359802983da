// SPDX-License-Identifier: Apache-2.0
// The pairs of docs/memory-order.md about tuples, each by the functions of the engine that hold its two ends.
#include <gtest/gtest.h>

#include <cubby/dramhit_tuples.hpp>

#include "litmus/two_threads.hpp"

namespace cubby_test {
namespace {

namespace wide = cubby::detail::engines::dramhit;
namespace sync = cubby::detail::sync;

struct wide_policy {
  using stored_key = cubby::detail::words<1>;
  using stored_value = cubby::detail::words<2>;
  using probe = cubby::detail::tuple_probe<stored_key>;
  static constexpr cubby::bin_mapping mapping = cubby::bin_mapping::fastrange;
  static std::uint64_t hash_of(const stored_key& key) noexcept { return key.at[0] << 59; }
};
using pair_of_words = wide_policy::stored_value;
constexpr wide_policy::probe wide_probe(std::uint64_t key) noexcept { return {key << 59, {{key}}}; }

/// A table of 32 lines, a key and a passenger for each.
struct tuples_cell {
  static constexpr std::size_t size = 32;
  wide::table<wide_policy> table{wide::options{}, wide_policy{}};
  wide::tuple_array<wide_policy>* first = nullptr;
  std::uint64_t passenger[size] = {};
  tuples_cell() {
    if (wide::open(table)) first = cubby::detail::arrays::first_array(table);
  }
  ~tuples_cell() { wide::close(table); }
  tuples_cell(const tuples_cell&) = delete;
  tuples_cell& operator=(const tuples_cell&) = delete;
  /// The first of line i.
  [[nodiscard]] wide::tuple<wide_policy>& tuple(std::size_t i) const { return first->slots[i * first->in_line]; }
  [[nodiscard]] std::uint64_t peek(std::size_t i) const { return tuple(i).header.load(sync::relaxed); }
  [[nodiscard]] wide::stop search(std::size_t i) const { return wide::search(*first, wide_probe(i), nullptr).how; }
};
/// Key i with i in both words.
struct filled_tuples : tuples_cell {
  std::uint64_t header[size] = {};
  filled_tuples() {
    for (std::size_t i = 0; i < size; ++i) {
      (void)wide::fill(table, *first, tuple(i), wide_probe(i), {{i, i}});
      header[i] = peek(i);
    }
  }
  void overwrite(std::size_t i, std::uint64_t from, std::uint64_t number) {
    ASSERT_TRUE(wide::overwrite(table, *first, tuple(i), from, wide_probe(i), {{number, number}}));
  }
  /// The header behind one more value.
  [[nodiscard]] std::uint64_t next_header(std::size_t i) const { return wide::stepped(wide::stepped(header[i])); }
};

TEST(litmus, a_shown_tuple_carries_its_maker) {
  cubby::detail::thread_record* const mine = cubby::detail::registry::claim();
  ASSERT_NE(mine, nullptr);
  meet<tuples_cell>(
      200,
      [&](tuples_cell& c, std::size_t i) {
        c.passenger[i] = i + 1;
        ASSERT_EQ(wide::insert(c.table, *mine, wide_probe(i), {{i, i + 50}}), cubby::outcome::inserted);
      },
      [](tuples_cell& c, std::size_t i) {
        spin_until([&] {
          const auto got = wide::find(c.table, wide_probe(i));
          if (got.found) {
            EXPECT_EQ(got.word, (pair_of_words{{i, i + 50}}));
          }
          return got.found;
        });
        ASSERT_EQ(c.passenger[i], i + 1);
      });
  cubby::detail::registry::release(mine);
}

/// Who meets a word of the new value before that is shown does not see the header that was there before it.
TEST(litmus, a_written_word_carries_the_version_of_its_value) {
  meet<filled_tuples>(
      200,
      [](filled_tuples& c, std::size_t i) {
        c.passenger[i] = i + 1;
        c.overwrite(i, c.header[i], i + 50);
      },
      [](filled_tuples& c, std::size_t i) {
        pair_of_words seen{};
        spin_until([&] {
          wide::read_value(c.tuple(i), seen);
          return seen.at[0] == i + 50 || seen.at[1] == i + 50;
        });
        ASSERT_NE(c.peek(i), c.header[i]);
        ASSERT_EQ(c.passenger[i], i + 1);
      });
}

/// The header alone is looked at: the words would tell as much.
TEST(litmus, a_shown_value_carries_its_writer) {
  meet<filled_tuples>(
      200,
      [](filled_tuples& c, std::size_t i) {
        c.passenger[i] = i + 1;
        c.overwrite(i, c.header[i], i + 50);
      },
      [](filled_tuples& c, std::size_t i) {
        spin_until([&] { return wide::search(*c.first, wide_probe(i), nullptr).contents == c.next_header(i); });
        ASSERT_EQ(c.passenger[i], i + 1);
        ASSERT_EQ(wide::find(c.table, wide_probe(i)).word, (pair_of_words{{i + 50, i + 50}}));
      });
}

TEST(litmus, a_tuple_is_taken_behind_its_last_writer) {
  meet<filled_tuples>(
      200,
      [](filled_tuples& c, std::size_t i) {
        c.passenger[i] = i + 1;
        c.overwrite(i, c.header[i], i + 50);
      },
      [](filled_tuples& c, std::size_t i) {
        spin_until([&] { return c.peek(i) == c.next_header(i); });
        c.overwrite(i, c.next_header(i), i + 90);
        ASSERT_EQ(c.passenger[i], i + 1);
        ASSERT_EQ(wide::find(c.table, wide_probe(i)).word, (pair_of_words{{i + 90, i + 90}}));
      });
}

/// A value is met whole, and never one that was there before the last one.
TEST(litmus, two_words_of_a_value_are_seen_together_and_in_order) {
  const std::uint64_t last = scaled(cubby::detail::cpu::thread_sanitizer ? 50'000 : 1'000'000);
  filled_tuples c;
  const std::uint64_t begin = c.header[0];
  run_threads(2, [&](unsigned me) {
    if (me == 0) {
      for (std::uint64_t n = 0; n < last; ++n) c.overwrite(0, begin + 2 * n, n + 1);
      return;
    }
    for (std::uint64_t seen = 0; seen != last;) {
      const auto got = wide::find(c.table, wide_probe(0));
      ASSERT_TRUE(got.found);
      ASSERT_EQ(got.word.at[0], got.word.at[1]);
      ASSERT_GE(got.word.at[0], seen);
      seen = got.word.at[0];
    }
  });
}

/// A header that ends a tuple, stored by `end(cell, i)`; a search that passes it says `how`.
template <class Cell, class End>
void meet_at_the_end(wide::state last, wide::stop how, End end) {
  meet<Cell>(
      200,
      [&](Cell& c, std::size_t i) {
        c.passenger[i] = i + 1;
        end(c, i);
      },
      [=](Cell& c, std::size_t i) {
        spin_until([&] { return wide::state_of(c.peek(i)) == last; });
        ASSERT_EQ(c.search(i), how);
        ASSERT_EQ(c.passenger[i], i + 1);
      });
}

TEST(litmus, a_dead_tuple_carries_its_erase) {
  cubby::detail::thread_record* const mine = cubby::detail::registry::claim();
  ASSERT_NE(mine, nullptr);
  meet_at_the_end<filled_tuples>(wide::state::dead, wide::stop::end, [&](filled_tuples& c, std::size_t i) {
    ASSERT_TRUE(wide::make_tombstone(c.table, *mine, c.tuple(i), c.header[i]));
  });
  cubby::detail::registry::release(mine);
}
TEST(litmus, a_sealed_tuple_carries_what_came_before_it) {
  meet_at_the_end<tuples_cell>(wide::state::sealed, wide::stop::sealed,
                               [](tuples_cell& c, std::size_t i) { ASSERT_TRUE(wide::seal(c.tuple(i))); });
}

/// Each tuple is on its way already: the swap that says so would carry the passenger, too.
TEST(litmus, a_moved_tuple_carries_its_mover) {
  struct moving_tuples : filled_tuples {
    moving_tuples() {
      for (std::size_t i = 0; i < size; ++i) {
        header[i] = wide::in_state(header[i], wide::state::moving);
        tuple(i).header.store(header[i], sync::relaxed);
      }
      (void)cubby::detail::arrays::make_next(table, *first, first->lines * 2);
    }
  };
  meet_at_the_end<moving_tuples>(wide::state::moved, wide::stop::end, [](moving_tuples& c, std::size_t i) {
    wide::carry(c.table, *c.first, c.tuple(i), c.header[i], wide_probe(i));
    ASSERT_EQ(wide::find(c.table, wide_probe(i)).word, (pair_of_words{{i, i}}));
  });
}

} // namespace
} // namespace cubby_test
