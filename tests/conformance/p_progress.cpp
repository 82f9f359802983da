// SPDX-License-Identifier: Apache-2.0
// Guarantee P, as far as a table without hooks shows it. A thread that stops inside a callback, with a pin, a reservation or a
// handle, stops no other thread. That holds on the same key and on others, through growth and shrink.
#include <atomic>
#include <thread>

#include "engines.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

template <class Mode>
class p_progress : public ::testing::Test {
protected:
  /// Everything that another thread may want, while a thread stands still.
  void others_go_on(typename Mode::map& m) {
    for (std::uint64_t n = 100; n < 1100; ++n) ASSERT_TRUE(m.insert(Mode::key(n), Mode::value(n)));
    for (std::uint64_t n = 100; n < 1100; ++n) ASSERT_TRUE(m.contains(Mode::key(n)));
    ASSERT_FALSE(m.insert_or_assign(Mode::key(1), Mode::value(2)));
    for (std::uint64_t n = 100; n < 1100; ++n) ASSERT_TRUE(m.erase(Mode::key(n)));
    m.shrink_to_fit();
    ASSERT_TRUE(m.erase(Mode::key(1)));
    ASSERT_TRUE(m.insert(Mode::key(1), Mode::value(1)));
    if constexpr (claims<Mode>(&cubby::capability_set::snapshot)) {
      ASSERT_EQ(m.snapshot().size(), 1u);
    }
  }

  /// `stand(inside)` runs in a thread and calls inside() where it stands still until the others are done.
  template <class Stand>
  void while_one_stands(typename Mode::map& m, Stand stand) {
    std::atomic<bool> inside{false}, done{false};
    std::thread still([&] {
      stand([&] {
        inside.store(true);
        while (!done.load()) std::this_thread::yield();
      });
    });
    EXPECT_TRUE(eventually([&] { return inside.load(); }));
    std::atomic<bool> finished{false};
    std::thread worker([&] {
      others_go_on(m);
      finished.store(true);
    });
    EXPECT_TRUE(eventually([&] { return finished.load(); })) << "others wait for one that stands still";
    done.store(true);
    worker.join();
    still.join();
  }
};
TYPED_TEST_SUITE(p_progress, shared_modes);

TYPED_TEST(p_progress, a_visitor_that_stands_still_stops_nobody) {
  typename TypeParam::map m(tiny_options());
  ASSERT_TRUE(m.insert(TypeParam::key(1), TypeParam::value(1)));
  this->while_one_stands(m, [&](auto inside) { m.visit(TypeParam::key(1), [&](const auto&) { inside(); }); });
}

TYPED_TEST(p_progress, a_scanner_that_stands_still_stops_nobody) {
  typename TypeParam::map m(tiny_options());
  ASSERT_TRUE(m.insert(TypeParam::key(1), TypeParam::value(1)));
  this->while_one_stands(m, [&](auto inside) {
    bool first = true;
    m.visit_all([&](const auto&, const auto&) {
      if (first) inside();
      first = false;
    });
  });
}

TYPED_TEST(p_progress, an_update_that_stands_still_stops_nobody_and_then_sees_what_happened) {
  typename TypeParam::map m(tiny_options());
  ASSERT_TRUE(m.insert(TypeParam::key(1), TypeParam::value(1)));
  unsigned runs = 0;
  this->while_one_stands(m, [&](auto inside) {
    EXPECT_TRUE(m.update(TypeParam::key(1), [&](const auto& v) {
      if (runs++ == 0) inside();
      return TypeParam::value(TypeParam::number(v) + 10);
    }));
  });
  EXPECT_GE(runs, 1u);
  EXPECT_EQ(TypeParam::number(*m.find(TypeParam::key(1))), 11u);
}

TYPED_TEST(p_progress, a_reservation_that_lingers_stops_nobody_else) {
  if constexpr (!claims<TypeParam>(&cubby::capability_set::shadow_insert)) {
    GTEST_SKIP() << "this engine claims no shadow inserts";
  } else {
    typename TypeParam::map m(tiny_options());
    ASSERT_TRUE(m.insert(TypeParam::key(1), TypeParam::value(1)));
    this->while_one_stands(m, [&](auto inside) {
      auto r = m.shadow_insert(TypeParam::key(50), TypeParam::value(5));
      ASSERT_TRUE(r);
      inside();
      r.commit();
    });
    EXPECT_EQ(TypeParam::number(*m.find(TypeParam::key(50))), 5u);
  }
}

TYPED_TEST(p_progress, a_pinned_reference_that_lingers_stops_nobody) {
  using map = cubby::map<std::uint64_t, wide_value, typename TypeParam::engine>;
  if constexpr (map::mode != cubby::storage_mode::records) {
    GTEST_SKIP() << "this engine keeps no records, so there are no references";
  } else {
    map m(tiny_options());
    ASSERT_TRUE(m.insert(1, wide_value{1, 2, 3}));
    auto h = m.handle();
    const wide_value* const v = h.find_ref(1);
    std::thread other([&] {
      for (std::uint64_t k = 2; k < 3000; ++k) ASSERT_TRUE(m.insert(k, wide_value{}));
      for (std::uint64_t k = 1; k < 3000; ++k) ASSERT_TRUE(m.erase(k));
      m.shrink_to_fit();
      m.clear_and_release();
    });
    other.join();
    EXPECT_EQ(v->number, 1u);
  }
}

} // namespace
} // namespace cubby_test
