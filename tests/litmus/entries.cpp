// SPDX-License-Identifier: Apache-2.0
// Guarantee A.1 as litmus tests over each engine of the list that threads may share: what a thread did before a change is seen by one that
// has seen the change. The pairs inside an engine have tests of their own: arrays, bins, chains, tuples.
#include <gtest/gtest.h>

#include "engines.hpp"
#include "litmus/two_threads.hpp"

namespace cubby_test {
namespace {

/// A key and a passenger for each meeting. `Filled`: the keys are there, with the value 0.
template <class Engine, bool Filled>
struct entries_cell {
  static constexpr std::size_t size = 64;
  cubby::map<std::uint64_t, std::uint64_t, Engine> map{cubby::options{.capacity = size}};
  std::uint64_t passenger[size] = {};
  entries_cell() {
    for (std::uint64_t i = 0; Filled && i < size; ++i) map.insert(i, 0);
  }
};

template <class Engine>
class litmus_of_entries : public ::testing::Test {
public:
  static constexpr unsigned rounds = 200;
  /// One thread changes the entry; the other looks until `is_seen`, and reads what the first one did before.
  template <bool Filled, class Change, class Seen>
  static void expect_carried(Change change, Seen is_seen) {
    using cell = entries_cell<Engine, Filled>;
    meet<cell>(
        rounds,
        [&](cell& c, std::size_t i) {
          c.passenger[i] = i + 1;
          change(c.map, i);
        },
        [&](cell& c, std::size_t i) {
          spin_until([&] { return is_seen(c.map, i); });
          ASSERT_EQ(c.passenger[i], i + 1);
        });
  }
};
TYPED_TEST_SUITE(litmus_of_entries, shared_plain_engines);

TYPED_TEST(litmus_of_entries, a_found_entry_carries_what_came_before_its_insert) {
  this->template expect_carried<false>([](auto& m, std::uint64_t k) { m.insert(k, k); },
                                       [](auto& m, std::uint64_t k) { return m.contains(k); });
}
TYPED_TEST(litmus_of_entries, a_found_value_carries_what_came_before_its_assign) {
  this->template expect_carried<true>([](auto& m, std::uint64_t k) { m.assign(k, 1); },
                                      [](auto& m, std::uint64_t k) { return m.find(k) == 1U; });
}
TYPED_TEST(litmus_of_entries, an_absent_key_carries_what_came_before_its_erase) {
  this->template expect_carried<true>([](auto& m, std::uint64_t k) { m.erase(k); },
                                      [](auto& m, std::uint64_t k) { return !m.contains(k); });
}

} // namespace
} // namespace cubby_test
