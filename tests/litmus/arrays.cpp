// SPDX-License-Identifier: Apache-2.0
// The pairs of docs/memory-order.md inside the DRAMHiT engine, each by the functions of the engine that hold its two ends.
#include <gtest/gtest.h>

#include <cubby/dramhit.hpp>

#include "litmus/two_threads.hpp"

namespace cubby_test {
namespace {

namespace flat = cubby::detail::engines::dramhit;
namespace sync = cubby::detail::sync;

struct array_policy {
  using probe = cubby::detail::word_probe;
  static constexpr bool unique_words = false;
  static constexpr cubby::bin_mapping mapping = cubby::bin_mapping::fastrange;
  static bool matches(const probe&, std::uint64_t) noexcept { return true; }
  static std::uint64_t hash_of_key(std::uint64_t key) noexcept { return key << 57; }
  std::uint64_t hash_of(std::uint64_t key, std::uint64_t value) const noexcept {
    if (passenger != nullptr) passenger[value] = value + 1;
    return hash_of_key(key);
  }
  static const void* record_of(std::uint64_t) noexcept { return nullptr; }
  static void dispose(std::uint64_t) noexcept {}
  std::uint64_t* passenger = nullptr; ///< what the mover of an entry has done when it asks where the entry goes
};
cubby::detail::word_probe probe_of(std::uint64_t key) { return {array_policy::hash_of_key(key), key}; }

/// A table of 16 lines, eight keys to a line from key 8 on, and a passenger for each of 32 entries.
struct arrays_cell {
  static constexpr std::size_t size = 32;
  static constexpr std::size_t first_slot = 4;
  flat::table<array_policy> table{flat::options{}, array_policy{}};
  flat::word_array* first = nullptr;
  std::uint64_t passenger[size] = {};
  arrays_cell() {
    if (flat::open(table)) first = cubby::detail::arrays::first_array(table);
  }
  ~arrays_cell() { flat::close(table); }
  arrays_cell(const arrays_cell&) = delete;
  arrays_cell& operator=(const arrays_cell&) = delete;
  static std::uint64_t key(std::size_t i) { return (1 + i / 4) * 8 + i % 4; }
  flat::slot& slot(std::size_t i) const { return first->slots[first_slot + i]; }
};

/// Each entry lies in its home line, and there is a next array.
struct moving_cell : arrays_cell {
  moving_cell() {
    for (std::size_t i = 0; i < size; ++i) (void)slot(i).compare_exchange({0, 0}, {key(i), i});
    (void)cubby::detail::arrays::make_next(table, *first, first->lines * 2);
  }
  void move(std::size_t i) { flat::move_slot(table, *first, slot(i), (first_slot + i) / flat::word_array::in_unit); }
};
/// The same for tests of one meeting a table.
struct single_cell : arrays_cell {
  static constexpr std::size_t size = 1;
};
struct single_moving_cell : moving_cell {
  static constexpr std::size_t size = 1;
};

TEST(litmus, an_entry_carries_its_maker) {
  cubby::detail::thread_record* const mine = cubby::detail::registry::claim();
  ASSERT_NE(mine, nullptr);
  meet<arrays_cell>(
      200,
      [&](arrays_cell& c, std::size_t i) {
        c.passenger[i] = i + 1;
        const auto probe = probe_of(arrays_cell::key(i));
        ASSERT_EQ(flat::insert(c.table, *mine, probe, i + 50), cubby::outcome::inserted);
      },
      [](arrays_cell& c, std::size_t i) {
        spin_until([&] {
          const auto got = flat::find(c.table, probe_of(arrays_cell::key(i)));
          if (got.found) {
            EXPECT_EQ(got.word, i + 50);
          }
          return got.found;
        });
        ASSERT_EQ(c.passenger[i], i + 1);
      });
  cubby::detail::registry::release(mine);
}

TEST(litmus, a_moved_slot_carries_the_movers_work) {
  meet<moving_cell>(
      100,
      [](moving_cell& c, std::size_t i) {
        c.table.policy.passenger = c.passenger;
        c.move(i);
      },
      [](moving_cell& c, std::size_t i) {
        spin_until([&] { return c.slot(i).first.load(sync::relaxed) == flat::moved; });
        flat::wait_for_move(c.slot(i));
        ASSERT_EQ(c.passenger[i], i + 1);
        ASSERT_EQ(flat::find(c.table, probe_of(moving_cell::key(i))).word, i);
      });
}

/// A thread that reads of a key in the cell sees what came before it. The slot that is asked about is one that no thread moves.
TEST(litmus, a_cell_carries_the_moves_before_it) {
  meet<single_moving_cell>(
      1000,
      [](moving_cell& c, std::size_t) {
        c.passenger[0] = 1;
        c.move(0);
        c.move(1);
      },
      [](moving_cell& c, std::size_t) {
        const std::uint64_t second_key = moving_cell::key(1);
        spin_until([&] { return c.first->cells[0].load(sync::relaxed) == second_key; });
        ASSERT_FALSE(flat::is_carried(*c.first, c.slot(5), second_key));
        ASSERT_EQ(c.passenger[0], 1u);
      });
}

TEST(litmus, a_next_array_is_whole) {
  meet<single_cell>(
      500,
      [](arrays_cell& c, std::size_t) {
        c.passenger[0] = 1;
        ASSERT_NE(cubby::detail::arrays::make_next(c.table, *c.first, c.first->lines * 2), nullptr);
      },
      [](arrays_cell& c, std::size_t) {
        spin_until([&] { return flat::next_array(*c.first) != nullptr; });
        ASSERT_EQ(flat::next_array(*c.first)->lines, c.first->lines * 2);
        ASSERT_EQ(c.passenger[0], 1u);
      });
}

TEST(litmus, a_stepped_root_shows_what_all_movers_did) {
  const auto share = [](moving_cell& c, unsigned me) {
    c.passenger[me] = me + 1;
    (void)cubby::detail::generations::move_units(c.table, *c.first, me + 1); // three units in all
    spin_until([&] { return cubby::detail::arrays::first_array(c.table) != c.first; });
    ASSERT_EQ(c.passenger[1 - me], 2u - me);
  };
  meet<single_moving_cell>(
      500, [&](moving_cell& c, std::size_t) { share(c, 0); }, [&](moving_cell& c, std::size_t) { share(c, 1); });
}

} // namespace
} // namespace cubby_test
