// SPDX-License-Identifier: Apache-2.0
// The pairs of docs/memory-order.md inside the relativistic engine, each by the functions of the engine that hold its two ends.
#include <gtest/gtest.h>

#include <bit>

#include <cubby/relativistic.hpp>

#include "litmus/two_threads.hpp"

namespace cubby_test {
namespace {

namespace relative = cubby::detail::engines::relativistic;
namespace sync = cubby::detail::sync;

struct chain_policy {
  using probe = cubby::detail::word_probe;
  static constexpr bool unique_words = false;
  static bool matches(const probe&, std::uint64_t) noexcept { return true; }
  static std::uint64_t hash_of(std::uint64_t key, std::uint64_t) noexcept { return key; }
  static const void* record_of(std::uint64_t) noexcept { return nullptr; }
  static void dispose(std::uint64_t) noexcept {}
};

/// A record behind its entry's node; a value word is its address.
struct noted {
  alignas(relative::node) std::byte front[sizeof(relative::node)];
  std::uint64_t number = 0;
  [[nodiscard]] std::uint64_t word() noexcept { return std::bit_cast<std::uintptr_t>(this); }
};
struct noted_policy : chain_policy {
  static constexpr bool unique_words = true;
  static noted& at(std::uint64_t word) noexcept { return *std::bit_cast<noted*>(word); }
  static void* front_of(std::uint64_t word) noexcept { return at(word).front; }
  static std::uint64_t& retire_link(std::uint64_t word) noexcept { return at(word).number; }
};

constexpr std::uint64_t chain_buckets = 512; // more than a test has keys
constexpr cubby::detail::word_probe chain_probe(std::uint64_t key) noexcept { return {key, key}; }

/// A table in which key i is in bucket i, and cell i is about the stripe with that number and has a passenger of its own.
template <class Policy>
struct chains_of {
  static constexpr std::size_t size = relative::stripe_count;
  relative::table<Policy> table{relative::options{{.capacity = chain_buckets}, {}}, Policy{}};
  relative::bucket_array* first = nullptr;
  std::uint64_t passenger[size] = {};
  chains_of() {
    if (relative::open(table)) first = table.root.load(sync::relaxed);
  }
  ~chains_of() { relative::close(table); }
  chains_of(const chains_of&) = delete;
  chains_of& operator=(const chains_of&) = delete;

  void insert(std::uint64_t key, std::uint64_t value) {
    ASSERT_EQ(relative::insert(table, chain_probe(key), value).outcome, cubby::outcome::inserted);
  }
  void change(cubby::detail::thread_record& who, std::uint64_t key, cubby::detail::decision wanted) {
    const auto f = [&](std::uint64_t) { return wanted; };
    ASSERT_TRUE(relative::mutate(table, who, chain_probe(key), f).found);
  }
  [[nodiscard]] relative::seen_slot seen_from(const relative::node& n, std::uint64_t key) const {
    return relative::search(table.policy, relative::link_to(n), chain_probe(key));
  }
  [[nodiscard]] relative::node* node_of(std::uint64_t key) const {
    return relative::search(table.policy, relative::first_link(table, key), chain_probe(key)).where;
  }
};
using plain_chains = chains_of<chain_policy>;
struct filled_chains : plain_chains {
  filled_chains() {
    for (std::size_t i = 0; i < size; ++i) insert(i, i);
  }
};
/// The same for tests of one meeting a table.
struct single_chains : filled_chains {
  static constexpr std::size_t size = 1;
};

/// Even cells reach the node from the head of its bucket, odd ones from another node.
TEST(litmus, a_linked_node_carries_its_maker) {
  struct half_filled : plain_chains {
    half_filled() {
      for (std::size_t i = 1; i < size; i += 2) insert(i, i);
    }
  };
  meet<half_filled>(
      100,
      [](half_filled& c, std::size_t i) {
        c.passenger[i] = i + 1;
        c.insert(chain_buckets + i, i + 50);
      },
      [](half_filled& c, std::size_t i) {
        spin_until([&] {
          const auto got = relative::find(c.table, chain_probe(chain_buckets + i));
          if (got.found) {
            EXPECT_EQ(got.word, i + 50);
          }
          return got.found;
        });
        ASSERT_EQ(c.passenger[i], i + 1);
      });
}

TEST(litmus, a_stored_value_carries_its_writer) {
  cubby::detail::thread_record* const mine = cubby::detail::registry::claim();
  ASSERT_NE(mine, nullptr);
  meet<filled_chains>(
      100,
      [&](filled_chains& c, std::size_t i) {
        c.passenger[i] = i + 1;
        c.change(*mine, i, {cubby::action::replace, i + 50});
      },
      [](filled_chains& c, std::size_t i) {
        spin_until([&] { return relative::find(c.table, chain_probe(i)).word == i + 50; });
        ASSERT_EQ(c.passenger[i], i + 1);
      });
  cubby::detail::registry::release(mine);
}

/// The reader stands on nodes that are removed and not retired, so no link that leads there tells it anything.
struct removed_nodes : filled_chains {
  relative::node* at[size] = {};
  removed_nodes() {
    for (std::size_t i = 0; i < size; ++i) at[i] = node_of(i);
  }
  ~removed_nodes() {
    for (relative::node* const n : at) relative::free_node(n);
  }
};

TEST(litmus, a_dead_node_carries_its_removal) {
  meet<removed_nodes>(
      100,
      [](removed_nodes& c, std::size_t i) {
        c.passenger[i] = i + 1;
        relative::remove_node(c.table, i, *c.at[i]);
      },
      [](removed_nodes& c, std::size_t i) {
        spin_until([&] { return c.seen_from(*c.at[i], i).where == nullptr; });
        ASSERT_EQ(c.passenger[i], i + 1);
      });
}

/// The passenger comes behind the mark, so the mark does not carry it.
TEST(litmus, an_erased_value_comes_behind_the_mark) {
  meet<removed_nodes>(
      100,
      [](removed_nodes& c, std::size_t i) {
        relative::remove_node(c.table, i, *c.at[i]);
        c.passenger[i] = i + 1;
        relative::node_policy::retire_link(relative::link_to(*c.at[i])) = i + 50; // stands for the chain of the retired
      },
      [](removed_nodes& c, std::size_t i) {
        spin_until([&] { return c.at[i]->value.load(sync::relaxed) == i + 50; });
        ASSERT_EQ(c.seen_from(*c.at[i], i).where, nullptr);
        ASSERT_EQ(c.passenger[i], i + 1);
      });
}

/// The reader stands on the node that is replaced. The passenger is in the record.
TEST(litmus, a_replaced_node_carries_the_record_that_comes_after_it) {
  struct replaced : chains_of<noted_policy> {
    noted before[size];
    noted after[size];
    relative::node* at[size] = {};
    replaced() {
      for (std::size_t i = 0; i < size; ++i) insert(i, before[i].word());
      for (std::size_t i = 0; i < size; ++i) at[i] = node_of(i);
    }
  };
  cubby::detail::thread_record* const mine = cubby::detail::registry::claim();
  ASSERT_NE(mine, nullptr);
  meet<replaced>(
      100,
      [&](replaced& c, std::size_t i) {
        c.after[i].number = i + 1;
        c.change(*mine, i, {cubby::action::replace, c.after[i].word()});
      },
      [](replaced& c, std::size_t i) {
        relative::seen_slot hit;
        spin_until([&] { return (hit = c.seen_from(*c.at[i], i)).value != c.before[i].word(); });
        ASSERT_EQ(noted_policy::at(hit.value).number, i + 1);
      });
  cubby::detail::registry::release(mine);
}

/// The reader's key is there already and in another bucket, so neither a link nor the lock tells it anything.
TEST(litmus, a_count_of_inserts_carries_what_was_linked) {
  meet<filled_chains>(
      100,
      [](filled_chains& c, std::size_t i) {
        c.passenger[i] = i + 1;
        c.insert(relative::stripe_count + i, i);
      },
      [](filled_chains& c, std::size_t i) {
        spin_until([&] { return c.table.stripes[i].inserts.load(sync::relaxed) == 2; });
        ASSERT_EQ(relative::insert(c.table, chain_probe(i), 0).outcome, cubby::outcome::exists);
        ASSERT_EQ(c.passenger[i], i + 1);
      });
}

TEST(litmus, a_moved_chain_carries_its_mover) {
  struct growing : filled_chains {
    growing() { (void)relative::begin_resize(table, 2 * chain_buckets); }
  };
  meet<growing>(
      100,
      [](growing& c, std::size_t i) {
        c.passenger[i] = i + 1;
        (void)relative::work_on(c.table, 1); // family i
      },
      [](growing& c, std::size_t i) {
        spin_until([&] { return c.first->heads[i].load(sync::relaxed) == relative::head_mark::moved; });
        (void)relative::first_link(c.table, i);
        ASSERT_EQ(c.passenger[i], i + 1);
        ASSERT_EQ(relative::find(c.table, chain_probe(i)).word, i);
      });
}

/// The acquire end is the test's: in the engine a thread that goes there has seen a chain moved, or holds the lock under which it was.
TEST(litmus, a_hung_array_is_whole) {
  meet<single_chains>(
      500,
      [](single_chains& c, std::size_t) {
        c.passenger[0] = 1;
        ASSERT_TRUE(relative::begin_resize(c.table, 2 * chain_buckets));
      },
      [](single_chains& c, std::size_t) {
        const relative::bucket_array* next = nullptr;
        spin_until([&] { return (next = c.first->next.load(sync::acquire)) != nullptr; });
        ASSERT_EQ(next->mask, 2 * chain_buckets - 1);
        ASSERT_EQ(c.passenger[0], 1u);
      });
}

TEST(litmus, a_shown_root_carries_all_that_moved) {
  meet<single_chains>(
      300,
      [](single_chains& c, std::size_t) {
        c.passenger[0] = 1;
        ASSERT_TRUE(relative::begin_resize(c.table, 2 * chain_buckets));
        while (!c.table.work.waiting) (void)relative::work_on(c.table, chain_buckets);
      },
      [](single_chains& c, std::size_t) {
        spin_until([&] { return c.table.root.load(sync::relaxed) != c.first; });
        ASSERT_EQ(relative::find(c.table, chain_probe(7)).word, 7u);
        ASSERT_EQ(c.passenger[0], 1u);
      });
}

} // namespace
} // namespace cubby_test
