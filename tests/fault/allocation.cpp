// SPDX-License-Identifier: Apache-2.0
// Every allocation of every verb fails once: the verb answers so (or succeeds without), the table keeps all it had and
// works on, nothing leaks. Then memory that stays away: the old table serves on until there is some again.
#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "engines.hpp"
#include "support/failing_memory.hpp"
#include "support/hooks.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

constexpr std::uint64_t entries = 40;

template <class Mode>
class allocation : public ::testing::Test {
protected:
  using map = typename Mode::map;

  static std::unique_ptr<map> filled(const table_options& o) {
    auto m = std::make_unique<map>(o);
    for (std::uint64_t n = 0; n < entries; ++n) EXPECT_TRUE(m->insert(Mode::key(n), Mode::value(n)));
    return m;
  }
  static void expect_intact(map& m) {
    for (std::uint64_t n = 1; n < entries; ++n) { // key 0 is what the verbs change
      const auto got = m.find(Mode::key(n));
      ASSERT_TRUE(got.has_value()) << "lost " << n;
      ASSERT_EQ(Mode::number(*got), n);
    }
    std::vector<unsigned> seen(entries, 0);
    const bool exact = is_scan_exact(m);
    m.visit_all([&](const auto& k, const auto&) {
      if (Mode::number_of_key(k) < entries) ++seen[Mode::number_of_key(k)];
    });
    for (std::uint64_t n = 1; n < entries; ++n) {
      ASSERT_TRUE(seen[n] == 1 || (!exact && seen[n] > 1)) << "doubled or lost " << n;
    }
  }

  /// `verb` may throw std::bad_alloc, and nothing else. Runs it with the first, second, ... allocation refused until
  /// none is; each time in a fresh table, which afterwards must be able to do it all. A short run takes the first few, which are
  /// all that most verbs make, and of the others every sixth.
  void each_allocation_fails(const std::function<void(map&)>& verb, table_options o = tiny_options()) {
    const std::uint64_t first = 5 + random_source(3300).below(sparse_stride(6));
    for (std::uint64_t number = 1; number < 3000;
         number = number == 4 ? first : number + (number < 4 ? 1 : sparse_stride(6))) {
      auto m = filled(o);
      bool struck = false;
      {
        memory_failure failure(number);
        try {
          verb(*m);
        } catch (const std::bad_alloc&) {
        }
        struck = failure.struck();
      }
      expect_intact(*m);
      verb(*m);
      expect_intact(*m);
      if (::testing::Test::HasFatalFailure()) {
        ADD_FAILURE() << "with allocation " << number << " refused";
        return;
      }
      if (!struck) return;
    }
    ADD_FAILURE() << "allocations do not end";
  }
};
template <class Line>
using allocation_modes_of =
    join<types_if<Line::records && Line::shared, mode_of<Line, word_mode>, mode_of<Line, text_mode>>,
         types_if<Line::wide_slots, mode_of<Line, slot_text_mode>>, types_if<Line::tuples, mode_of<Line, tuple_mode>>>;
using allocation_modes =
    join<join_over<allocation_modes_of, listed_engines>, ::testing::Types<named_text_mode<cubby::dlht>>>;
TYPED_TEST_SUITE(allocation, allocation_modes);

TYPED_TEST(allocation, of_construction) {
  const auto warm = this->filled(tiny_options());
  const auto before = living_blocks();
  for (std::uint64_t number = 1; number < 100; ++number) {
    memory_failure failure(number);
    try {
      const typename TypeParam::map m(tiny_options());
      if (!failure.struck()) return;
    } catch (const std::bad_alloc&) {
    }
    ASSERT_TRUE(failure.struck());
    ASSERT_EQ(living_blocks(), before);
  }
  FAIL() << "construction never succeeds";
}

TYPED_TEST(allocation, of_inserts_that_grow) {
  for (const auto growth : growing_policies) {
    this->each_allocation_fails(
        [](auto& m) {
          for (std::uint64_t n = entries; n < 3 * entries; ++n) m.insert(TypeParam::key(n), TypeParam::value(n));
        },
        tiny_options(growth));
  }
}

TYPED_TEST(allocation, of_try_insert_which_says_so) {
  this->each_allocation_fails([](auto& m) {
    for (std::uint64_t n = entries; n < 3 * entries; ++n) {
      const auto how = m.try_insert(TypeParam::key(n), TypeParam::value(n));
      if (how == cubby::outcome::inserted) {
        ASSERT_TRUE(m.contains(TypeParam::key(n)));
      } else if (how == cubby::outcome::no_memory) {
        ASSERT_FALSE(m.contains(TypeParam::key(n)));
      } else {
        ASSERT_EQ(how, cubby::outcome::exists);
      }
    }
  });
}

TYPED_TEST(allocation, of_changes) {
  const auto k = TypeParam::key(0);
  const auto v = TypeParam::value(77);
  const auto same = [&](const auto&) { return v; };
  using mapped = typename TypeParam::mapped_type;
  this->each_allocation_fails([&](auto& m) { m.assign(k, v); });
  this->each_allocation_fails([&](auto& m) { m.insert_or_assign(k, v); });
  this->each_allocation_fails([&](auto& m) { m.update(k, same); });
  this->each_allocation_fails([&](auto& m) { m.insert_or_update(k, same, v); });
  this->each_allocation_fails(
      [&](auto& m) { m.compute(k, [&](const mapped*) -> cubby::computed<mapped> { return v; }); });
  this->each_allocation_fails([&](auto& m) { m.erase(k); });
  this->each_allocation_fails([&](auto& m) { (void)m.extract(k); });
}

TYPED_TEST(allocation, of_reservations) {
  if constexpr (!claims<TypeParam>(&cubby::capability_set::shadow_insert)) {
    GTEST_SKIP() << "this engine claims no shadow inserts";
  } else {
    const auto k = TypeParam::key(0);
    const auto v = TypeParam::value(77);
    this->each_allocation_fails([&](auto& m) {
      m.erase(k);
      auto r = m.shadow_insert(k, v);
      if (r) r.commit();
    });
  }
}

TYPED_TEST(allocation, of_whole_table_verbs) {
  this->each_allocation_fails([](auto& m) { m.reserve(500); });
  this->each_allocation_fails([](auto& m) { m.shrink_to_fit(); });
  this->each_allocation_fails([](auto& m) {
    m.reserve(500);
    m.shrink_to_fit();
  });
}

TYPED_TEST(allocation, of_snapshots) {
  if constexpr (!claims<TypeParam>(&cubby::capability_set::snapshot)) {
    GTEST_SKIP() << "this engine claims no snapshot";
  } else {
    this->each_allocation_fails([](auto& m) {
      const auto all = m.snapshot();
      ASSERT_GE(all.size(), entries - 1);
    });
  }
}

TYPED_TEST(allocation, of_handles) {
  this->each_allocation_fails([](auto& m) {
    auto first = m.handle();
    auto second = m.handle();
    first.insert_or_assign(TypeParam::key(0), TypeParam::value(5));
    second.erase(TypeParam::key(0));
  });
}

/// No entry needs memory to move. What a move leaves may lack some; then it says so, and may be assigned to.
TYPED_TEST(allocation, of_what_a_move_leaves) {
  for (const auto growth :
       {cubby::growth_policy::incremental, cubby::growth_policy::background, cubby::growth_policy::fixed}) {
    table_options chosen = tiny_options(growth);
    chosen.capacity = 2 * entries;
    for (std::uint64_t number = 1; number < 3000; ++number) {
      auto from = this->filled(chosen);
      std::optional<memory_failure> failure(number);
      typename TypeParam::map to(std::move(*from));
      const bool struck = failure->struck();
      failure.reset();
      this->expect_intact(to);
      ASSERT_TRUE(from->ok() || struck);
      if (from->ok()) {
        EXPECT_TRUE(from->empty() && from->insert(TypeParam::key(1), TypeParam::value(1)));
      } else {
        const typename TypeParam::map closed(std::move(*from));
        EXPECT_FALSE(closed.ok() || from->ok());
      }
      swap(*from, to);
      this->expect_intact(*from);
      ASSERT_TRUE(from->insert(TypeParam::key(entries), TypeParam::value(entries)));
      if (!struck) break;
    }
  }
}

TYPED_TEST(allocation, leaks_nothing) {
  const auto churn = [](std::uint64_t number) {
    auto m = std::make_unique<typename TypeParam::map>(tiny_options());
    memory_failure failure(number);
    for (std::uint64_t n = 0; n < 200; ++n) {
      try {
        m->insert_or_assign(TypeParam::key(n % 60), TypeParam::value(n));
        m->update(TypeParam::key(n % 50), [&](const auto&) { return TypeParam::value(n + 1); });
        if (n % 20 == 19) m->shrink_to_fit();
      } catch (const std::bad_alloc&) {
      }
    }
  };
  churn(0);
  const auto before = living_blocks();
  for (std::uint64_t number = 1; number < 150; ++number) churn(number);
  EXPECT_EQ(living_blocks(), before);
}

template <class Mode>
class hunger : public ::testing::Test {
public:
  /// The chains of these take each entry, also without memory for more buckets.
  static constexpr bool chains_have_no_bound = std::is_same_v<typename Mode::engine, cubby::reference> ||
                                               std::is_same_v<typename Mode::engine, cubby::relativistic>;
  static constexpr std::uint64_t most = chains_have_no_bound ? 1000 : 100000;
};
TYPED_TEST_SUITE(hunger, allocation_modes);

/// No memory for an index from some point on: what is there stays, is found, changed where that needs none, and erased.
TYPED_TEST(hunger, leaves_the_old_table_working) {
  for (const auto growth : growing_policies) {
    typename TypeParam::map m(tiny_options(growth));
    std::uint64_t in = 0;
    for (; in < 100; ++in) ASSERT_TRUE(m.insert(TypeParam::key(in), TypeParam::value(in)));
    // A move that the table's thread ends in between would make space for an insert that was refused before.
    if (growth == cubby::growth_policy::background) {
      ASSERT_TRUE(m.reserve(0));
    }
    {
      set_index_memory(index_memory::none);
      while (in < this->most && m.try_insert(TypeParam::key(in), TypeParam::value(in)) == cubby::outcome::inserted)
        ++in;
      ASSERT_EQ(in == this->most, this->chains_have_no_bound);
      if (!this->chains_have_no_bound) {
        EXPECT_EQ(m.try_insert(TypeParam::key(in), TypeParam::value(in)), cubby::outcome::no_memory);
        EXPECT_THROW(m.insert(TypeParam::key(in), TypeParam::value(in)), std::bad_alloc);
      }
      for (std::uint64_t n = 0; n < in; ++n) ASSERT_TRUE(m.contains(TypeParam::key(n))) << n;
      for (std::uint64_t n = 0; n < in; n += 2) ASSERT_TRUE(m.erase(TypeParam::key(n)));
      set_index_memory(index_memory::plenty);
    }
    EXPECT_EQ(m.size(), in / 2);
    for (std::uint64_t n = 0; n < 2 * in; n += 2) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n))) << n;
    for (std::uint64_t n = 0; n < in; ++n) ASSERT_EQ(TypeParam::number(*m.find(TypeParam::key(n))), n);
  }
}

template <class Mode>
class hunger_shared : public ::testing::Test {};
TYPED_TEST_SUITE(hunger_shared, shared_modes);

/// Index memory that comes and goes while threads grow the table: a thread that is told `no_memory` tries again.
TYPED_TEST(hunger_shared, that_comes_and_goes_loses_nothing) {
  for (const auto growth : growing_policies) {
    typename TypeParam::map m(tiny_options(growth));
    const std::uint64_t each = scaled(400);
    set_index_memory(index_memory::scarce);
    run_threads(3, [&](unsigned t) {
      perturber pauses(300 + t, 30);
      for (std::uint64_t n = 0; n < each; ++n) {
        const auto k = TypeParam::key(n * 3 + t);
        auto how = cubby::outcome::no_memory;
        while (how == cubby::outcome::no_memory) how = m.try_insert(k, TypeParam::value(n * 3 + t));
        ASSERT_EQ(how, cubby::outcome::inserted);
        if (n % 3 == 0) {
          ASSERT_TRUE(m.erase(k));
        }
        if (n % 100 == 99) m.shrink_to_fit();
      }
    });
    set_index_memory(index_memory::plenty);
    for (std::uint64_t n = 0; n < each * 3; ++n) {
      ASSERT_EQ(m.contains(TypeParam::key(n)), n / 3 % 3 != 0) << n;
    }
  }
}

} // namespace
} // namespace cubby_test
