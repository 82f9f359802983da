// SPDX-License-Identifier: Apache-2.0
// The pairs of docs/memory-order.md inside a DLHT index, each by the functions of the engine that hold its two ends.
#include <gtest/gtest.h>

#include <cubby/dlht.hpp>

#include "litmus/two_threads.hpp"

namespace cubby_test {
namespace {

namespace dlht = cubby::detail::engines::dlht;
using cubby::detail::sync::shared;
namespace sync = cubby::detail::sync;

struct word_policy {
  using probe = cubby::detail::word_probe;
  static constexpr bool unique_words = false;
  static constexpr cubby::bin_mapping mapping = cubby::bin_mapping::fastrange;
  static bool matches(const probe&, std::uint64_t) noexcept { return true; }
  static std::uint64_t hash_of(std::uint64_t key, std::uint64_t) noexcept { return key; }
  static const void* record_of(std::uint64_t) noexcept { return nullptr; }
  static void dispose(std::uint64_t) noexcept {}
};

/// One bin and one passenger a cell.
struct bins {
  static constexpr std::size_t size = 256;
  dlht::index<shared>* at = dlht::make_index<shared>(size, size);
  std::uint64_t passenger[size] = {};
  bins() = default;
  ~bins() { cubby::detail::free_array(at); }
  bins(const bins&) = delete;
  bins& operator=(const bins&) = delete;
  dlht::bin<shared>& bin(std::size_t i) const { return at->bins[i]; }
  std::uint64_t peek(std::size_t i) const { return bin(i).head.load(sync::relaxed); }
};

TEST(litmus, a_moved_bin_carries_the_movers_work) {
  meet<bins>(
      40,
      [](bins& b, std::size_t i) {
        ASSERT_TRUE(dlht::claim_bin(*b.at, b.bin(i)));
        b.passenger[i] = i + 1;
        dlht::finish_bins(*b.at, {i, 1, 1}, dlht::bin_state::done_transfer);
      },
      [](bins& b, std::size_t i) {
        spin_until([&] { return dlht::header::state_of(b.peek(i)) == dlht::bin_state::done_transfer; });
        ASSERT_FALSE(dlht::claim_bin(*b.at, b.bin(i)));
        ASSERT_EQ(b.passenger[i], i + 1);
      });
}

TEST(litmus, a_claimed_bin_carries_a_withdrawal) {
  struct filling : bins {
    filling() {
      for (std::size_t i = 0; i < size; ++i) {
        bin(i).head.store(dlht::header::with_slot(0, 0, dlht::slot_state::filling), sync::relaxed);
      }
    }
  };
  meet<filling>(
      40,
      [](filling& b, std::size_t i) {
        b.passenger[i] = i + 1;
        dlht::withdraw(b.bin(i), b.bin(i).slots[0], 0);
      },
      [](filling& b, std::size_t i) {
        spin_until([&] { return dlht::header::slot_of(b.peek(i), 0) == dlht::slot_state::invalid; });
        ASSERT_TRUE(dlht::claim_bin(*b.at, b.bin(i)));
        ASSERT_EQ(b.passenger[i], i + 1);
      });
}

TEST(litmus, a_chained_bucket_carries_its_maker) {
  meet<bins>(
      40,
      [](bins& b, std::size_t i) {
        b.passenger[i] = i + 1;
        ASSERT_TRUE(dlht::chain_bucket(*b.at, b.bin(i), dlht::primary_slots));
      },
      [](bins& b, std::size_t i) {
        spin_until([&] { return b.bin(i).links.load(sync::relaxed) != 0; });
        ASSERT_NE(dlht::slot_at(*b.at, b.bin(i), dlht::primary_slots), nullptr);
        ASSERT_EQ(b.passenger[i], i + 1);
      });
}

void insert_into(bins& b, std::size_t i, std::uint64_t key, std::uint64_t value) {
  const cubby::detail::word_probe probe{key, key};
  dlht::new_entry<shared> a{b.at, &b.bin(i), key, value, dlht::slot_state::valid};
  cubby::detail::inserted_word out;
  ASSERT_EQ(dlht::insert_here(word_policy{}, probe, a, b.peek(i), out), dlht::attempt::ended);
}

/// The slot of key 8 is cleared and goes to key 9: a thread that finds either finds its own value, under one header.
TEST(litmus, a_shown_key_comes_with_its_value) {
  const auto look = [](const bins& b, std::size_t i, std::uint64_t key, cubby::detail::found_word& out) {
    return dlht::look_into(word_policy{}, *b.at, b.bin(i), cubby::detail::word_probe{key, key}, key, out) ==
               dlht::look::answered &&
           out.found;
  };
  meet<bins>(
      80,
      [](bins& b, std::size_t i) {
        insert_into(b, i, 8, 80);
        cubby::detail::mutated gone;
        auto erase = [](std::uint64_t) { return cubby::detail::decision{cubby::action::erase, 0}; };
        const auto any = [](std::uint64_t) { return true; };
        ASSERT_TRUE(dlht::mutate_here<true>(*b.at, b.bin(i), b.peek(i), 8, any, erase, gone));
        b.passenger[i] = i + 1;
        insert_into(b, i, 9, 90);
      },
      [&](bins& b, std::size_t i) {
        spin_until([&] {
          cubby::detail::found_word out;
          if (look(b, i, 8, out)) {
            EXPECT_EQ(out.word, 80u);
          }
          if (!look(b, i, 9, out)) return false;
          EXPECT_EQ(out.word, 90u);
          return true;
        });
        ASSERT_EQ(b.passenger[i], i + 1);
      });
}

struct pairs {
  static constexpr std::size_t size = 256;
  sync::word16<shared> words[size];
  std::uint64_t passenger[size] = {};
};

/// Even cells are seen through the first word, odd ones through the second.
TEST(litmus, a_swap_carries_what_came_before_it) {
  meet<pairs>(
      80,
      [](pairs& p, std::size_t i) {
        p.passenger[i] = i + 1;
        ASSERT_TRUE(p.words[i].compare_exchange({0, 0}, {1, 1}));
      },
      [](pairs& p, std::size_t i) {
        const auto& seen = i % 2 == 0 ? p.words[i].first : p.words[i].second;
        spin_until([&] { return seen.load(sync::acquire) == 1; });
        ASSERT_EQ(p.passenger[i], i + 1);
      });
}

/// Two loads may meet two swaps, but the later load never an earlier one.
TEST(litmus, a_swap_is_seen_in_order_by_two_loads) {
  const std::uint64_t last = scaled(cubby::detail::cpu::thread_sanitizer ? 50'000 : 1'000'000);
  sync::word16<shared> words;
  run_threads(2, [&](unsigned me) {
    if (me == 0) {
      for (std::uint64_t n = 0; n < last; ++n) ASSERT_TRUE(words.compare_exchange({n, n}, {n + 1, n + 1}));
      return;
    }
    for (std::uint64_t seen = 0; seen != last;) {
      const std::uint64_t first = words.first.load(sync::acquire);
      const std::uint64_t second = words.second.load(sync::acquire);
      ASSERT_GE(second, first);
      seen = words.first.load(sync::acquire);
      ASSERT_GE(seen, second);
    }
  });
}

struct table_cell {
  static constexpr std::size_t size = 1;
  dlht::table<word_policy, shared> table{dlht::options{}, word_policy{}};
  dlht::index<shared>* first = nullptr;
  std::uint64_t passenger[2] = {};
  std::atomic<bool> begun{false};
  table_cell() {
    if (dlht::open(table)) first = dlht::own_first_index(table, dlht::least_bins);
  }
  ~table_cell() { dlht::close(table); }
  table_cell(const table_cell&) = delete;
  table_cell& operator=(const table_cell&) = delete;
};

TEST(litmus, a_successor_is_whole) {
  meet<table_cell>(
      500,
      [](table_cell& c, std::size_t) {
        c.passenger[0] = 1;
        ASSERT_NE(dlht::make_next(c.table, *c.first, c.first->bin_count * 2), nullptr);
      },
      [](table_cell& c, std::size_t) {
        spin_until([&] { return dlht::next_index(*c.first) != nullptr; });
        ASSERT_EQ(dlht::next_index(*c.first)->bin_count, c.first->bin_count * 2);
        ASSERT_EQ(c.passenger[0], 1u);
      });
}

TEST(litmus, a_root_shows_what_all_movers_did) {
  struct growing : table_cell {
    growing() { (void)dlht::make_next(table, *first, first->bin_count * 2); }
    void share(unsigned me) {
      passenger[me] = me + 1;
      const std::uint64_t all = first->bin_count + 1;
      dlht::count_done(table, *first, me == 0 ? all / 2 : all - all / 2);
      spin_until([&] { return dlht::first_index(table) != first; });
      ASSERT_EQ(passenger[1 - me], 2u - me);
    }
  };
  meet<growing>(500, [](growing& c, std::size_t) { c.share(0); }, [](growing& c, std::size_t) { c.share(1); });
}

TEST(litmus, a_thawed_bin_comes_after_the_snapshot) {
  cubby::detail::thread_record* const mine = cubby::detail::registry::claim();
  ASSERT_NE(mine, nullptr);
  meet<table_cell>(
      300,
      [](table_cell& c, std::size_t) {
        auto begin = [&](std::size_t) {
          c.begun.store(true, std::memory_order_relaxed);
          c.passenger[0] = 1;
          return true;
        };
        auto sink = [](std::uint64_t, std::uint64_t) {};
        ASSERT_TRUE(dlht::snapshot(c.table, begin, sink));
      },
      [&](table_cell& c, std::size_t) {
        spin_until([&] { return c.begun.load(std::memory_order_relaxed); });
        auto keep = [](std::uint64_t) { return cubby::detail::decision{}; };
        (void)dlht::mutate(c.table, *mine, cubby::detail::word_probe{8, 8}, keep);
        ASSERT_EQ(c.passenger[0], 1u);
      });
  cubby::detail::registry::release(mine);
}

} // namespace
} // namespace cubby_test
